"""Running the scripts that come with the installed MMDetection."""

from __future__ import annotations

import argparse
import runpy
import sys
from collections.abc import Sequence

from mmdet_cppe5.paths import find_config
from mmdet_cppe5.zoo.upstream import find_package_configs, upstream_path


def run_mmdet_tool(name: str, arguments: Sequence[str]) -> None:
    """Run a script of MMDetection as if called from the command line.

    The first argument that names a Python file is the config: when it does
    not exist from the working directory, it is looked for among this
    project's configs, so that ``configs/cppe5/faster_rcnn.py`` works from
    any directory. Everything else is passed on as it is; without a GPU,
    ``--launcher pytorch`` takes the runner for CPUs.

    Args:
        name: the script's path in MMDetection's ``tools``, as ``'test.py'``.
        arguments: what follows the script's name.

    Raises:
        ImportError: if MMDetection is not installed.
        FileNotFoundError: if it has no such script.
        SystemExit: if an option is asked for that a CPU cannot do, or a
            file is missing or cannot be fetched.
    """
    given = list(arguments)
    for index, argument in enumerate(given):
        if argument.endswith('.py'):
            given[index] = find_config(argument)
            break
    given += _options_for_cpus(given)
    script = str(upstream_path(f'tools/{name}'))
    find_package_configs()
    before = sys.argv
    sys.argv = [script, *given]
    try:
        runpy.run_path(script, run_name='__main__')
    except OSError as error:
        # A file or a download that is missing: the sentence says which, and
        # where in MMDetection it was asked for helps nobody.
        raise SystemExit(f'{name}: {error}') from error
    finally:
        sys.argv = before


def _options_for_cpus(arguments: Sequence[str]) -> list[str]:
    """Return what has to be added where there is nothing but CPUs."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument('--launcher', default='none')
    parser.add_argument('--amp', action='store_true')
    asked, _ = parser.parse_known_args(arguments)
    if asked.launcher == 'none' and not asked.amp:
        return []
    from mmengine.device import get_device

    if get_device() != 'cpu':
        return []
    if asked.amp:
        sys.exit(
            '--amp needs a GPU: on a CPU MMEngine trains in full precision '
            'only, and many operations of mmcv have no kernels for bf16. '
            'Leave --amp out. What bf16 would gain in inference on this CPU, '
            'tools/analysis_tools/benchmark.py --task inference --amp tells.'
        )
    # Registers the runner; a config need not name this package.
    from mmdet_cppe5.engine import cpu_runner

    return [
        '--cfg-options',
        f'runner_type={cpu_runner.DistributedCPURunner.__name__}',
    ]
