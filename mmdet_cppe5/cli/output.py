"""Where a command's numbers and words go."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any, Optional, TextIO

from mmdet_cppe5.files import write_json

STANDARD_OUTPUT = '-'


def text_stream(json_path: Optional[str]) -> TextIO:
    """Return the stream for tables: standard error beside JSON on output."""
    return sys.stderr if json_path == STANDARD_OUTPUT else sys.stdout


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
