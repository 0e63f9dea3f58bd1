"""Running the scripts that come with the installed MMDetection."""

from __future__ import annotations

import importlib.util
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

from mmdet_cppe5.paths import find_config


def mmdet_tool(name: str) -> Path:
    """Return the path of a script of the installed MMDetection.

    Args:
        name: its path in MMDetection's ``tools`` folder, as ``'test.py'``.

    Raises:
        ImportError: if MMDetection is not installed.
        FileNotFoundError: if it has no such script.
    """
    spec = importlib.util.find_spec('mmdet')
    if spec is None or spec.origin is None:
        raise ImportError(
            "MMDetection is not installed; run `pip install 'mmdet>=3.3.0,"
            "<3.4.0'` (or `make setup` in a clone)."
        )
    package = Path(spec.origin).parent
    # A wheel carries its tools in `.mim`; in a clone they lie beside it.
    places = [
        package / '.mim' / 'tools' / name,
        package.parent / 'tools' / name,
    ]
    for place in places:
        if place.is_file():
            return place
    raise FileNotFoundError(
        f"Expected MMDetection's {name} at {' or '.join(map(str, places))}, "
        'but it is at neither; install mmdet 3.3.0 again.'
    )


def run_mmdet_tool(name: str, arguments: Sequence[str]) -> None:
    """Run a script of MMDetection as if called from the command line.

    The first argument that names a Python file is the config: when it does
    not exist from the working directory, it is looked for among this
    project's configs, so that ``configs/cppe5/faster_rcnn.py`` works from
    any directory. Everything else is passed on as it is.

    Args:
        name: the script, as ``'test.py'``.
        arguments: what follows the script's name.
    """
    given = list(arguments)
    for index, argument in enumerate(given):
        if argument.endswith('.py'):
            given[index] = find_config(argument)
            break
    script = str(mmdet_tool(name))
    before = sys.argv
    sys.argv = [script, *given]
    try:
        runpy.run_path(script, run_name='__main__')
    finally:
        sys.argv = before
