"""TIDE's errors: how they share the loss, overall and by class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Optional

import numpy as np

from mmdet_cppe5.figures import style
from mmdet_cppe5.figures.style import Drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# In TIDE's order; neighbours in the ring differ in lightness as well.
ERROR_COLOURS = {
    'Cls': '#cc79a7',
    'Loc': '#0072b2',
    'Both': '#56b4e9',
    'Dupe': '#009e73',
    'Bkg': '#d55e00',
    'Miss': '#563c8c',
}
ROWS = 25
# Ends of the two halves of :func:`shade`.
_PALE, _LIGHT = np.array([244, 247, 250]), np.array([140, 190, 228])
_DARK, _DARKEST = np.array([20, 88, 150]), np.array([8, 64, 120])
_LEAP = 0.55
# Less than what a table of AP points shows.
NEGLIGIBLE = 0.0005


def tide_summary(
    main: Mapping[str, float],
    special: Mapping[str, float],
    intervals: Optional[Mapping[str, tuple[float, float]]] = None,
    ap: float = float('nan'),
    threshold: float = 0.5,
) -> Drawing:
    """Draw what each kind of error costs: shares, main and special bars.

    Args:
        main: ΔAP of each main error, a fraction, in TIDE's order.
        special: ΔAP of the special errors.
        intervals: low and high ends of any of them by name.
        ap: AP at the threshold.
        threshold: the foreground IoU threshold.
    """
    figure = style.new_figure(9.4, 3.3)
    ring, bars, extra = figure.subplots(
        1, 3, gridspec_kw={'width_ratios': [1.05, 1.5, 0.95]}
    )
    _ring(ring, main)
    top = max(
        [100 * v for v in [*main.values(), *special.values()] if v == v]
        + [100 * high for _, high in (intervals or {}).values()]
        + [1]
    )
    colours = [ERROR_COLOURS.get(name, style.MUTED) for name in main]
    _bars(bars, main, colours, intervals, top)
    style.name_axes(bars, 'ΔAP', title='Main errors')
    _bars(extra, special, [style.MUTED, style.MUTED], intervals, top)
    style.name_axes(extra, 'ΔAP', title='Special errors')
    text = (
        f'AP points gained at IoU {threshold:.2f} (AP '
        f'{style.percent(ap)}) if all errors of one kind were fixed and '
        'everything else stayed the same. Cls: right place, wrong class; '
        'Loc: right class, poorly localised; Both: wrong class and poorly '
        'localised; Dupe: a second box on an object already found; Bkg: no '
        'object there; Miss: no detection of the object. The special errors '
        'are all false positives and all missed objects. The gains do not '
        'add up to 100 − AP.'
    )
    if intervals:
        text += ' Thin lines are intervals under resampling of the images.'
    said = ', '.join(
        f'{name} {style.percent(v)}'
        for name, v in [*main.items(), *special.items()]
    )
    return Drawing(
        'tide',
        'What each kind of error costs',
        text,
        f'ΔAP by error: {said}.',
        figure,
        wide=True,
    )


def _ring(axes: Axes, main: Mapping[str, float]) -> None:
    shares = np.nan_to_num(list(main.values()), nan=0.0)
    shares[shares < NEGLIGIBLE] = 0  # rounding, not a loss
    axes.set_axis_off()
    style.name_axes(axes, title='Share of the main errors')
    if not shares.sum():
        style.dress(axes, grid='none')
        axes.set_axis_off()
        style.note(axes, 'no error costs AP')
        return
    names = list(main)
    wedges, _ = axes.pie(
        shares,
        colors=[ERROR_COLOURS.get(name, style.MUTED) for name in names],
        startangle=90,
        counterclock=False,
        wedgeprops={'width': 0.42, 'edgecolor': style.PAPER, 'linewidth': 1.5},
    )
    angles = [np.deg2rad((each.theta1 + each.theta2) / 2) for each in wedges]
    heights = _apart(np.array(angles))
    for angle, height, name, share in zip(
        angles, heights, names, shares / shares.sum()
    ):
        if share < 0.03:
            continue
        right = np.cos(angle) >= 0
        axes.text(
            max(abs(1.12 * np.cos(angle)), 0.35) * (1 if right else -1),
            height,
            f'{name} {share:.0%}',
            ha='left' if right else 'right',
            va='center',
            fontsize=8.5,
            color=style.INK,
        )
    axes.set_aspect('equal', adjustable='datalim')
    axes.set_xlim(-1.75, 1.75)
    axes.set_ylim(-1.25, 1.25, auto=True)


def _apart(angles: np.ndarray, gap: float = 0.2) -> np.ndarray:
    """Return heights of labels round a ring, none on top of another.

    Args:
        angles: where the labels point to, ``(n,)`` radians.
        gap: least distance of two heights on one side.
    """
    heights = 1.12 * np.sin(angles)
    for side in (np.cos(angles) >= 0, np.cos(angles) < 0):
        order = np.flatnonzero(side)[np.argsort(heights[side])]
        for below, above in zip(order, order[1:]):
            heights[above] = max(heights[above], heights[below] + gap)
    return heights


def _bars(
    axes: Axes,
    values: Mapping[str, float],
    colours: Sequence[str],
    intervals: Optional[Mapping[str, tuple[float, float]]],
    top: float,
) -> None:
    style.dress(axes, grid='x')
    for row, (name, value) in enumerate(values.items()):
        gain = 100 * value if value == value else 0
        (bar,) = axes.barh(row, gain, 0.62, color=colours[row])
        if name in ERROR_COLOURS:
            style.link(bar, errors=[name])
        right = gain
        if intervals and name in intervals:
            low, high = 100 * np.asarray(intervals[name])
            axes.plot([low, high], [row, row], color=style.INK, linewidth=1.2)
            right = max(high, gain)
        axes.text(
            right + 0.02 * top,
            row,
            style.percent(value),
            va='center',
            fontsize=8.5,
            color=style.INK,
        )
    style.category_ticks(axes, list(values), size=9)
    axes.locator_params(axis='x', nbins=5)
    axes.set_xlim(0, 1.18 * top)
    axes.set_ylim(len(values) - 0.45, -0.55)


def tide_by_threshold(
    thresholds: np.ndarray, costs: Mapping[str, np.ndarray], ap: np.ndarray
) -> Drawing:
    """Draw how the cost of each kind of error changes with the threshold.

    Args:
        thresholds: the foreground IoU thresholds, ``(T,)``.
        costs: error name -> ΔAP at each threshold, ``(T,)``.
        ap: AP at each threshold, ``(T,)``.
    """
    figure, axes = style.new_axes(4.6, 3.2)
    for place, (name, cost) in enumerate(costs.items()):
        axes.plot(
            thresholds,
            100 * np.asarray(cost, dtype=float),
            color=ERROR_COLOURS.get(name, style.MUTED),
            marker=style.MARKERS[place % len(style.MARKERS)],
            ms=4,
            linewidth=1.5,
            label=name,
        )
    axes.set_ylim(0, None)
    style.name_axes(axes, 'IoU a detection must reach', 'ΔAP')
    style.legend(
        axes,
        loc='lower center',
        bbox_to_anchor=(0.5, 1),
        ncols=6,
        columnspacing=1,
        handlelength=1.6,
    )
    last = {name: cost[-1] for name, cost in costs.items()}
    fall = ''
    if ap[0] - ap[-1] > NEGLIGIBLE:
        fall = (
            f' AP falls from {style.percent(ap[0])} to '
            f'{style.percent(ap[-1])}.'
        )
    said = ', '.join(f'{name} {style.percent(v)}' for name, v in last.items())
    return Drawing(
        'tide-by-threshold',
        'Cost of errors by IoU threshold',
        'ΔAP of each kind of error when a true positive must reach a higher '
        'IoU. Boxes that fit well enough at a low threshold become Loc '
        f'errors at a higher one.{fall}',
        f'ΔAP at IoU {thresholds[-1]:.2f}: {said}.',
        figure,
    )


def tide_by_class(
    names: Sequence[str], costs: Mapping[str, np.ndarray]
) -> Drawing:
    """Draw ΔAP of every class and main error as a table of shades.

    Args:
        names: the classes, K of them.
        costs: error name -> ΔAP of each class, ``(K,)``, NaN where
            undefined.
    """
    errors = list(costs)
    values = np.array([np.asarray(costs[e], dtype=float) for e in errors]).T
    values = values.reshape(len(names), len(errors))
    loss = np.nan_to_num(values).sum(axis=1)
    order = np.argsort(-loss, kind='stable')[:ROWS]
    shown = values[order]
    figure = style.new_figure(4.6, max(0.75 + 0.3 * len(order), 2.4))
    axes = figure.add_subplot()
    style.dress(axes, grid='none')
    top = max(float(np.nanmax(shown, initial=0)), 0.01)
    for row, line in enumerate(shown):
        for column, value in enumerate(line):
            _cell(axes, column, row, value, top)
    axes.set_xlim(-0.5, len(errors) - 0.5)
    axes.set_ylim(max(len(order), 1) - 0.5, -0.5)
    style.category_ticks(axes, [names[i] for i in order])
    style.category_ticks(axes, errors, axis='x', size=9)
    axes.xaxis.tick_top()
    style.bare(axes)
    left_out = len(names) - len(order)
    said = '; '.join(
        f'{names[i]}: '
        + ', '.join(
            f'{e} {style.percent(v)}' for e, v in zip(errors, values[i])
        )
        for i in order[:8]
    )
    return Drawing(
        'tide-by-class',
        'Cost of errors by class',
        'ΔAP of each kind of error within one class, in AP points: the '
        'stronger the colour, the higher the cost. Classes that lose most '
        'come first'
        + (
            f'; the {left_out} classes that lose least are left out.'
            if left_out
            else '. A dash: the class has no objects.'
        ),
        said or 'No classes.',
        figure,
    )


def _cell(axes: Axes, column: int, row: int, value: float, top: float) -> None:
    """Draw one cell: a square as dark as its value, with the number."""
    from matplotlib.patches import Rectangle

    share = max(value, 0) / top if value == value else 0
    axes.add_patch(
        Rectangle(
            (column - 0.48, row - 0.46), 0.96, 0.92, facecolor=shade(share)
        )
    )
    axes.text(
        column,
        row,
        style.label(style.percent(value)),
        ha='center',
        va='center',
        fontsize=8.5,
        color=style.ink_on(shade(share)),
    )


def shade(share: float) -> str:
    """Return a blue for a share of 0..1: near white to near black.

    It leaps over the blues on which neither ink nor paper can be read well.
    """
    low, high, start = _PALE, _LIGHT, 0.0
    if share > _LEAP:
        low, high, start = _DARK, _DARKEST, _LEAP
    place = (np.clip(share, 0, 1) - start) / (
        _LEAP if not start else 1 - start
    )
    mixed = low + (high - low) * place
    return '#{:02x}{:02x}{:02x}'.format(*np.rint(mixed).astype(int))
