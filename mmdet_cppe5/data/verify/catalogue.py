"""The kinds of findings: how grave each is, and how it is told.

``catalogue.txt`` lists them, one a line. An error stops training or
evaluation or makes it use wrong boxes; a warning may mean a mistake; an info
is a true fact that does no harm. What MMDetection 3.3.0 and pycocotools do
was seen by running them on such files.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

SEVERITIES = ('error', 'warning', 'info')


class Kind(NamedTuple):
    """A kind of finding.

    Attributes:
        severity: one of :data:`SEVERITIES`.
        case: what one case of it is, such as ``'image'``.
        text: what it is and what follows from it.
    """

    severity: str
    case: str
    text: str


def _read() -> dict[str, Kind]:
    lines = Path(__file__).with_suffix('.txt').read_text('utf-8').splitlines()
    rows = (line.split(maxsplit=3) for line in lines if line[:1] != '#')
    return {code: Kind(*kind, text) for *kind, code, text in rows}


CATALOGUE = _read()
