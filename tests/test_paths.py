"""Configs are found in a clone, in a wheel and from any directory."""

import pytest

from mmdet_cppe5 import paths


def test_clone(repo_root):
    assert paths.config_root() == repo_root / 'configs'


@pytest.mark.parametrize('layout', ['wheel', 'both'])
def test_wheel_comes_first(tmp_path, monkeypatch, layout):
    installed = tmp_path / 'package' / '.mim' / 'configs'
    installed.mkdir(parents=True)
    if layout == 'both':
        (tmp_path / 'configs').mkdir()
    monkeypatch.setattr(paths, '_PACKAGE', tmp_path / 'package')
    assert paths.config_root() == installed


def test_neither_is_an_error_naming_both(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, '_PACKAGE', tmp_path / 'package')
    with pytest.raises(FileNotFoundError) as error:
        paths.config_root()
    assert str(tmp_path / 'package' / '.mim' / 'configs') in str(error.value)
    assert str(tmp_path / 'configs') in str(error.value)


def test_config_is_found_from_any_directory(tmp_path, monkeypatch, repo_root):
    monkeypatch.chdir(tmp_path)
    expected = str(repo_root / 'configs' / 'cppe5' / 'faster_rcnn.py')
    assert paths.find_config('configs/cppe5/faster_rcnn.py') == expected
    assert paths.find_config('cppe5/faster_rcnn.py') == expected
    assert paths.find_config('cppe5/nothing.py') == 'cppe5/nothing.py'
    assert paths.find_config('configs') == 'configs'


def test_config_of_the_working_directory_comes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'cppe5').mkdir()
    (tmp_path / 'cppe5' / 'faster_rcnn.py').touch()
    assert paths.find_config('cppe5/faster_rcnn.py') == 'cppe5/faster_rcnn.py'
