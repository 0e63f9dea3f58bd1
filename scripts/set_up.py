"""Bring ``.venv`` to a state in which everything runs.

    python3 scripts/set_up.py [--venv .venv]

Called by ``make``; needs only the standard library. Each step looks at what
is there and does what is missing, so an interrupted set-up resumes and a
finished one is left alone. A stamp is written at the very end; nothing
half-done is taken for done.

Environment variables:
    STACK       ``mmlab`` (mmcv, mmengine, mmdet; the default) or ``onedl``,
                the maintained fork of the three, which needs Python 3.10.
    TORCH       requirement to install when the environment has no torch
                (default ``torch==2.13.0``); an installed torch >= 2.1 stays.
    MMCV_WHEEL  a prebuilt wheel of the stack's mmcv, instead of compiling.
    MAX_JOBS    parallel compiler runs (default: the number of cores).
    FORCE_CUDA  1 compiles the CUDA operations where no GPU is in sight, as
                while a container is built; ``nvcc`` must be there.
    CFLAGS      compiler flags in place of ``-O2 -g0 -w``.
    XDG_CACHE_HOME  where the compiled wheel is kept (default ``~/.cache``).
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import build_mmcv
from environment import (
    ROOT,
    Environment,
    SetUpError,
    cache_folder,
    need_space,
    only_one,
    reason,
    say,
    write_json,
)
from stacks import STACKS

TORCH = os.environ.get('TORCH', 'torch==2.13.0')
BUILD_TOOLS = ['setuptools<82', 'wheel', 'ninja', 'numpy>=1.26,<3']
# What an environment and one compilation of mmcv take, with room to spare.
ENVIRONMENT_GB = 2
COMPILATION_GB = 2
# Processor time of one compilation for the CPU.
CPU_MINUTES = 5

PROBE_TORCH = """
import json, os, sys, sysconfig, torch
from pathlib import Path
wanted = torch.cuda.is_available() or os.environ.get('FORCE_CUDA') == '1'
headers = Path(torch.__file__).parent / 'include'
print(json.dumps(dict(
    torch=torch.__version__,
    python=f'cp{sys.version_info.major}{sys.version_info.minor}',
    platform=sysconfig.get_platform(),
    cuda=torch.version.cuda if wanted else None,
    include=sysconfig.get_paths()['include'],
    torch_include=[str(headers), str(headers / 'torch/csrc/api/include')])))
"""
PROBE_MMCV = """
import mmcv, torch
assert mmcv.__version__ == '{}', mmcv.__version__
from mmcv.ops import nms
boxes = torch.tensor([[0., 0, 9, 9], [0, 0, 9, 9], [20, 20, 30, 30]])
kept = nms(boxes, torch.tensor([.5, .9, .8]), 0.5)[1].tolist()
assert kept == [1, 2], kept
"""


def make_venv(env):
    if env.probe('import pip') is not None:
        return
    say(f'making {env.folder}')
    done = subprocess.run(
        [sys.executable, '-m', 'venv', '--clear', env.folder],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SetUpError(
            f'{sys.executable} cannot make a virtual environment '
            f'({(done.stderr or done.stdout).strip()[-300:]}); on Debian and '
            'Ubuntu install python3-venv.'
        )


def choose_stack(env):
    """Return the stack asked for, or the one that is there."""
    asked = os.environ.get('STACK')
    if asked and asked not in STACKS:
        raise SetUpError(
            f'Expected STACK to be {" or ".join(STACKS)}, but it is {asked!r}.'
        )
    there = [name for name, stack in STACKS.items() if env.has(stack.engine)]
    if asked and there and there != [asked]:
        raise SetUpError(
            f'{env.folder} has the stack {" and ".join(there)}, whose modules '
            f'have the names of those of {asked}; choose another folder, as '
            f'in `make setup STACK={asked} VENV=.venv-{asked}`.'
        )
    stack = STACKS[asked or (there[0] if there else 'mmlab')]
    if sys.version_info < stack.python:
        raise SetUpError(
            f'{stack.mmcv} {stack.version} needs Python '
            f'{".".join(map(str, stack.python))}, but this is '
            f'{sys.version.split()[0]}; name a newer one with PYTHON=.'
        )
    return stack


def install_torch(env, stack):
    found = env.probe(PROBE_TORCH)
    if found is None:
        say(f'installing {TORCH}')
        env.install(TORCH, *BUILD_TOOLS)
        found = env.probe(PROBE_TORCH)
        if found is None:
            raise SetUpError(
                f'{TORCH} is installed but cannot be imported; try another '
                "release, for example `make setup TORCH='torch==2.1.2'`."
            )
    facts = json.loads(found)
    version = tuple(map(int, facts['torch'].split('+')[0].split('.')[:2]))
    if version < stack.torch:
        raise SetUpError(
            f'torch {facts["torch"]} is too old; {stack.mmcv} '
            f'{stack.version} needs {".".join(map(str, stack.torch))}.'
        )
    return facts


def mmcv_key(stack, facts):
    """Everything that a compiled mmcv depends on, as a folder name."""
    cuda = facts['cuda'] if facts['cuda'] and shutil.which('nvcc') else None
    device = f'cu{cuda}' if cuda else 'cpu'
    return '-'.join(
        [
            f'{stack.mmcv}{stack.version}',
            f'torch{facts["torch"]}',
            facts['python'],
            facts['platform'],
            device,
            flags_name(build_mmcv.CFLAGS),
        ]
    )


def flags_name(flags):
    """Return compiler flags as a part of a folder's name."""
    if flags == '-O2 -g0 -w':
        return 'O2'
    return 'flags' + hashlib.sha256(flags.encode()).hexdigest()[:8]


def mmcv_fits(env, stack, key):
    """Whether the installed mmcv works and was not built for another torch.

    An mmcv that this script did not install (from mim, say) has no record;
    it is kept when its compiled operations work.
    """
    if env.mmcv_record.exists():
        try:
            built_as = json.loads(env.mmcv_record.read_text())['key']
        except (OSError, ValueError, LookupError, TypeError):
            built_as = 'a record that cannot be read'
        if built_as != key:
            return False
    return env.probe(PROBE_MMCV.format(stack.version)) is not None


def install_stack(env, stack, facts):
    """Install the stack and this project around an mmcv that works."""
    key = mmcv_key(stack, facts)
    if mmcv_fits(env, stack, key):
        install_project(env, stack)
        return
    given = os.environ.get('MMCV_WHEEL')
    if given and not Path(given).is_file():
        raise SetUpError(
            f'MMCV_WHEEL={given} is no file; unset it or name a wheel.'
        )
    shelf = cache_folder() / key
    wheel = Path(given) if given else next(shelf.glob('*.whl'), None)
    if wheel:
        say(f'taking the prebuilt {wheel}')
        if try_wheel(env, stack, wheel, key):
            return
        if given:
            raise SetUpError(
                f'MMCV_WHEEL={given} does not work with torch '
                f'{facts["torch"]}; unset it to compile one that does.'
            )
        say('it does not work here; compiling anew')
        wheel.unlink()
    wheel = compile_mmcv(env, stack, facts, key, shelf)
    if not try_wheel(env, stack, wheel, key):
        wheel.unlink()
        raise SetUpError(
            'The mmcv that was just compiled cannot be imported; see '
            'docs/install.md for combinations of torch and mmcv known to work.'
        )


def try_wheel(env, stack, wheel, key):
    """Install everything with this mmcv; return whether the mmcv works."""
    env.mmcv_record.unlink(missing_ok=True)
    if env.has(stack.mmcv):
        # pip keeps a distribution of the same version, whatever is in it.
        env.pip('uninstall', '-q', '-y', stack.mmcv)
    install_project(env, stack, wheel)
    if env.probe(PROBE_MMCV.format(stack.version)) is None:
        return False
    write_json(env.mmcv_record, {'key': key, 'wheel': wheel.name})
    return True


def use_headless_opencv_where_needed(env):
    """Swap OpenCV for its headless build where libGL is not installed."""
    if env.probe('import cv2') is not None:
        return
    version = env.probe(
        'from importlib.metadata import version; '
        "print(version('opencv-python'))"
    )
    if version is None:
        return
    say('OpenCV finds no libGL here; taking its headless build')
    env.pip(
        'install',
        '-q',
        '--no-deps',
        '--force-reinstall',
        f'opencv-python-headless=={version.strip()}',
    )


def check_compiler(facts):
    if shutil.which(os.environ.get('CXX', 'g++')) is None:
        raise SetUpError(
            'mmcv must be compiled, but there is no C++ compiler; on Debian '
            'and Ubuntu install build-essential.'
        )
    if not (Path(facts['include']) / 'Python.h').exists():
        raise SetUpError(
            f'mmcv must be compiled, but {facts["include"]}/Python.h is '
            'missing; on Debian and Ubuntu install python3-dev.'
        )


def compile_mmcv(env, stack, facts, key, shelf):
    with only_one(shelf):
        ready = next(shelf.glob('*.whl'), None)
        if ready:
            return ready
        check_compiler(facts)
        for left_over in shelf.glob('build-*'):
            shutil.rmtree(left_over)
        need_space(shelf, COMPILATION_GB)
        jobs = int(os.environ.get('MAX_JOBS') or os.cpu_count() or 1)
        cuda = '-cpu-' not in key
        say(
            f'compiling {stack.mmcv} {stack.version} with its '
            f'{"CUDA" if cuda else "CPU"} operations, {jobs} compilers at a '
            f'time: {estimate(jobs, cuda)}. '
            f'It is done once and takes {COMPILATION_GB} GB meanwhile; the '
            f'wheel stays in {shelf}'
        )
        env.install(*BUILD_TOOLS)
        started = time.monotonic()
        with tempfile.TemporaryDirectory(
            prefix='build-', dir=shelf
        ) as scratch:
            try:
                built = build_mmcv.build_wheel(
                    env.python, stack, Path(scratch), facts, jobs, cuda, say
                )
            except subprocess.CalledProcessError as error:
                raise SetUpError(
                    f'mmcv could not be compiled: {reason(error.output)}. Run '
                    'the same make target again to resume.'
                ) from None
            wheel = built.replace(shelf / built.name)
        say(f'compiled in {time.monotonic() - started:.0f} s')
        return wheel


def estimate(jobs, cuda):
    """Say how long a compilation takes, as measured on two cores."""
    if cuda:
        return '20 to 40 minutes (not measured)'
    minutes = max(1.5, CPU_MINUTES / jobs + 0.5)
    return f'about {minutes:.0f} minutes on idle cores'


def install_project(env, stack, *wheels):
    """Install all that is missing in one call, so that pip solves it once."""
    say('installing MMDetection and this project')
    env.install(*map(str, wheels), '-e', f'{ROOT}[dev,{stack.extra}]')
    use_headless_opencv_where_needed(env)


def try_project(env):
    if env.probe('import mmdet_cppe5.plugin') is None:
        subprocess.run([env.python, '-c', 'import mmdet_cppe5.plugin'])
        raise SetUpError('the plugin cannot be imported; the error is above.')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--venv', type=Path, default=ROOT / '.venv')
    env = Environment(parser.parse_args().venv.absolute())
    try:
        stack = choose_stack(env)
        if env.is_ready():
            return 0
        with only_one(env.folder):
            if not env.is_ready():
                set_up(env, stack)
    except SetUpError as error:
        say(str(error))
        return 1
    except OSError as error:
        say(f'stopped: {error}')
        return 1
    return 0


def set_up(env, stack):
    """Do what is missing, and stamp the environment as ready."""
    started = time.monotonic()
    need_space(env.folder, ENVIRONMENT_GB)
    say(
        f'setting up {env.folder}: PyTorch, mmcv, MMDetection and this '
        f'project, {ENVIRONMENT_GB} GB; a minute or two where a compiled mmcv '
        f'lies in {cache_folder()}, some minutes more where not'
    )
    env.stamp.unlink(missing_ok=True)
    make_venv(env)
    facts = install_torch(env, stack)
    install_stack(env, stack, facts)
    try_project(env)
    write_json(env.stamp, env.state())
    say(f'ready after {time.monotonic() - started:.0f} s')


if __name__ == '__main__':
    sys.exit(main())
