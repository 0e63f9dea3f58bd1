"""Make an environment of its own for given versions; run the tests in it.

    python3 scripts/try_environment.py FOLDER --python 3.12
    python3 scripts/try_environment.py FOLDER --stack mmlab \
        --torch torch==2.4.1 --with numpy==1.26.4 --with 'opencv-python<4.12'

Without a stack the project's wheel is installed alone, and the tests of the
evaluation run against it, outside the clone's package. With one,
``set_up.py`` makes the environment, mmcv included, and all tests run. What
stands after ``--`` goes to pytest. Needs only the standard library.
"""

import argparse
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from stacks import STACKS

ROOT = Path(__file__).resolve().parent.parent
EVALUATION_TESTS = [
    'tests/core',
    'tests/coco',
    'tests/scores',
    'tests/cli/test_cli_evaluate.py',
    'tests/cli/test_cli_compare.py',
    'tests/test_files.py',
    'tests/test_framework.py',
]
NOT_COPIED = shutil.ignore_patterns(
    '.git', '.venv', '*.egg-info', 'work_dirs', 'build', 'dist', '__pycache__'
)
VERSIONS = """
import platform
from importlib.metadata import PackageNotFoundError, version
found = ['Python ' + platform.python_version()]
NAMES = [
    'torch', 'mmcv', 'mmengine', 'mmdet', 'onedl-mmcv', 'onedl-mmengine',
    'onedl-mmdetection', 'numpy', 'pycocotools',
]
for name in NAMES:
    try:
        found.append(name + ' ' + version(name))
    except PackageNotFoundError:
        pass
print(', '.join(found))
"""


def find_python(wanted):
    """Return an interpreter, given its path or a version such as 3.12."""
    if not wanted:
        return sys.executable
    pyenv = Path(os.environ.get('PYENV_ROOT') or Path.home() / '.pyenv')
    # pyenv's own python3.12 on the path works only where it was made global.
    places = [
        shutil.which(wanted),
        *sorted(pyenv.glob(f'versions/{wanted}.*/bin/python')),
        shutil.which(f'python{wanted}'),
    ]
    found = next((place for place in places if place), None)
    if found is None:
        raise SystemExit(
            f'Expected Python {wanted} on the path or in {pyenv}/versions, '
            'but it is at neither; install it or give its path.'
        )
    return str(found)


def run(*command, **options):
    """Run a command; stop with its exit status where it fails."""
    done = subprocess.run(list(map(str, command)), **options)
    if done.returncode:
        raise SystemExit(done.returncode)


def make_bare(folder, interpreter, requirements):
    """Install the wheel alone; return the tests' folder."""
    python = folder / 'venv/bin/python'
    clone = folder / 'clone'
    run(interpreter, '-m', 'venv', '--clear', folder / 'venv')
    shutil.copytree(ROOT, clone, ignore=NOT_COPIED)
    install = [python, '-m', 'pip', '--disable-pip-version-check', 'install']
    run(*install, '-q', clone, *requirements)
    run(*install, '-q', 'pytest>=8', 'hypothesis>=6.100', *requirements)
    # What is tested is the wheel.
    shutil.rmtree(clone / 'mmdet_cppe5')
    shutil.rmtree(clone / 'build', ignore_errors=True)
    return clone


def make_with_stack(folder, interpreter, stack, torch, requirements):
    """Make an environment with MMDetection; return the tests' folder."""
    python = folder / 'venv/bin/python'
    env = {**os.environ, 'STACK': stack}
    if torch:
        env['TORCH'] = torch
    run(
        interpreter,
        ROOT / 'scripts/set_up.py',
        '--venv',
        folder / 'venv',
        env=env,
    )
    if requirements:
        run(python, '-m', 'pip', 'install', '-q', *requirements)
    return ROOT


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument('folder', type=Path, help='new, for the environment')
    parser.add_argument('--python', help='version, as 3.12, or path')
    parser.add_argument('--stack', choices=['none', *STACKS], default='none')
    parser.add_argument('--torch', help='requirement, as torch==2.4.1')
    parser.add_argument(
        '--with',
        dest='requirements',
        action='append',
        default=[],
        metavar='REQUIREMENT',
        help='one more requirement, as numpy==1.26.4; may be repeated',
    )
    parser.add_argument('pytest', nargs='*', help='arguments, after --')
    args = parser.parse_args()
    if args.torch and args.stack == 'none':
        parser.error('--torch needs a --stack')
    if args.folder.exists():
        parser.error(f'{args.folder} exists; name a new folder')
    args.folder.mkdir(parents=True)
    folder = args.folder.absolute()
    interpreter = find_python(args.python)
    if args.stack == 'none':
        tests = make_bare(folder, interpreter, args.requirements)
        chosen = args.pytest or EVALUATION_TESTS
    else:
        tests = make_with_stack(
            folder, interpreter, args.stack, args.torch, args.requirements
        )
        chosen = args.pytest
    print(f'[try] on {platform.platform()}, installed:', flush=True)
    python = folder / 'venv/bin/python'
    run(python, '-c', VERSIONS)
    # Not `python -m pytest`, which would import the package from here.
    run(folder / 'venv/bin/pytest', '-q', *chosen, cwd=tests)


if __name__ == '__main__':
    main()
