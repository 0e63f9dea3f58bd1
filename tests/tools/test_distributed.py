"""Two processes on CPUs, started as a user starts them, and one alone.

29 images do not divide by two, so the sampler gives one image twice.
"""

import json
import os
import subprocess
import sys

import pytest
import torch
from builders import logged_scores
from tiny_detector import write_workplace

from mmdet_cppe5.engine.checkpoint import load_checkpoint_file

IMAGES = 29
# One thread each: how many there are decides in what order sums are taken.
ENVIRONMENT = {'OMP_NUM_THREADS': '1', 'CUDA_VISIBLE_DEVICES': ''}
TROUBLE = """
_base_ = 'tiny.py'
custom_imports = dict(imports=['mmdet_cppe5.plugin', 'trouble'],
                      allow_failed_imports=False)
custom_hooks = [dict(type='DiesInTheSecondProcess')]
"""
TROUBLE_HOOK = """
import os, signal
from mmengine.hooks import Hook
from mmengine.registry import HOOKS

@HOOKS.register_module()
class DiesInTheSecondProcess(Hook):
    def after_test_iter(self, runner, *args, **kwargs):
        if runner.rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(scope='module')
def workplace(tmp_path_factory, repo_root):
    folder = tmp_path_factory.mktemp('distributed')
    write_workplace(folder, repo_root, IMAGES)
    return folder


@pytest.fixture(scope='module')
def launch(workplace, repo_root):
    """Run one of the tools in the workplace and return what it said."""
    port = iter(range(29610, 29700))

    def run(name, *arguments, check=True):
        command = {'.py': sys.executable, '.sh': 'bash'}[name[-3:]]
        folder = os.path.dirname(sys.executable)
        done = subprocess.run(
            [command, repo_root / 'tools' / name, *arguments],
            cwd=workplace,
            env={
                **os.environ,
                **ENVIRONMENT,
                'CPPE5_DATA_ROOT': str(workplace / 'data'),
                'PATH': f'{folder}:{os.environ["PATH"]}',
                'PORT': str(next(port)),
                'PYTHONPATH': f'{repo_root}:{workplace}',
            },
            capture_output=True,
            text=True,
            check=False,
            # Less than processes wait for each other, if nobody ends them.
            timeout=900,
        )
        if check:
            assert done.returncode == 0, done.stderr
        return done

    return run


@pytest.fixture(scope='module')
def trained(launch, workplace):
    """The checkpoint of one epoch in two processes."""
    launch('dist_train.sh', 'tiny.py', '2', '--work-dir', 'trained')
    return workplace / 'trained' / 'epoch_1.pth'


def test_two_processes_train_together(trained):
    saved = load_checkpoint_file(trained)
    # Batches of 2 for each of two processes: 29 images are 8 steps.
    assert saved['meta']['iter'] == 8
    weights = saved['state_dict'].values()
    assert all(torch.isfinite(w).all() for w in weights)
    # Every process validated its share, and the sum was scored.
    assert list(trained.parent.glob('best_cppe5_AP_epoch_1.pth'))


def test_two_processes_find_what_one_finds(launch, trained, workplace):
    for name, command in (
        ('one', ['test.py', 'tiny.py', trained]),
        ('two', ['dist_test.sh', 'tiny.py', trained, '2']),
    ):
        launch(
            *command, '--work-dir', name, '--cfg-options',
            f'test_evaluator.outfile_prefix={name}/results',
            'default_hooks.report.test=True',
            'default_hooks.report.resamples=0',
        )  # fmt: skip
    one, two = (
        (workplace / name / 'results.bbox.json').read_bytes()
        for name in ('one', 'two')
    )
    found = json.loads(one)
    assert {entry['image_id'] for entry in found} == {*range(1, IMAGES + 1)}
    assert two == one
    scores = logged_scores(workplace / 'two')
    alone = logged_scores(workplace / 'one')
    for key in alone:
        if key.startswith('cppe5/'):
            assert scores[key] == alone[key], key
    (page,) = (workplace / 'two').glob('*/report/*.html')
    assert f'{IMAGES} images' in page.read_text()


def test_a_process_that_dies_ends_the_other(launch, trained, workplace):
    (workplace / 'trouble.py').write_text(TROUBLE_HOOK)
    (workplace / 'dies.py').write_text(TROUBLE)
    done = launch(
        'dist_test.sh', 'dies.py', trained, '2', '--work-dir', 'dead',
        check=False,
    )  # fmt: skip
    assert done.returncode != 0
    # The launcher says which process died of what, and stops the other.
    assert 'Signal 9 (SIGKILL)' in done.stderr, done.stderr
