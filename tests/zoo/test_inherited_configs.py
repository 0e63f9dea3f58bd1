"""Configs of others that stand on one of the installed package."""

import pytest
from mmengine.config import Config

import mmdet_cppe5.plugin  # noqa: F401  (lets such configs be found)
from mmdet_cppe5.cli.main import main

FCOS = 'cppe5/fcos.py'


@pytest.fixture(scope='module')
def own(repo_root):
    return Config.fromfile(repo_root / 'configs' / FCOS)


@pytest.fixture
def mine(tmp_path):
    """A config in a folder far from this project's."""

    def write(base):
        path = tmp_path / 'mine.py'
        path.write_text(f'_base_ = {base!r}\ntrain_cfg = dict(max_epochs=7)\n')
        return path

    return write


@pytest.mark.parametrize('many', [False, True])
def test_a_config_stands_on_one_of_the_package(mine, own, many):
    base = f'mmdet_cppe5::{FCOS}'
    config = Config.fromfile(mine([base] if many else base))

    assert config.train_cfg.max_epochs == 7
    assert own.train_cfg.max_epochs == 24
    for part in ('model', 'train_dataloader', 'test_evaluator'):
        assert config[part] == own[part]


def test_a_config_that_is_not_there_is_named(mine):
    with pytest.raises(
        FileNotFoundError, match=r'cppe5/fcso\.py of .*mine\.py'
    ):
        Config.fromfile(mine('mmdet_cppe5::cppe5/fcso.py'))


def test_without_the_package_imported(mine, own, monkeypatch, capsys):
    """MMEngine fills in the variable; nothing of ours has a part in it."""
    assert main(['config-root']) == 0
    monkeypatch.setenv('CPPE5_CONFIGS', capsys.readouterr().out.strip())

    config = Config.fromfile(mine('{{$CPPE5_CONFIGS:}}/' + FCOS))

    assert config.model == own.model
