"""Colours as (red, green, blue), 0 to 255."""

from __future__ import annotations

from PIL import ImageColor

Colour = tuple[int, ...]


def palette(text: str) -> tuple[Colour, ...]:
    """Read colours written as ``'#rrggbb #rrggbb'``."""
    return tuple(ImageColor.getrgb(colour) for colour in text.split())


def shade(colour: Colour, factor: float) -> Colour:
    """Darken (``factor`` < 1) or lighten (> 1) a colour."""
    return tuple(min(255, round(value * factor)) for value in colour)


def mix(first: Colour, second: Colour, share: float) -> Colour:
    """Blend two colours; ``share`` 0 gives ``first``, 1 gives ``second``."""
    return tuple(round(a + (b - a) * share) for a, b in zip(first, second))


WHITE, GLASS, STEEL = palette('#fafafa #c4e2f0 #a8b2bc')
ACCENTS = palette('#5ca09c #e29e5c #6c8cc4 #cc7074 #84a868 #967ab2 #ecc464')
