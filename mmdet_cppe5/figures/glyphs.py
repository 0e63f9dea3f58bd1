"""Class names of any script in figures: a font that has their characters."""

from __future__ import annotations

import unicodedata
import warnings
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def complete_glyphs(figure: Figure) -> None:
    """Give texts with characters that the usual font lacks one that has them.

    Where no font of the system has a character, its code (``U+53E3``) is
    written, and a warning says so once.
    """
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        if _is_right_to_left(text.get_text()) and not _lays_out():
            _warn_of_order_once()
        missing = set(text.get_text()) - _characters(_usual()) - {'\n'}
        if not missing:
            continue
        families, unknown = [], set()
        for character in sorted(missing):
            family = _family_with(character)
            if family is None:
                unknown.add(character)
            elif family not in families:
                families.append(family)
        if families:
            text.set_fontfamily([*text.get_fontfamily(), *families])
        if unknown:
            _warn_once()
            text.set_text(
                ''.join(
                    f'U+{ord(c):04X} ' if c in unknown else c
                    for c in text.get_text()
                ).rstrip()
            )


def _is_right_to_left(text: str) -> bool:
    """Tell whether a text has letters such as Hebrew's or Arabic's."""
    return not text.isascii() and not {'R', 'AL'}.isdisjoint(
        map(unicodedata.bidirectional, text)
    )


def _lays_out() -> bool:
    """Tell whether matplotlib joins letters and orders them by script."""
    import matplotlib

    return matplotlib.__version_info__[:2] >= (3, 11)


@lru_cache(maxsize=1)
def _warn_of_order_once() -> None:
    warnings.warn(
        'Figures show class names that run from right to left in the wrong '
        'order and unjoined: matplotlib lays them out from 3.11 on.',
        stacklevel=2,
    )


@lru_cache(maxsize=1)
def _usual() -> str:
    """Return the file of the font that figures are written in."""
    from matplotlib.font_manager import findfont

    return findfont('sans')


@cache
def _characters(path: str) -> frozenset[str]:
    """Return the characters that a font file has."""
    from matplotlib.ft2font import FT2Font

    try:
        return frozenset(map(chr, FT2Font(path).get_charmap()))
    except (OSError, RuntimeError, ValueError):
        return frozenset()


@lru_cache(maxsize=4096)
def _family_with(character: str) -> str | None:
    """Return a font family of the system that has a character."""
    from matplotlib.font_manager import fontManager

    seen = set()
    for font in fontManager.ttflist:
        if font.name not in seen and font.style == 'normal':
            seen.add(font.name)
            if character in _characters(font.fname):
                return font.name
    return None


@lru_cache(maxsize=1)
def _warn_once() -> None:
    warnings.warn(
        'No font of this system has some characters of the class names; '
        'figures show their codes. A font such as Noto Sans CJK has them.',
        stacklevel=2,
    )
