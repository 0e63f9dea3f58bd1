"""Where a command's numbers and words go."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from typing import Any, Optional, TextIO, Union

from mmdet_cppe5.files import write_json
from mmdet_cppe5.scores.formats import Table, write_parts

STANDARD_OUTPUT = '-'


def text_stream(json_path: Optional[str]) -> TextIO:
    """Return the stream for tables: standard error beside JSON on output."""
    return sys.stderr if json_path == STANDARD_OUTPUT else sys.stdout


def print_parts(
    parts: Iterable[Union[Table, str]],
    form: str = 'text',
    stream: Optional[TextIO] = None,
) -> None:
    """Print tables and text, as wide as the terminal where there is one.

    Args:
        parts: see :func:`mmdet_cppe5.scores.formats.write_parts`.
        form: what ``--format`` was given.
        stream: standard output if None.
    """
    stream = stream or sys.stdout
    known = stream.isatty() or 'COLUMNS' in os.environ
    width = shutil.get_terminal_size().columns if known else None
    print(write_parts(parts, form, width), file=stream)


def write_numbers(path: Optional[str], document: Mapping[str, Any]) -> None:
    """Write JSON to a file, to standard output for ``-``, or nowhere.

    Args:
        path: what ``--json`` was given; None writes nothing.
        document: what to write.
    """
    if path is None:
        return
    if path == STANDARD_OUTPUT:
        json.dump(document, sys.stdout, indent=1, allow_nan=False)
        print()
        return
    write_json(path, document, 1)
    print(f'Wrote {path}\n')
