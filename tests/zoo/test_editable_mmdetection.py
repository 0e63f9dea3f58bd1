"""MMDetection as its developers install it: a clone, no ``.mim`` folder."""

import importlib.util

import pytest
from mmengine.config import Config

import mmdet_cppe5.plugin  # noqa: F401  (lets such configs be found)
from mmdet_cppe5.zoo import upstream


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """Put MMDetection where only Python's import system finds it."""
    package = tmp_path / 'clone' / 'mmdet' / '__init__.py'
    package.parent.mkdir(parents=True)
    package.touch()
    config = tmp_path / 'clone' / 'configs' / 'atss' / 'atss.py'
    config.parent.mkdir(parents=True)
    config.write_text('model = dict(type="ATSS", depth=50)\n')
    spec = importlib.util.spec_from_file_location('mmdet', package)
    found = importlib.util.find_spec
    monkeypatch.setattr(
        'importlib.util.find_spec',
        lambda name, *more: spec if name == 'mmdet' else found(name, *more),
    )
    # What MMEngine makes of an editable install: no folder at all.
    monkeypatch.setattr(
        'mmengine.config.config.get_installed_path',
        lambda package: str(tmp_path / 'site-packages' / package),
    )
    return tmp_path / 'clone'


def test_a_config_stands_on_one_of_the_clone(clone, tmp_path):
    mine = tmp_path / 'mine.py'
    mine.write_text("_base_ = ['mmdet::atss/atss.py']\nmodel = dict(depth=9)")

    model = Config.fromfile(mine).model
    assert (model.type, model.depth) == ('ATSS', 9)


def test_a_config_that_the_clone_lacks_is_named(clone, tmp_path):
    mine = tmp_path / 'mine.py'
    mine.write_text("_base_ = ['mmdet::atss/other.py']")

    with pytest.raises(FileNotFoundError, match=r'atss/other\.py'):
        Config.fromfile(mine)


def test_tools_and_files_of_the_clone_are_found(clone):
    tool = clone / 'tools' / 'test.py'
    tool.parent.mkdir()
    tool.touch()

    assert upstream.upstream_path('tools/test.py') == tool
