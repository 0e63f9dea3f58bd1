"""Running the scripts that come with the installed MMDetection."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence

from mmdet_cppe5.paths import find_config
from mmdet_cppe5.zoo.upstream import upstream_path


def run_mmdet_tool(name: str, arguments: Sequence[str]) -> None:
    """Run a script of MMDetection as if called from the command line.

    The first argument that names a Python file is the config: when it does
    not exist from the working directory, it is looked for among this
    project's configs, so that ``configs/cppe5/faster_rcnn.py`` works from
    any directory. Everything else is passed on as it is.

    Args:
        name: the script's path in MMDetection's ``tools``, as ``'test.py'``.
        arguments: what follows the script's name.

    Raises:
        ImportError: if MMDetection is not installed.
        FileNotFoundError: if it has no such script.
    """
    given = list(arguments)
    for index, argument in enumerate(given):
        if argument.endswith('.py'):
            given[index] = find_config(argument)
            break
    script = str(upstream_path(f'tools/{name}'))
    before = sys.argv
    sys.argv = [script, *given]
    try:
        runpy.run_path(script, run_name='__main__')
    finally:
        sys.argv = before
