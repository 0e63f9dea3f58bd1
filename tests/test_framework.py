"""Without MMDetection: evaluation works, the adapters say what to install."""

import subprocess
import sys

import pytest

HIDE = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] in ('torch', 'mmdet', 'mmengine', 'mmcv'):
            raise ModuleNotFoundError(f'No module named {name!r}', name=name)
sys.meta_path.insert(0, Hidden())
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name: (
    None if name in ('torch', 'mmdet', 'mmengine', 'mmcv') else found(name)
)
"""


def run(code):
    return subprocess.run(
        [sys.executable, '-c', HIDE + code], capture_output=True, text=True
    )


@pytest.mark.parametrize('room', ['datasets', 'metrics', 'models', 'plugin'])
def test_the_adapters_say_what_to_install(room):
    done = run(f'import mmdet_cppe5.{room}')
    last = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 1
    assert 'torch, mmengine, mmcv, mmdet cannot be imported' in last
    assert "pip install 'mmdet-cppe5[framework]'" in last
    assert "pip install 'mmdet-cppe5[onedl]'" in last


@pytest.mark.parametrize('room', ['core', 'coco', 'scores', 'cli.evaluate'])
def test_the_evaluation_needs_no_framework(room):
    done = run(f'import mmdet_cppe5.{room}')
    assert done.returncode == 0, done.stderr
