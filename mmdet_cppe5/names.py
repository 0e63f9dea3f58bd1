"""Which known name a misspelt one may be meant to be."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Optional


def nearest_name(name: str, known: Iterable[str]) -> Optional[str]:
    """Return the known name that is nearest, None if none is near.

    Names that differ in capitals, spaces, hyphens and underscores only come
    first, then the nearest by spelling.
    """
    plain = {_plain(each): each for each in known}
    close = difflib.get_close_matches(_plain(name), plain, 1, 0.7)
    return plain[close[0]] if close else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return such as ``"; did you mean 'Mask'?"``, ``''`` if none is near."""
    near = nearest_name(name, known)
    return '' if near is None else f'; did you mean {near!r}?'


def _plain(name: str) -> str:
    return re.sub(r'[\s_-]+', '', str(name)).casefold()
