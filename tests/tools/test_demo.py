"""The demo's bookkeeping, with stand-ins for training and testing."""

import json
import shutil
from pathlib import Path

import pytest

STEPS = ['train', 'test', 'report']
SCORES = {
    'overall': {'AP': 40.04, 'AP50': 70.0, 'APs': None},
    'classes': {'Mask': {'AP': 9.96}},
}


@pytest.fixture
def demo_module(tool):
    return tool('demo')


@pytest.fixture
def demo(demo_module, drawn_dataset, tmp_path, monkeypatch):
    """A demo whose drawing copies and whose tools only leave their files."""
    demo = demo_module.Demo(tmp_path / 'demo')
    monkeypatch.setattr(
        demo_module, 'DRAWN', {'num_train': 6, 'num_test': 4, 'seed': 0}
    )
    monkeypatch.setattr(
        demo_module,
        'write_drawn_dataset',
        lambda root, **_: shutil.copytree(drawn_dataset.root, root),
    )
    calls = []

    def call(name, *arguments):
        calls.append(name)
        if name == 'report':
            demo.report.write_text('<html>')
            return
        folder = Path(arguments[arguments.index('--work-dir') + 1])
        if name == 'train':
            (folder / 'epoch_3.pth').write_text('weights')
            # MMEngine writes the path it was given.
            last = folder / 'last_checkpoint'
            last.write_text(str(folder / 'epoch_3.pth'))
            return
        pictures = Path(arguments[arguments.index('--show-dir') + 1])
        pictures.mkdir(exist_ok=True)
        for image in json.loads(demo.test_json.read_text())['images']:
            (pictures / image['file_name']).write_text('picture')
        demo.results.write_text('[]')
        demo.scores.write_text(json.dumps(SCORES))

    demo.call = call
    demo.calls = calls
    return demo


def test_second_run_calls_no_tool(demo, capsys):
    demo.run()
    assert demo.calls == STEPS
    assert len(list(demo.pictures.iterdir())) == 4
    capsys.readouterr()
    demo.run()
    assert demo.calls == STEPS
    assert capsys.readouterr().out.count('stands already') == 4


def test_lost_picture_is_drawn_again_without_training(demo):
    demo.run()
    (demo.pictures / '1002.png').unlink()
    demo.run()
    assert demo.calls == [*STEPS, 'test']
    assert (demo.pictures / '1002.png').is_file()


def test_interrupted_training_keeps_its_checkpoints(demo):
    complete = demo.call

    def interrupted(*arguments):
        (demo.training / 'epoch_1.pth').write_text('a third')
        raise SystemExit('killed')

    demo.call = interrupted
    with pytest.raises(SystemExit):
        demo.run()
    demo.call = complete
    demo.run()
    assert (demo.training / 'epoch_1.pth').is_file()
    assert demo.checkpoint.read_text() == 'weights'


def test_checkpoints_of_other_data_are_not_resumed(demo):
    demo.run()
    (demo.training / 'epoch_1.pth').write_text('of other data')
    demo.train_json.write_text(demo.train_json.read_text() + ' ')
    demo.train_step().run(demo.root / 'steps')
    assert not (demo.training / 'epoch_1.pth').exists()


def test_progress_is_one_short_line(demo_module):
    line = (
        '11/29 21:43:27 - mmengine - INFO - Epoch(train)  [1][ 5/20]  '
        'base_lr: 7.5e-04 lr: 7.5e-04  eta: 0:17:33  time: 3.51  '
        'data_time: 0.28  grad_norm: 4.5  loss: 2.3654  loss_cls: 0.8430'
    )
    expected = '  epoch 1, loss 2.37, 0:17:33 to go'
    assert demo_module.short_progress(line) == expected
    assert demo_module.short_progress('Epoch(test) [1/29] eta: 0:01') is None


def test_score_table_rounds_and_shows_the_undefined(demo_module):
    lines = demo_module.score_table(SCORES).splitlines()
    assert lines[0].split() == ['AP', 'AP50', 'AP75', 'APs', 'APm', 'APl']
    overall = ['all', 'classes', '40.0', '70.0', '-', '-', '-', '-']
    assert lines[2].split() == overall
    assert lines[3].split()[:2] == ['Mask', '10.0']


def test_config_needs_no_download(repo_root):
    from mmengine.config import Config

    config = Config.fromfile(
        repo_root / 'configs' / 'cppe5' / 'demo_fcos.py',
        import_custom_modules=False,
    )
    text = str(config.model.to_dict())
    assert not any(word in text for word in ('http', '://', 'init_cfg'))
    assert config.load_from is None
    assert config.model.bbox_head.num_classes == 5
    for loader in (config.train_dataloader, config.test_dataloader):
        assert loader.dataset.type == 'CPPE5Dataset'
    assert config.test_evaluator.type == 'CPPE5Metric'
