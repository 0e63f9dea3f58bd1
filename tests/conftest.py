"""Options and fixtures shared by all tests."""

import importlib.util
import os
import sys
from pathlib import Path

import pytest

# Each core has a worker of its own; set before anything imports torch.
if 'PYTEST_XDIST_WORKER' in os.environ:
    os.environ.setdefault('OMP_NUM_THREADS', '1')
# A worker is told the width of the terminal; tables are tested without one.
os.environ.pop('COLUMNS', None)

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
# Behind the rest: tools/test.py must not hide the standard library's test.
sys.path.append(str(HERE.parent / 'tools'))


def pytest_addoption(parser):
    parser.addoption(
        '--run-slow', action='store_true', help='run tests marked slow too'
    )


def pytest_collection_modifyitems(config, items):
    if config.getoption('--run-slow'):
        return
    skip = pytest.mark.skip(reason='slow; run with --run-slow')
    for item in items:
        if 'slow' in item.keywords:
            item.add_marker(skip)


@pytest.fixture(autouse=True)
def no_leftovers_of_mmengine():
    """Forget the scope, visualizer and messages that a test made current.

    MMEngine keeps them for the whole process, so a test could pass or fail
    by what ran before it.
    """
    yield
    if 'mmengine.runner' not in sys.modules:
        return
    from mmengine.logging import MessageHub
    from mmengine.registry import DefaultScope
    from mmengine.visualization import Visualizer

    for kind in (DefaultScope, MessageHub, Visualizer):
        kind._instance_dict.clear()


@pytest.fixture(scope='session')
def repo_root():
    return Path(__file__).parent.parent


@pytest.fixture(scope='session')
def tool(repo_root):
    """Import a script of ``tools/`` by its path there, without ``.py``."""

    def load(name):
        path = repo_root / 'tools' / f'{name}.py'
        # The name is no other module's.
        spec = importlib.util.spec_from_file_location(
            f'tool_{path.stem}', path
        )
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture(scope='session')
def test_data():
    """The folder with real data, which is not part of the project."""
    folder = os.environ.get('CPPE5_TEST_DATA')
    if not folder:
        pytest.skip('CPPE5_TEST_DATA is not set: no real data at hand')
    path = Path(folder)
    if not path.is_dir():
        pytest.fail(f'CPPE5_TEST_DATA={folder} is not a folder')
    return path


@pytest.fixture(scope='session')
def drawn_dataset(tmp_path_factory):
    """A drawn data set in CPPE-5's form: six training, four test images."""
    from mmdet_cppe5.drawn import write_drawn_dataset

    folder = tmp_path_factory.mktemp('drawn')
    return write_drawn_dataset(folder, num_train=6, num_test=4, seed=0)
