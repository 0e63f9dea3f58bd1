"""Bring ``.venv`` to a state in which everything runs.

    python3 scripts/set_up.py [--venv .venv]

Called by ``make``; needs only the standard library. Each step looks at what
is there and does what is missing, so an interrupted set-up resumes and a
finished one is left alone. A stamp is written at the very end; nothing
half-done is taken for done.

Environment variables:
    TORCH       requirement to install when the environment has no torch
                (default ``torch==2.13.0``); an installed torch >= 2.1 stays.
    MMCV_WHEEL  a prebuilt mmcv 2.1.0 wheel to use instead of compiling.
    MAX_JOBS    parallel compiler runs (default: the number of cores).
"""

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TORCH = os.environ.get('TORCH', 'torch==2.13.0')
MMCV = '2.1.0'
BUILD_TOOLS = ['setuptools<82', 'wheel', 'ninja', 'numpy>=1.26,<3']
INPUTS = ['setup.py', 'pyproject.toml', 'scripts/set_up.py']

PROBE_TORCH = """
import json, sys, sysconfig, torch
print(json.dumps(dict(
    torch=torch.__version__,
    python=f'cp{sys.version_info.major}{sys.version_info.minor}',
    platform=sysconfig.get_platform(),
    cuda=torch.version.cuda if torch.cuda.is_available() else None,
    include=sysconfig.get_paths()['include'])))
"""
PROBE_MMCV = f"""
import mmcv, torch
assert mmcv.__version__ == '{MMCV}', mmcv.__version__
from mmcv.ops import nms
boxes = torch.tensor([[0., 0, 9, 9], [0, 0, 9, 9], [20, 20, 30, 30]])
kept = nms(boxes, torch.tensor([.5, .9, .8]), 0.5)[1].tolist()
assert kept == [1, 2], kept
"""


class SetUpError(RuntimeError):
    """Something only the user can mend, said in one sentence."""


def say(text):
    print(f'[set-up] {text}', flush=True)


def cache_folder():
    base = os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache'
    return Path(base) / 'mmdet-cppe5'


class Environment:
    """A virtual environment and what may be asked of it."""

    def __init__(self, folder):
        self.folder = folder
        self.python = folder / 'bin' / 'python'
        self.stamp = folder / '.mmdet-cppe5.json'
        self.mmcv_record = folder / '.mmcv-build.json'

    def probe(self, code):
        """Run code; return its output, or None where it fails."""
        if not self.python.exists():
            return None
        done = subprocess.run(
            [self.python, '-c', code], capture_output=True, text=True
        )
        return done.stdout if done.returncode == 0 else None

    def pip(self, *arguments, **options):
        command = [self.python, '-m', 'pip', '--disable-pip-version-check']
        command += arguments
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            **options,
        )
        if done.returncode:
            sys.stderr.write(done.stdout[-6000:])
            raise SetUpError(
                f'`pip {" ".join(map(str, arguments))}` failed; its last '
                'lines stand above. Run the same make target again to resume.'
            )

    def install(self, *requirements):
        # Python compiles what is imported; compiling all of torch ahead
        # only costs time.
        self.pip('install', '-q', '--no-compile', *requirements)

    def state(self):
        """What the stamp must equal for the environment to be ready."""
        digest = hashlib.sha256()
        for name in INPUTS:
            digest.update((ROOT / name).read_bytes())
        site = next(self.folder.glob('lib/python3*/site-packages'), None)
        installed = (
            []
            if site is None
            else sorted(
                folder.name
                for pattern in ('torch-*', 'mmcv-*', 'mmdet-*', 'mmengine-*')
                for folder in site.glob(pattern + '.dist-info')
            )
        )
        return {
            'inputs': digest.hexdigest(),
            'root': str(ROOT),
            'installed': installed,
        }

    def is_ready(self):
        try:
            return json.loads(self.stamp.read_text()) == self.state()
        except (OSError, ValueError):
            return False


def write_json(path, value):
    temporary = path.with_suffix('.tmp')
    temporary.write_text(json.dumps(value, indent=1))
    temporary.replace(path)


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


def install_torch(env):
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
    if version < (2, 1):
        raise SetUpError(
            f'torch {facts["torch"]} is too old; torch >= 2.1 is needed.'
        )
    return facts


def mmcv_key(facts):
    """Everything that a compiled mmcv depends on, as a folder name."""
    cuda = facts['cuda'] if facts['cuda'] and shutil.which('nvcc') else None
    device = f'cu{cuda}' if cuda else 'cpu'
    return '-'.join(
        [
            f'mmcv{MMCV}',
            f'torch{facts["torch"]}',
            facts['python'],
            facts['platform'],
            device,
        ]
    )


def mmcv_fits(env, key):
    """Whether the installed mmcv works and was not built for another torch.

    An mmcv that this script did not install (from mim, say) has no record;
    it is kept when its compiled operations work.
    """
    if env.mmcv_record.exists():
        record = json.loads(env.mmcv_record.read_text())
        if record['key'] != key:
            return False
    return env.probe(PROBE_MMCV) is not None


def install_mmcv(env, facts):
    key = mmcv_key(facts)
    if mmcv_fits(env, key):
        return
    given = os.environ.get('MMCV_WHEEL')
    shelf = cache_folder() / 'wheels' / key
    wheel = Path(given) if given else next(shelf.glob('*.whl'), None)
    if wheel:
        say(f'taking the prebuilt {wheel}')
        if try_wheel(env, wheel, key):
            return
        if given:
            raise SetUpError(
                f'MMCV_WHEEL={given} does not work with torch '
                f'{facts["torch"]}; unset it to compile one that does.'
            )
        say('it does not work here; compiling anew')
        wheel.unlink()
    wheel = compile_mmcv(env, facts, key, shelf)
    if not try_wheel(env, wheel, key):
        wheel.unlink()
        raise SetUpError(
            'The mmcv that was just compiled cannot be imported; see the '
            'README for combinations of torch and mmcv known to work.'
        )


def try_wheel(env, wheel, key):
    env.mmcv_record.unlink(missing_ok=True)
    env.install('--no-deps', '--force-reinstall', str(wheel))
    env.install(f'mmcv=={MMCV}', 'setuptools<82')
    use_headless_opencv_where_needed(env)
    if env.probe(PROBE_MMCV) is None:
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


@contextlib.contextmanager
def only_one(folder):
    """Let one set-up at a time compile into a cache folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / '.lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def compile_mmcv(env, facts, key, shelf):
    with only_one(shelf):
        ready = next(shelf.glob('*.whl'), None)
        if ready:
            return ready
        check_compiler(facts)
        for left_over in shelf.glob('build-*'):
            shutil.rmtree(left_over)
        jobs = os.environ.get('MAX_JOBS') or str(os.cpu_count() or 1)
        cuda = not key.endswith('-cpu')
        say(
            f'compiling mmcv {MMCV} with its {"CUDA" if cuda else "CPU"} '
            f'operations, {jobs} compilers at a time: about '
            + ('20 to 40 minutes.' if cuda else '8 minutes of one core.')
            + f' It is done once; the wheel stays in {shelf}'
        )
        env.install(*BUILD_TOOLS)
        started = time.monotonic()
        with tempfile.TemporaryDirectory(
            prefix='build-', dir=shelf
        ) as scratch:
            env.pip(
                'wheel',
                '-q',
                # pip's own cache of wheels does not know about torch.
                '--no-cache-dir',
                '--no-build-isolation',
                '--no-deps',
                '--no-binary',
                'mmcv',
                '-w',
                scratch,
                f'mmcv=={MMCV}',
                env={
                    **os.environ,
                    # torch looks for ninja on the path.
                    'PATH': f'{env.folder / "bin"}{os.pathsep}'
                    + os.environ['PATH'],
                    # Without debug information: a third of the time.
                    'CFLAGS': os.environ.get('CFLAGS', '-g0 -w'),
                    'MMCV_WITH_OPS': '1',
                    'MAX_JOBS': jobs,
                    'FORCE_CUDA': '1' if cuda else '0',
                },
            )
            built = next(Path(scratch).glob('*.whl'))
            wheel = built.replace(shelf / built.name)
        say(f'compiled in {time.monotonic() - started:.0f} s')
        return wheel


def install_project(env):
    say('installing MMDetection and this project')
    env.install('-e', f'{ROOT}[dev]')
    use_headless_opencv_where_needed(env)
    if env.probe('import mmdet_cppe5.plugin') is None:
        subprocess.run([env.python, '-c', 'import mmdet_cppe5.plugin'])
        raise SetUpError('the plugin cannot be imported; the error is above.')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--venv', type=Path, default=ROOT / '.venv')
    env = Environment(parser.parse_args().venv.absolute())
    if env.is_ready():
        return 0
    started = time.monotonic()
    env.stamp.unlink(missing_ok=True)
    try:
        make_venv(env)
        facts = install_torch(env)
        install_mmcv(env, facts)
        install_project(env)
    except SetUpError as error:
        say(str(error))
        return 1
    write_json(env.stamp, env.state())
    say(f'ready after {time.monotonic() - started:.0f} s')
    return 0


if __name__ == '__main__':
    sys.exit(main())
