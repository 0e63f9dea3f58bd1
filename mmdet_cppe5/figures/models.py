"""Several detectors side by side: intervals, differences, speed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Optional

import numpy as np

from mmdet_cppe5.figures import style
from mmdet_cppe5.figures.style import Drawing

# The contrast colour, dark enough for white letters.
WORSE = '#b34700'

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def model_intervals(
    names: Sequence[str],
    values: np.ndarray,
    intervals: np.ndarray,
    groups: Sequence[str] = (),
    metric: str = 'AP',
    level: float = 0.95,
) -> Drawing:
    """Draw the metric of each detector with its interval, best first.

    Args:
        names: the detectors, M of them, best first.
        values: the metric of each, ``(M,)``.
        intervals: low and high ends, ``(M, 2)``.
        groups: letters of each detector; two that share one are not
            significantly different.
        metric: its name.
        level: coverage of the intervals.
    """
    figure = style.new_figure(4.6, max(0.9 + 0.32 * len(names), 3.2))
    axes = figure.add_subplot()
    style.dress(axes, grid='x')
    intervals = 100 * np.asarray(intervals, dtype=float).reshape(-1, 2)
    values = np.asarray(values, dtype=float)
    ends = np.concatenate([intervals.ravel(), 100 * values])
    ends = ends[np.isfinite(ends)]
    low, high = (ends.min(), ends.max()) if len(ends) else (0, 100)
    room = max(high - low, 1)
    for row, value in enumerate(values):
        axes.plot(
            intervals[row],
            [row, row],
            color=style.ACCENT,
            linewidth=4.5,
            alpha=0.35,
            solid_capstyle='round',
        )
        axes.plot(100 * value, row, 'o', color=style.ACCENT, ms=6.5)
        end = np.nanmax([intervals[row, 1], 100 * value, low])
        text = style.percent(value)
        if groups:
            text += f'  {groups[row]}'
        axes.text(
            end + 0.03 * room,
            row,
            text,
            va='center',
            fontsize=8.5,
            color=style.INK,
        )
    axes.set_xlim(low - 0.08 * room, high + 0.3 * room)
    axes.set_ylim(max(len(names), 1) - 0.4, -0.6)
    style.category_ticks(axes, names)
    style.name_axes(axes, metric)
    said = ', '.join(
        f'{n} {style.percent(v)} ({a:.1f} to {b:.1f})'
        for n, v, (a, b) in zip(names, values, intervals)
    )
    return Drawing(
        'model-intervals',
        f'{metric} of each detector',
        f'Dots: {metric} on these images; bars: {level:.0%} intervals under '
        'resampling of the images, each detector by itself'
        + (
            '. Detectors that share a letter are not significantly '
            'different in a paired test'
            if groups
            else ''
        )
        + '. Judge by the paired differences, not by whether bars '
        'overlap.',
        f'{metric}: {said}.',
        figure,
    )


def difference_matrix(
    names: Sequence[str],
    differences: np.ndarray,
    significant: np.ndarray,
    groups: Sequence[str] = (),
    metric: str = 'AP',
    alpha: float = 0.05,
) -> Drawing:
    """Draw the paired differences of all detectors.

    Args:
        names: the detectors, M of them, best first.
        differences: row minus column, ``(M, M)``.
        significant: whether a difference is, ``(M, M)``.
        groups: letters of each detector.
        metric: its name.
        alpha: error rate over all pairs together.
    """
    size = max(len(names), 1)
    side = min(max(2.2 + 0.52 * size, 4.6), 11)
    figure = style.new_figure(side, 0.8 * side)
    axes = figure.add_subplot()
    style.dress(axes, grid='none')
    _difference_cells(axes, names, np.asarray(differences), significant)
    shown = [
        f'{style.label(n, 22)} ({g})' if g else n
        for n, g in zip(names, groups or [''] * size)
    ]
    style.category_ticks(axes, shown)
    style.category_ticks(axes, names, axis='x')
    style.slant(axes)
    axes.set_xlim(-0.5, size - 0.5)
    axes.set_ylim(size - 0.5, -0.5)
    style.bare(axes)
    number = int(np.triu(np.asarray(significant), 1).sum())
    pairs = len(names) * (len(names) - 1) // 2
    return Drawing(
        'model-differences',
        'Which differences are significant',
        f'{metric} points of the row minus the column, on the same images. '
        'Coloured and bold: significant in a paired test, corrected for '
        f'all {pairs} pairs (family-wise error rate {alpha:.0%}); grey: not '
        'significant. Detectors that share a letter are not significantly '
        'different.',
        f'{number} of {pairs} differences are significant.',
        figure,
        wide=side > 6.5,
    )


def _difference_cells(
    axes: Axes,
    names: Sequence[str],
    differences: np.ndarray,
    significant: np.ndarray,
) -> None:
    from matplotlib.patches import Rectangle

    size = 8.5 if len(names) <= 10 else 6.5
    for row, column in np.ndindex(len(names), len(names)):
        if row == column:
            continue
        value = differences[row, column]
        sure = bool(significant[row][column])
        colour = (style.ACCENT if value > 0 else WORSE) if sure else style.GRID
        axes.add_patch(
            Rectangle(
                (column - 0.47, row - 0.46), 0.94, 0.92, facecolor=colour
            )
        )
        axes.text(
            column,
            row,
            f'{100 * value:+.1f}'.replace('-', '−') if value == value else '–',
            ha='center',
            va='center',
            fontsize=size,
            fontweight='bold' if sure else 'normal',
            color=style.ink_on(colour),
        )


def speed_accuracy(
    names: Sequence[str],
    values: np.ndarray,
    milliseconds: np.ndarray,
    intervals: Optional[np.ndarray] = None,
    metric: str = 'AP',
) -> Drawing:
    """Draw accuracy against the time per image.

    Args:
        names: the detectors, M of them.
        values: the metric of each, ``(M,)``.
        milliseconds: time per image of each, ``(M,)``.
        intervals: low and high ends of the metric, ``(M, 2)``.
        metric: its name.
    """
    figure, axes = style.new_axes(4.6, 3.8)
    values = 100 * np.asarray(values, dtype=float)
    times = np.asarray(milliseconds, dtype=float)
    best = _undominated(values, times)
    if not len(names):
        style.note(axes, 'no detectors')
    for index, name in enumerate(names):
        colour = style.GENERIC[index % len(style.GENERIC)]
        if intervals is not None:
            axes.plot(
                [times[index]] * 2,
                100 * np.asarray(intervals[index]),
                color=colour,
                linewidth=1.2,
                alpha=0.6,
            )
        axes.plot(
            times[index],
            values[index],
            style.MARKERS[index % len(style.MARKERS)],
            color=colour,
            ms=7,
        )
        axes.annotate(
            style.label(name, 22),
            (times[index], values[index]),
            xytext=(6, 5),
            textcoords='offset points',
            fontsize=8,
            color=style.INK,
            bbox=style.plate(),
            zorder=1,
        )
    front = sorted(best, key=lambda i: times[i])
    axes.plot(
        times[front],
        values[front],
        color=style.MUTED,
        linewidth=1,
        ls=':',
        zorder=1,
    )
    if len(times) and times.min() > 0 and times.max() / times.min() > 8:
        _log_times(axes)
    axes.margins(x=0.25, y=0.15)
    if axes.get_xscale() == 'linear':
        axes.set_xlim(left=0)
    style.name_axes(axes, 'milliseconds per image', metric)
    said = ', '.join(
        f'{n} {v:.1f} at {t:.1f} ms' for n, v, t in zip(names, values, times)
    )
    return Drawing(
        'speed-accuracy',
        'Speed and accuracy',
        f'{metric} against the time per image; up and to the left is '
        'better. The dotted line joins the detectors that no other beats in '
        'both. Vertical lines are intervals of the accuracy.',
        f'{said}.',
        figure,
    )


def _log_times(axes: Axes) -> None:
    """Make the times logarithmic, with plain numbers at 1, 2, 5, 10 ..."""
    from matplotlib.ticker import LogLocator, NullLocator

    axes.set_xscale('log')
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter('{x:g}')


def _undominated(values: np.ndarray, times: np.ndarray) -> list[int]:
    """Return who is beaten by nobody in both accuracy and time."""
    return [
        i
        for i in range(len(values))
        if not np.any(
            (values >= values[i])
            & (times <= times[i])
            & ((values > values[i]) | (times < times[i]))
        )
    ]
