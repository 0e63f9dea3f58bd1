"""Precision against recall, and both against the score threshold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Optional

import numpy as np

from mmdet_cppe5.figures import style
from mmdet_cppe5.figures.style import Drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MANY = 10
PANELS = 9
_BELOW = {'loc': 'upper center', 'bbox_to_anchor': (0.5, -0.16), 'ncols': 2}


def recall_curves(
    names: Sequence[str],
    recall: np.ndarray,
    precision: np.ndarray,
    threshold: float = 0.5,
) -> Drawing:
    """Draw precision against recall at one IoU, one curve per class.

    Args:
        names: the classes, K of them.
        recall: the recall grid, ``(R,)``.
        precision: float ``(R, K)``, NaN for classes without objects.
        threshold: the IoU threshold, for the title.
    """
    figure, axes = style.new_axes(4.6, 3.6)
    known = np.isfinite(precision).any(axis=0)
    many = known.sum() > MANY
    area = np.where(known, np.nan_to_num(precision).mean(axis=0), np.nan)
    emphasised = _extremes(area) if many else np.flatnonzero(known)
    colours = style.GENERIC if many else style.class_colours(names)
    if many:
        for index in np.flatnonzero(known):
            axes.plot(
                recall, precision[:, index], color=style.GRID, linewidth=0.8
            )
    for place, index in enumerate(emphasised):
        axes.plot(
            recall,
            precision[:, index],
            color=colours[place if many else index],
            linestyle=style.LINE_STYLES[place // 4 if many else 0],
            linewidth=1.7,
            label=style.label(names[index], 20)
            + f'  {style.percent(area[index])}',
        )
    if not known.any():
        style.note(axes, 'no class has objects')
    axes.set_xlim(0, 1.01)
    axes.set_ylim(0, 1.03)
    style.name_axes(axes, 'recall', 'precision')
    place_legend = _BELOW if many else {'loc': 'lower left'}
    style.legend(
        axes, title='AP', title_fontsize=8, alignment='left', **place_legend
    )
    said = ', '.join(
        f'{names[i]} {style.percent(area[i])}' for i in emphasised
    )
    return Drawing(
        f'precision-recall-{round(100 * threshold)}',
        f'Precision and recall at IoU {threshold:.2f}',
        'As the score threshold falls, recall grows to the right and '
        'precision pays for it; the area under a curve is the AP at this '
        'IoU. A curve that ends early has objects no detection reaches'
        + (
            '; grey: all classes, coloured: the best and the worst.'
            if many
            else '.'
        ),
        f'AP at IoU {threshold:.2f}: {said or "no class has objects"}.',
        figure,
    )


def _extremes(area: np.ndarray, each: int = 4) -> np.ndarray:
    """Return the positions of the best and the worst known values."""
    order = [i for i in np.argsort(-area, kind='stable') if area[i] == area[i]]
    return np.array(order[:each] + order[-each:])


def _shade(position: float) -> str:
    """Return a blue from light (0) to dark (1)."""
    light, dark = np.array([110, 175, 225]), np.array([8, 48, 107])
    mixed = light + (dark - light) * position
    return '#{:02x}{:02x}{:02x}'.format(*np.rint(mixed).astype(int))


def iou_curves(
    names: Sequence[str],
    recall: np.ndarray,
    thresholds: np.ndarray,
    precision: np.ndarray,
) -> Drawing:
    """Draw each class's precision–recall curves at all IoU thresholds.

    Args:
        names: the classes, K of them.
        recall: the recall grid, ``(R,)``.
        thresholds: the IoU thresholds, ``(T,)``.
        precision: float ``(T, R, K)``, NaN for classes without objects.
    """
    area = np.nan_to_num(precision).mean(axis=(0, 1))
    known = np.flatnonzero(np.isfinite(precision).any(axis=(0, 1)))
    worst = known[np.argsort(area[known], kind='stable')][:PANELS]
    shown = np.sort(worst)
    columns = min(max(len(shown), 1), 3)
    rows = -(-max(len(shown), 1) // columns)
    figure = style.new_figure(9.3 if columns > 1 else 4.6, 0.5 + 2.3 * rows)
    grid = figure.subplots(
        rows, columns, sharex=True, sharey=True, squeeze=False
    )
    for axes in grid.flat[max(len(shown), 1) :]:
        axes.set_visible(False)
    for axes, index in zip(grid.flat, shown):
        _fan(axes, recall, thresholds, precision[..., index])
        style.name_axes(axes, title=style.label(names[index], 24))
    if len(shown):
        _common_legend(figure, grid[0, 0], 'IoU')
    else:
        style.dress(grid[0, 0])
        style.note(grid[0, 0], 'no class has objects')
    figure.supxlabel('recall', fontsize=9, color=style.INK)
    figure.supylabel('precision', fontsize=9, color=style.INK)
    left_out = len(known) - len(shown)
    return Drawing(
        'precision-recall-iou',
        'Precision and recall by class and IoU',
        'One panel per class, one curve per IoU threshold; the strictest '
        'ends first. Curves close together mean well-placed boxes; '
        'a wide fan means that many boxes only just fit'
        + (
            f'. The {len(shown)} classes with the lowest AP are drawn, '
            f'{left_out} better ones are left out.'
            if left_out
            else '.'
        ),
        'Mean AP of the classes drawn: '
        + ', '.join(f'{names[i]} {style.percent(area[i])}' for i in shown),
        figure,
        wide=columns > 1,
    )


def _fan(
    axes: Axes,
    recall: np.ndarray,
    thresholds: np.ndarray,
    precision: np.ndarray,
) -> None:
    """Draw one class's curves, ``(T, R)``, from light to dark."""
    style.dress(axes)
    last = max(len(thresholds) - 1, 1)
    for t, threshold in enumerate(thresholds):
        axes.plot(
            recall,
            precision[t],
            color=_shade(t / last),
            linewidth=1.3,
            label=f'{threshold:.2f}',
        )
    axes.set_xlim(0, 1.01)
    axes.set_ylim(0, 1.03)
    # Also where a neighbour below shares the axis but is left empty.
    axes.tick_params(labelbottom=True)


def _common_legend(figure: Figure, axes: Axes, title: str) -> None:
    """Put one legend in a row above all panels."""
    lines, labels = axes.get_legend_handles_labels()
    figure.legend(
        lines,
        labels,
        title=title,
        loc='outside upper center',
        ncols=len(labels) if figure.get_figwidth() > 5 else 5,
        fontsize=8,
        title_fontsize=8,
        frameon=False,
        labelcolor=style.INK,
        handlelength=1.6,
        columnspacing=1.4,
    ).get_title().set_color(style.INK)


def score_sweep(
    scores: np.ndarray,
    precision: np.ndarray,
    recall: np.ndarray,
    f1: np.ndarray,
    best: Optional[float] = None,
    iou: float = 0.5,
) -> Drawing:
    """Draw precision, recall and F1 of all classes against the threshold.

    Args:
        scores: score thresholds in ascending order, ``(N,)``.
        precision: ``(N,)``, NaN where nothing is detected.
        recall: ``(N,)``.
        f1: ``(N,)``.
        best: the threshold with the highest F1.
        iou: the IoU threshold of a hit, for the caption.
    """
    figure, axes = style.new_axes(4.6, 3.6)
    if len(scores):
        for values, name, line, colour in (
            (precision, 'precision', '--', style.MUTED),
            (recall, 'recall', ':', style.MUTED),
            (f1, 'F1', '-', style.INK),
        ):
            axes.plot(
                scores,
                values,
                line,
                color=colour,
                linewidth=2.2 if name == 'F1' else 1.6,
                label=name,
            )
    else:
        style.note(axes, 'no detections')
    said = 'There is no best threshold.'
    if best is not None and np.isfinite(best) and len(scores):
        place = int(np.argmin(np.abs(np.asarray(scores) - best)))
        axes.axvline(best, color=style.CONTRAST, linewidth=1.2)
        axes.plot(best, f1[place], 'o', color=style.CONTRAST, ms=6)
        left = best > np.mean(axes.get_xlim())
        # Low down, where no curve passes.
        axes.annotate(
            f'best F1 {style.percent(f1[place])}\nat score ≥ {best:.2f}',
            (best, 0.2),
            xytext=(-6 if left else 6, 0),
            textcoords='offset points',
            ha='right' if left else 'left',
            fontsize=8.5,
            color=style.INK,
            bbox=style.plate(),
        )
        said = (
            f'F1 is highest, {style.percent(f1[place])}, at score {best:.2f} '
            f'(precision {style.percent(precision[place])}, recall '
            f'{style.percent(recall[place])}).'
        )
    axes.set_ylim(0, 1.08)
    style.name_axes(
        axes, 'detections with at least this score are kept', 'fraction'
    )
    style.legend(axes, loc='lower center', ncols=3)
    return Drawing(
        'score-threshold',
        'Choosing a score threshold',
        f'Precision, recall and their harmonic mean F1 (hits at IoU {iou:.2f} '
        'and above, all classes together) if detections below a score are '
        'thrown away. Use the marked threshold where misses and false alarms '
        'cost the same; go left to miss less, right for fewer false alarms.',
        said,
        figure,
    )


def class_curves(
    names: Sequence[str],
    scores: np.ndarray,
    f1: np.ndarray,
    best: Sequence[float],
) -> Drawing:
    """Draw each class's F1 against the threshold, with its best point.

    Args:
        names: the classes, K of them.
        scores: score thresholds in ascending order, ``(N,)``.
        f1: ``(N, K)``, NaN where undefined.
        best: the threshold with the highest F1 of each class, ``(K,)``.
    """
    figure, axes = style.new_axes(4.6, 3.6)
    f1 = np.asarray(f1, dtype=float).reshape(len(scores), len(names))
    known = np.isfinite(f1).any(axis=0)
    peak = np.nan_to_num(f1, nan=-1).max(axis=0, initial=-1)
    peak[~known] = np.nan
    many = known.sum() > MANY
    colours = style.GENERIC if many else style.class_colours(names)
    if many:
        axes.plot(scores, f1[:, known], color=style.GRID, linewidth=0.8)
    shown = _extremes(peak) if many else np.flatnonzero(known)
    for place, index in enumerate(shown):
        colour = colours[place if many else index]
        axes.plot(
            scores,
            f1[:, index],
            color=colour,
            linestyle=style.LINE_STYLES[place // 4 if many else 0],
            linewidth=1.6,
            label=f'{style.label(names[index], 18)}  ≥ {best[index]:.2f}',
        )
        axes.plot(best[index], peak[index], 'o', color=colour, ms=5)
    if not known.any():
        style.note(axes, 'no detections, or no objects')
    axes.set_ylim(0, 1.08)
    style.name_axes(axes, 'detections with at least this score are kept', 'F1')
    style.legend(axes, **(_BELOW if many else {'loc': 'best'}))
    said = ', '.join(
        f'{names[i]} {style.percent(peak[i])} at {best[i]:.2f}' for i in shown
    )
    return Drawing(
        'score-threshold-class',
        'The best threshold differs by class',
        'F1 of each class against the score threshold; the dot is its best '
        'threshold. Where the dots lie far apart, one threshold for all '
        'classes costs accuracy'
        + (
            '. Grey: all classes, coloured: the best and the worst.'
            if many
            else '.'
        ),
        f'Best F1: {said or "none"}.',
        figure,
    )
