"""Steps that stand are skipped; everything else is done again."""

import pytest
from demo_steps import Step


@pytest.fixture
def job(tmp_path):
    """A step that writes a file, and how often it did."""
    calls = []
    result = tmp_path / 'result.txt'

    def make(inputs, text='done'):
        def work():
            calls.append(text)
            result.write_text(text)

        return Step('job', inputs, [result], work)

    return make, calls, result, tmp_path / 'steps'


def test_second_run_does_nothing(job):
    make, calls, _, folder = job
    assert make({'seed': 0}).run(folder)
    assert not make({'seed': 0}).run(folder)
    assert calls == ['done']


def test_changed_input_does_it_again(job):
    make, calls, _, folder = job
    make({'seed': 0}).run(folder)
    assert make({'seed': 1}).run(folder)
    assert len(calls) == 2


@pytest.mark.parametrize('damage', ['missing', 'altered'])
def test_damaged_result_is_made_again(job, damage):
    make, _, result, folder = job
    make({}).run(folder)
    result.unlink() if damage == 'missing' else result.write_text('do')
    assert make({}).run(folder)
    assert result.read_text() == 'done'


def test_cut_marker_counts_as_none(job):
    make, calls, _, folder = job
    make({}).run(folder)
    marker = folder / 'job.json'
    marker.write_text(marker.read_text()[:-9])
    assert make({}).run(folder)
    assert len(calls) == 2


def test_interrupted_step_is_not_done(job):
    make, _, _, folder = job
    step = make({})

    def interrupted():
        raise KeyboardInterrupt

    make({}).run(folder)
    broken = Step('job', {'new': 1}, step.outputs, interrupted)
    with pytest.raises(KeyboardInterrupt):
        broken.run(folder)
    # Neither the old nor the new version of it stands now.
    assert not broken.stands(folder)
    assert not step.stands(folder)


def test_step_without_its_result_is_an_error(tmp_path):
    step = Step('job', {}, [tmp_path / 'never'], lambda: None)
    with pytest.raises(FileNotFoundError, match="'job' to leave .*never"):
        step.run(tmp_path)
    assert not step.stands(tmp_path)
