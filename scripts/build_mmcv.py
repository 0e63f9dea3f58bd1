"""Compile mmcv into a wheel: optimised, and fast to build.

Nine seconds of ten would go to parsing PyTorch's headers in each of mmcv's
77 files, so with GCC they are parsed once, into a precompiled header. Where
that cannot be made, or a compile with it fails, mmcv is built without it.

Used by ``set_up.py``; needs only the standard library.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import threading
import time
from pathlib import Path

# CFLAGS replaces Python's own flags, -O included. Without debug information
# and warnings a build takes a third of the time.
CFLAGS = os.environ.get('CFLAGS', '-O2 -g0 -w')
# What PyTorch's build adds, as far as a precompiled header depends on it.
HEADER_FLAGS = [
    '-fPIC',
    '-std=c++17',
    '-DTORCH_API_INCLUDE_EXTENSION_H',
    '-DTORCH_EXTENSION_NAME=_ext',
]
HEADER = '#include <torch/types.h>\n#include <vector>\n'
# The largest file, a minute and more: it must not be the last to start.
LARGEST = Path('mmcv/ops/csrc/pytorch/pybind.cpp')
INTERVAL = 20


def build_wheel(python, stack, scratch, facts, jobs, cuda, say):
    """Compile a stack's mmcv.

    Args:
        python: interpreter of an environment that has torch, setuptools,
            wheel and ninja.
        stack: whose mmcv, see ``stacks.py``.
        scratch: an empty folder on a disk with 2 GB to spare.
        facts: ``include`` and ``torch_include`` folders of the environment.
        jobs: how many compilers to run at a time.
        cuda: whether to build the CUDA operations.
        say: called with each sentence on the progress.

    Returns:
        The wheel's path, inside ``scratch``.

    Raises:
        subprocess.CalledProcessError: if a step fails; ``output`` has what
            it printed.
    """
    source = fetch_source(python, stack, scratch)
    flags = CFLAGS
    # nvcc compiles other files with other flags; only tried without it.
    header = None if cuda else make_header(scratch, facts, say)
    if header:
        flags = f'{CFLAGS} -include {header}'
    try:
        return _compile(python, source, scratch, flags, jobs, cuda, say)
    except subprocess.CalledProcessError:
        if not header:
            raise
        say('that failed with the precompiled header; trying without it')
        shutil.rmtree(source / 'build', ignore_errors=True)
        return _compile(python, source, scratch, CFLAGS, jobs, cuda, say)


def fetch_source(python, stack, scratch):
    """Download and unpack mmcv's source; return its folder."""
    exactly = f'{stack.mmcv}=={stack.version}'
    _run(
        python,
        ['download', '--no-binary', stack.mmcv, '-d', scratch, exactly],
        # Without its operations it goes by another name, which pip refuses.
        env={**os.environ, 'MMCV_WITH_OPS': '1'},
    )
    archive = next(scratch.glob('*mmcv-*.tar.gz'))
    safely = {'filter': 'data'} if hasattr(tarfile, 'data_filter') else {}
    with tarfile.open(archive) as packed:
        packed.extractall(scratch, **safely)
    source = archive.with_name(archive.name[: -len('.tar.gz')])
    largest = source / LARGEST
    if largest.exists():
        # Files are compiled in the order of their names.
        largest.rename(largest.with_name('0_' + largest.name))
    return source


def make_header(scratch, facts, say):
    """Precompile PyTorch's headers; return the header, None where not."""
    compiler = os.environ.get('CXX', 'c++')
    if not _is_gcc(compiler):
        return None
    header = scratch / 'header' / 'torch_types.h'
    header.parent.mkdir()
    header.write_text(HEADER)
    folders = [*facts['torch_include'], facts['include']]
    started = time.monotonic()
    done = subprocess.run(
        [compiler, *CFLAGS.split(), *HEADER_FLAGS]
        + [f'-I{folder}' for folder in folders]
        + ['-x', 'c++-header', str(header), '-o', f'{header}.gch'],
        capture_output=True,
    )
    if done.returncode:
        say('no precompiled header can be made here; going on without')
        return None
    say(f'precompiled the headers in {time.monotonic() - started:.0f} s')
    return header


def _is_gcc(compiler):
    try:
        done = subprocess.run(
            [compiler, '-dM', '-E', '-x', 'c++', os.devnull],
            capture_output=True,
            text=True,
        )
    except OSError:
        return False
    return '__GNUC__' in done.stdout and '__clang__' not in done.stdout


def _compile(python, source, scratch, flags, jobs, cuda, say):
    progress = Progress(source / 'build', say)
    with progress:
        _run(
            python,
            ['wheel', '-w', scratch, source],
            env={
                **os.environ,
                # torch looks for ninja on the path.
                'PATH': os.pathsep.join(
                    [str(Path(python).parent), os.environ['PATH']]
                ),
                'CFLAGS': flags,
                'MMCV_WITH_OPS': '1',
                'MAX_JOBS': str(jobs),
                'FORCE_CUDA': '1' if cuda else '0',
            },
        )
    return next(scratch.glob('*mmcv-*.whl'))


class Progress:
    """Says from time to time how many files are compiled."""

    def __init__(self, folder, say):
        self.folder = folder
        self.say = say
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._stop.set()
        self._thread.join()

    def _watch(self):
        last = None
        while not self._stop.wait(INTERVAL):
            state = self.count()
            if state and state != last:
                self.say('compiled {} of {} files'.format(*state))
                last = state

    def count(self):
        """Return how many files are compiled, and how many there are."""
        plan = next(self.folder.rglob('build.ninja'), None)
        if plan is None:
            return None
        lines = plan.read_text(errors='replace').splitlines()
        total = sum(line.startswith('build ') for line in lines)
        return sum(1 for _ in self.folder.rglob('*.o')), total


def _run(python, arguments, env):
    """Run pip without its own cache of wheels, which does not know torch."""
    action, *others = map(str, arguments)
    command = [str(python), '-m', 'pip', '--disable-pip-version-check', action]
    command += ['-q', '--no-cache-dir', '--no-build-isolation', '--no-deps']
    command += others
    done = subprocess.run(
        command,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        sys.stderr.write(done.stdout[-6000:])
        raise subprocess.CalledProcessError(
            done.returncode, command, done.stdout
        )
