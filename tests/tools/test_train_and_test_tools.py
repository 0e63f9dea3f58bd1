"""tools/train.py and tools/test.py, from end to end on a tiny detector."""

import os
import subprocess
import sys

import pytest
import torch
from builders import logged_scores
from mmdet.apis import DetInferencer, inference_detector, init_detector
from tiny_detector import write_workplace

from mmdet_cppe5.classes import CLASSES
from mmdet_cppe5.engine.checkpoint import load_checkpoint_file
from mmdet_cppe5.engine.mmdet_tools import run_mmdet_tool


@pytest.fixture(scope='module')
def workplace(tmp_path_factory, repo_root):
    """A tiny data set and a config, used from a folder of their own."""
    folder = tmp_path_factory.mktemp('tools')
    write_workplace(folder, repo_root)
    before = os.getcwd(), os.environ.get('CPPE5_DATA_ROOT')
    os.chdir(folder)
    os.environ['CPPE5_DATA_ROOT'] = str(folder / 'data')
    yield folder
    os.chdir(before[0])
    del os.environ['CPPE5_DATA_ROOT']
    if before[1] is not None:
        os.environ['CPPE5_DATA_ROOT'] = before[1]


@pytest.fixture(scope='module')
def trained(workplace):
    """The checkpoint of one epoch."""
    run_mmdet_tool('train.py', ['tiny.py', '--work-dir', 'run'])
    return workplace / 'run' / 'epoch_1.pth'


def test_training_leaves_a_checkpoint_that_loads(trained):
    saved = load_checkpoint_file(trained)
    assert saved['meta']['dataset_meta']['classes'] == CLASSES
    assert saved['meta']['iter'] == 2
    assert list(trained.parent.glob('best_cppe5_AP_epoch_1.pth'))


def test_resume_goes_on_where_training_stopped(trained):
    run_mmdet_tool(
        'train.py',
        ['tiny.py', '--work-dir', 'run', '--resume',
         '--cfg-options', 'train_cfg.max_epochs=2'],
    )  # fmt: skip
    saved = load_checkpoint_file(trained.parent / 'epoch_2.pth')
    assert saved['meta']['iter'] == 4


def test_testing_scores_dumps_and_draws(trained, workplace):
    run_mmdet_tool(
        'test.py',
        ['tiny.py', str(trained), '--work-dir', 'tested', '--out', 'out.pkl',
         '--show-dir', 'drawn', '--cfg-options', 'randomness.seed=0'],
    )  # fmt: skip
    found = logged_scores(workplace / 'tested')
    assert {'cppe5/AP', 'cppe5/AP50', 'cppe5/AR100'} <= set(found)
    assert (workplace / 'out.pkl').stat().st_size > 0
    assert len(list((workplace / 'tested').glob('*/drawn/*.png'))) == 4


def test_test_time_augmentation_runs(trained, workplace):
    run_mmdet_tool(
        'test.py', ['tiny.py', str(trained), '--work-dir', 'tta', '--tta']
    )
    assert 'cppe5/AP' in logged_scores(workplace / 'tta')


def test_commands_work_as_written_from_another_folder(
    trained, workplace, tmp_path, repo_root
):
    done = subprocess.run(
        [sys.executable, repo_root / 'tools' / 'test.py',
         workplace / 'tiny.py', trained, '--work-dir', tmp_path / 'work'],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert 'Coverall' in done.stdout  # the table of scores
    assert 'cppe5/AP' in logged_scores(tmp_path / 'work')


@pytest.mark.parametrize('name', ['train.py', 'test.py'])
def test_help_is_that_of_mmdetection(name, capsys):
    with pytest.raises(SystemExit):
        run_mmdet_tool(name, ['--help'])
    shown = capsys.readouterr().out
    assert f'usage: {name}' in shown
    for option in ('--work-dir', '--cfg-options', '--launcher'):
        assert option in shown


def test_missing_data_end_in_one_sentence(workplace, monkeypatch, tmp_path):
    monkeypatch.setenv('CPPE5_DATA_ROOT', str(tmp_path / 'nowhere'))
    with pytest.raises(SystemExit, match=r'train\.py: .*nowhere.*prepare_cpp'):
        run_mmdet_tool('train.py', ['tiny.py', '--work-dir', 'none'])


def test_missing_network_ends_in_one_sentence(workplace):
    weights = 'http://127.0.0.1:9/resnet.pth'  # nobody listens there
    start = 'model.backbone.init_cfg'
    with pytest.raises(SystemExit, match=f'resnet.pth, but: .*{start}=None'):
        run_mmdet_tool(
            'train.py',
            ['tiny.py', '--work-dir', 'none', '--cfg-options',
             f'{start}.type=Pretrained', f'{start}.checkpoint={weights}'],
        )  # fmt: skip


@pytest.mark.skipif(torch.cuda.is_available(), reason='needs a CPU only')
def test_mixed_precision_on_a_cpu_is_explained(workplace):
    with pytest.raises(SystemExit, match='--amp needs a GPU: on a CPU'):
        run_mmdet_tool('train.py', ['tiny.py', '--amp'])


def test_unknown_tool_is_named():
    with pytest.raises(FileNotFoundError, match=r'nothing\.py'):
        run_mmdet_tool('nothing.py', [])


def test_inference_apis_load_the_checkpoint(trained):
    expected = load_checkpoint_file(trained)['state_dict']
    picture = 'data/images/1.png'
    inferencer = DetInferencer(
        'tiny.py', str(trained), device='cpu', show_progress=False
    )
    first = inferencer(picture, no_save_vis=True)['predictions'][0]
    model = init_detector('tiny.py', str(trained), device='cpu')
    assert model.dataset_meta['classes'] == CLASSES
    for name, value in model.state_dict().items():
        assert torch.equal(value, expected[name]), name
    second = inference_detector(model, picture).pred_instances
    assert first['scores'] == second.scores.tolist()


def test_a_file_that_would_run_a_command_is_refused(workplace, tmp_path):
    class Attack:
        def __reduce__(self):
            return os.system, (f'touch {tmp_path}/marker',)

    torch.save({'state_dict': {}, 'meta': Attack()}, tmp_path / 'bad.pth')
    with pytest.raises(ValueError, match=r'bad\.pth, but it asks for .*syst'):
        run_mmdet_tool('test.py', ['tiny.py', str(tmp_path / 'bad.pth')])
    assert not (tmp_path / 'marker').exists()
