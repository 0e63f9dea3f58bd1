"""Average precision by class, by IoU threshold and by object size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Optional

import numpy as np

from mmdet_cppe5.figures import style
from mmdet_cppe5.figures.style import Drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# More classes than this are set in two columns, or drawn as a grey crowd.
ONE_COLUMN = 28
TELL_APART = 10
# A taller figure is not read; the best and the worst classes are kept.
MOST_CLASSES = 2 * ONE_COLUMN


def class_ap(
    names: Sequence[str],
    ap: np.ndarray,
    intervals: Optional[np.ndarray] = None,
    counts: Optional[Sequence[int]] = None,
    mean: float = float('nan'),
    level: float = 0.95,
) -> Drawing:
    """Draw the AP of every class, best first, with its interval.

    Args:
        names: the classes, K of them.
        ap: float ``(K,)``; NaN for a class without objects.
        intervals: low and high end of each class's interval, ``(K, 2)``.
        counts: how many objects each class has.
        mean: the AP over classes, drawn as a line.
        level: coverage of the intervals, for the caption.
    """
    ap = np.asarray(ap, dtype=float)
    known = np.flatnonzero(np.isfinite(ap))
    order = np.concatenate(
        [
            known[np.argsort(-ap[known], kind='stable')],
            np.flatnonzero(~np.isfinite(ap)),
        ]
    )
    left_out = max(len(order) - MOST_CLASSES, 0)
    if left_out:
        half = MOST_CLASSES // 2
        order = np.concatenate([order[:half], order[len(known) - half :]])
        order = order[:MOST_CLASSES]
    columns = 1 if len(order) <= ONE_COLUMN else 2
    parts = np.array_split(order, columns)
    rows = max(len(parts[0]), 1)
    # As tall as its neighbours on a page, or what many rows need.
    figure = style.new_figure(4.6 * columns, max(0.9 + rows * 0.25, 3.2))
    for part, axes in zip(
        parts, figure.subplots(1, columns, squeeze=False)[0]
    ):
        style.dress(axes, grid='x')
        _class_rows(axes, part, names, ap, intervals, counts)
        if np.isfinite(mean):
            axes.axvline(
                100 * mean, color=style.INK, linewidth=1, linestyle=':'
            )
        axes.set_ylim(rows - 0.4, -0.6)
    text = 'Each dot is the AP of one class (IoU 0.50 to 0.95), best first'
    if intervals is not None:
        text += (
            f'; the bar is its {level:.0%} interval under resampling of the '
            'images. Classes whose bars overlap could change places on '
            'other images'
        )
    if np.isfinite(mean):
        text += '. The dotted line is the mean over classes'
    if left_out:
        text += (
            f'. Only the best and the worst classes are drawn; {left_out} '
            'are left out'
        )
    said = ', '.join(f'{names[i]} {style.percent(ap[i])}' for i in order[:12])
    return Drawing(
        'class-ap',
        'AP by class',
        f'{text}.',
        f'AP by class, best first: {said or "no class"}.',
        figure,
        wide=columns > 1,
    )


def _class_rows(
    axes: Axes,
    part: np.ndarray,
    names: Sequence[str],
    ap: np.ndarray,
    intervals: Optional[np.ndarray],
    counts: Optional[Sequence[int]],
) -> None:
    colours = style.class_colours(names)
    for row, index in enumerate(part):
        if not np.isfinite(ap[index]):
            axes.text(
                1,
                row,
                'no objects',
                fontsize=8,
                color=style.MUTED,
                va='center',
            )
            continue
        right = 100 * ap[index]
        if intervals is not None and np.isfinite(intervals[index]).all():
            low, high = 100 * np.asarray(intervals[index])
            axes.plot(
                [low, high],
                [row, row],
                color=colours[index],
                linewidth=4,
                alpha=0.4,
                solid_capstyle='round',
            )
            right = max(high, right)
        axes.plot(100 * ap[index], row, 'o', color=colours[index], ms=6)
        axes.text(
            right + 2.5,
            row,
            style.percent(ap[index]),
            fontsize=8.5,
            color=style.INK,
            va='center',
        )
    shown = [names[i] for i in part]
    if counts is not None:
        shown = [f'{style.label(names[i])} ({counts[i]})' for i in part]
    style.category_ticks(axes, shown)
    axes.set_xlim(0, 112)
    axes.set_xticks(range(0, 101, 20))
    counted = ' (number of objects in brackets)' if counts is not None else ''
    style.name_axes(axes, f'AP{counted}')


def ap_by_iou(
    names: Sequence[str], thresholds: np.ndarray, ap: np.ndarray
) -> Drawing:
    """Draw how AP falls as boxes must fit better.

    Args:
        names: the classes, K of them.
        thresholds: the IoU thresholds, ``(T,)``.
        ap: float ``(T, K)``, NaN where undefined.
    """
    ap = np.asarray(ap, dtype=float).reshape(len(thresholds), len(names))
    figure, axes = style.new_axes()
    many = len(names) > TELL_APART
    for index, (name, colour) in enumerate(
        zip(names, style.class_colours(names))
    ):
        if not np.isfinite(ap[:, index]).any():
            continue
        axes.plot(
            thresholds,
            100 * ap[:, index],
            color=style.GRID if many else colour,
            linewidth=1 if many else 1.5,
            label=None if many else style.label(name, 18),
        )
    mean = _mean_known(ap)
    if np.isfinite(mean).any():
        axes.plot(
            thresholds,
            100 * mean,
            color=style.INK,
            linewidth=2.4,
            marker='o',
            ms=3.5,
            label='mean over classes',
        )
    else:
        style.note(axes, 'no class has objects')
    axes.set_ylim(0, 103)
    style.name_axes(axes, 'IoU a detection must reach', 'AP')
    style.legend(axes, loc='best')
    said = ', '.join(
        f'{style.percent(m)} at {t:.2f}' for t, m in zip(thresholds, mean)
    )
    return Drawing(
        'ap-by-iou',
        'AP by IoU threshold',
        'How AP falls as the boxes must fit better'
        + (', one grey line per class' if many else ', one line per class')
        + '. A curve that starts high and drops early finds the objects but '
        'localises them poorly; one that is low from the start misses '
        'or confuses them.',
        f'Mean AP by IoU threshold: {said}.',
        figure,
    )


def ap_by_size(
    sizes: Sequence[str],
    names: Sequence[str],
    ap: np.ndarray,
    counts: Optional[Sequence[int]] = None,
    intervals: Optional[np.ndarray] = None,
) -> Drawing:
    """Draw AP for small, medium and large objects.

    Args:
        sizes: names of the size ranges, A of them.
        names: the classes, K of them.
        ap: float ``(A, K)``, NaN where a class has no object of the size.
        counts: how many objects each size range has.
        intervals: interval of the mean of each range, ``(A, 2)``.
    """
    ap = np.asarray(ap, dtype=float).reshape(len(sizes), len(names))
    mean = _mean_known(ap)
    figure, axes = style.new_axes(4.6, 3.6, grid='y')
    places = np.arange(len(sizes))
    axes.bar(
        places, 100 * np.nan_to_num(mean), 0.62, color=style.ACCENT, alpha=0.28
    )
    few = len(names) <= TELL_APART
    colours = style.class_colours(names) if few else [style.MUTED] * len(names)
    offsets = np.linspace(-0.22, 0.22, len(names)) if len(names) > 1 else [0]
    for index, name in enumerate(names):
        axes.plot(
            places + offsets[index],
            100 * ap[:, index],
            'o',
            color=colours[index],
            ms=5 if few else 2.5,
            label=style.label(name, 18) if few else None,
        )
    for place, value in enumerate(mean):
        axes.text(
            place,
            2,
            style.percent(value),
            ha='center',
            fontsize=10,
            fontweight='bold',
            color=style.INK,
        )
    if intervals is not None:
        for place, (low, high) in enumerate(100 * np.asarray(intervals)):
            axes.plot(
                [place + 0.3] * 2, [low, high], color=style.INK, linewidth=1.4
            )
    shown = list(sizes)
    if counts is not None:
        shown = [f'{s}\n{c} objects' for s, c in zip(sizes, counts)]
    axes.set_xticks(places, shown, fontsize=8.5, color=style.INK)
    axes.set_ylim(0, 103)
    style.name_axes(axes, y='AP')
    style.legend(axes, ncols=3, loc='lower center', bbox_to_anchor=(0.5, 1))
    said = ', '.join(f'{s} {style.percent(m)}' for s, m in zip(sizes, mean))
    return Drawing(
        'ap-by-size',
        'AP by object size',
        'Bars: mean AP of small (area up to 32² pixels), medium (up to 96²) '
        'and large objects; dots: the classes. A size with few objects has '
        'an uncertain AP.',
        f'AP by size: {said}.',
        figure,
    )


def _mean_known(ap: np.ndarray) -> np.ndarray:
    """Return the mean over the last axis of what is defined, else NaN."""
    known = np.isfinite(ap)
    total = np.where(known, ap, 0).sum(axis=-1)
    number = known.sum(axis=-1)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)
