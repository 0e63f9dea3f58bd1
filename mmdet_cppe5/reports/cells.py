"""Numbers and names as table cells."""

from __future__ import annotations

import math
from typing import Optional

from mmdet_cppe5.figures.style import percent
from mmdet_cppe5.reports.page import Cell


def points(
    value: float,
    interval: Optional[tuple[float, float]] = None,
    bar: bool = True,
    digits: int = 1,
) -> Cell:
    """Return a fraction as points, with its interval and a bar behind it.

    Args:
        value: a fraction, NaN for undefined.
        interval: its low and high end.
        bar: whether to draw the bar.
        digits: after the point.
    """
    if not math.isfinite(value):
        return Cell('–')
    return Cell(
        percent(value, digits),
        round(float(value), 6),
        span(interval),
        min(max(float(value), 0), 1) if bar else None,
    )


def span(interval: Optional[tuple[float, float]]) -> str:
    """Return an interval of fractions in points, or nothing."""
    if interval is None or not all(map(math.isfinite, interval)):
        return ''
    low, high = interval
    if low < 0:
        return f'{percent(low)} to {percent(high)}'.replace('-', '−')
    return f'{percent(low)}–{percent(high)}'


def count(value: int) -> Cell:
    """Return a whole number."""
    return Cell(f'{int(value):,}', int(value))


def word(text: str) -> Cell:
    """Return a name."""
    return Cell(text, text)
