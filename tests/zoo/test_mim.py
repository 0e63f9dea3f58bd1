"""What mim finds in an installed package: configs by name, models by id."""

import collections
import subprocess
import sys

import pytest
import zoo_models

from mmdet_cppe5.zoo.metafile import read_zoo


@pytest.fixture(scope='module')
def package(tmp_path_factory, repo_root):
    """The package as a wheel installs it."""
    target = tmp_path_factory.mktemp('wheel')
    subprocess.run(
        [sys.executable, 'setup.py', '-q', 'build_py', '-d', target],
        cwd=repo_root,
        check=True,
        capture_output=True,
    )
    return target / 'mmdet_cppe5'


def test_base_names_of_configs_are_unique(package):
    """`mim train mmdet_cppe5 NAME.py` takes the only file of that name."""
    times = collections.Counter(path.name for path in package.rglob('*.py'))
    configs = [
        path
        for folder in ('cppe5', 'deepfashion2')
        for path in (package / '.mim' / 'configs' / folder).rglob('*.py')
    ]

    assert len(configs) >= len(zoo_models.PAPER + zoo_models.MODERN)
    assert [p.name for p in configs if times[p.name] > 1] == []


def test_mim_finds_models_by_id_and_architecture(package):
    search = pytest.importorskip(
        'mim.commands.search', reason='openmim is not installed'
    )
    modelindex = pytest.importorskip('modelindex.load_model_index')
    index = modelindex.load(str(package / '.mim' / 'model-index.yml'))
    index.build_models_with_collections()

    frame = search.convert2df(index)

    assert set(frame.index) == {model.name for model in read_zoo()}
    found = search.filter_by_configs(frame, ['faster_rcnn'])
    assert list(found['config']) == ['configs/cppe5/faster_rcnn.py']
    found = search.filter_by_models(frame, ['RTMDet'])
    assert set(found.index) == {'rtmdet_tiny', 'rtmdet_l', 'rtmdet_x'}
