"""The shell launchers pass on what MMDetection's own ones take."""

import os
import subprocess

import pytest

ECHO = '#!/bin/sh\nprintf "%s\\n" "$(basename "$0")" "$@"\n'


@pytest.fixture
def launch(tmp_path, repo_root):
    """Run a launcher with a ``python`` and ``srun`` that print their words."""
    for name in ('python', 'srun'):
        (tmp_path / name).write_text(ECHO)
        (tmp_path / name).chmod(0o755)

    def run(name, *arguments, **environment):
        return subprocess.run(
            [repo_root / 'tools' / name, *arguments],
            cwd=tmp_path,
            env={
                'PATH': f'{tmp_path}:{os.environ["PATH"]}',
                **environment,
            },
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_dist_train(launch, repo_root):
    done = launch('dist_train.sh', 'a b.py', '4', '--amp', 'x y', NNODES='2')
    assert done.stdout.splitlines() == [
        'python', '-m', 'torch.distributed.run', '--nnodes=2',
        '--node-rank=0', '--master-addr=127.0.0.1', '--master-port=29500',
        '--nproc-per-node=4', f'{repo_root}/tools/train.py', 'a b.py',
        '--launcher', 'pytorch', '--amp', 'x y',
    ]  # fmt: skip


def test_dist_test(launch, repo_root):
    done = launch('dist_test.sh', 'a.py', 'a.pth', '8', '--tta', PORT='123')
    words = done.stdout.splitlines()
    assert {'--nproc-per-node=8', '--master-port=123'} <= set(words)
    assert words[-6:] == [
        f'{repo_root}/tools/test.py', 'a.py', 'a.pth', '--launcher',
        'pytorch', '--tta',
    ]  # fmt: skip


@pytest.mark.parametrize(
    ('name', 'tail'),
    [
        ('slurm_train.sh', ['--work-dir=d', '--launcher=slurm', '--amp']),
        ('slurm_test.sh', ['d', '--launcher=slurm', '--amp']),
    ],
)
def test_slurm(launch, repo_root, name, tail):
    done = launch(
        name, 'p', 'j', 'a.py', 'd', '--amp',
        GPUS='4', GPUS_PER_NODE='2', SRUN_ARGS='--time=1 --quiet',
    )  # fmt: skip
    assert done.stdout.splitlines() == [
        'srun', '-p', 'p', '--job-name=j', '--gres=gpu:2', '--ntasks=4',
        '--ntasks-per-node=2', '--cpus-per-task=5', '--kill-on-bad-exit=1',
        '--time=1', '--quiet', 'python', '-u',
        f'{repo_root}/tools/{name[6:-3]}.py', 'a.py', *tail,
    ]  # fmt: skip


@pytest.mark.parametrize(
    'name', ['dist_train', 'dist_test', 'slurm_train', 'slurm_test']
)
def test_missing_arguments_show_the_usage(launch, name):
    done = launch(f'{name}.sh', 'a')
    assert done.returncode == 2
    assert f'tools/{name}.sh' in done.stderr
    assert not done.stdout


def test_benchmark_gpu(launch, repo_root, tmp_path):
    """It takes the `python` of the environment that is active."""
    for name in ('faster_rcnn', 'fcos'):
        (tmp_path / 'out').mkdir(exist_ok=True)
        (tmp_path / 'out' / f'{name}_fp32_batch1.json').touch()
    done = launch('../scripts/benchmark_gpu.sh', 'out', '--amp')
    assert done.returncode == 0, done.stderr
    measured, compared = done.stdout.split('== fp32\n')
    words = measured.splitlines()
    tool = f'{repo_root}/tools/analysis_tools/benchmark.py'
    assert words[:3] == ['python', tool, '--all']
    assert len(words[3 : words.index('--precision')]) == 16
    assert words[-3:] == ['--out-dir', 'out', '--amp']
    assert compared.splitlines()[:3] == ['python', tool, '--compare']
