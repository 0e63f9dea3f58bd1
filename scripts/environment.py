"""A virtual environment under construction, and what can go wrong with it.

Used by ``set_up.py``; needs only the standard library.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INPUTS = [
    'setup.py',
    'pyproject.toml',
    'scripts/set_up.py',
    'scripts/build_mmcv.py',
    'scripts/environment.py',
    'scripts/stacks.py',
]
STAMPED = [
    'torch-*',
    '*mmcv-*',
    '*mmengine-*',
    '*mmdet-*',
    '*mmdetection-*',
]


class SetUpError(RuntimeError):
    """Something only the user can mend, said in one sentence."""


def say(text):
    print(f'[set-up] {text}', flush=True)


def cache_folder():
    """Return the folder of compiled wheels, made where it is missing."""
    try:
        base = os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache'
        folder = Path(base) / 'mmdet-cppe5' / 'wheels'
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:
        raise SetUpError(
            f'The compiled mmcv cannot be kept ({error}); set XDG_CACHE_HOME '
            'to a folder that can be written.'
        ) from None
    return folder


def need_space(folder, gigabytes):
    """Refuse to begin what the disk cannot hold."""
    free = shutil.disk_usage(folder).free / 1e9
    if free < gigabytes:
        raise SetUpError(
            f'Expected {gigabytes} GB of free disk space in {folder}, but '
            f'there are {free:.1f}; make room or choose another place.'
        )


def reason(output):
    """Name the usual causes of a failed step by what it printed."""
    causes = {
        'No space left on device': 'the disk is full',
        'Read-only file system': 'the disk cannot be written',
        'Permission denied': 'a folder cannot be written',
        'Failed to establish a new connection': 'there is no network',
        'Name or service not known': 'there is no network',
        'Temporary failure in name resolution': 'there is no network',
    }
    for words, cause in causes.items():
        if words in output:
            return f'{cause}; its last lines stand above'
    return 'its last lines stand above'


@contextlib.contextmanager
def only_one(folder):
    """Let one set-up at a time work on a folder; the others wait."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise SetUpError(
            f'{folder} cannot be made or read ({error.strerror}); choose a '
            'place that can be written.'
        ) from None
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f'another set-up works on {folder}; waiting for it')
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


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
                f'`pip {" ".join(map(str, arguments))}` failed: '
                f'{reason(done.stdout)}. Run the same make target again to '
                'resume.'
            )

    def install(self, *requirements):
        # Python compiles what is imported; compiling all of torch ahead
        # only costs time.
        self.pip('install', '-q', '--no-compile', *requirements)

    def site(self):
        """Return the folder of what is installed, None where there is none."""
        return next(self.folder.glob('lib/python3*/site-packages'), None)

    def has(self, distribution):
        """Return whether a distribution is installed, in any version."""
        name = distribution.replace('-', '_')
        site = self.site()
        return site is not None and any(site.glob(f'{name}-*.dist-info'))

    def state(self):
        """What the stamp must equal for the environment to be ready."""
        digest = hashlib.sha256()
        for name in INPUTS:
            digest.update((ROOT / name).read_bytes())
        site = self.site()
        installed = (
            []
            if site is None
            else sorted(
                folder.name
                for pattern in STAMPED
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
