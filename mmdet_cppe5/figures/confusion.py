"""The confusion matrix: true and detected class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mmdet_cppe5.figures import style
from mmdet_cppe5.figures.style import Drawing
from mmdet_cppe5.figures.tide import shade

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# A larger matrix has unreadable cells; the most confused classes are kept.
LARGEST = 16
MISSED, NOTHING = 'missed', 'background'


def confusion_matrix(
    names: Sequence[str],
    counts: np.ndarray,
    score: float = float('nan'),
    iou: float = 0.5,
) -> Drawing:
    """Draw which classes are detected as which.

    Args:
        names: the classes, K of them.
        counts: ``(K + 1, K + 1)``; row: the object's class, column: the
            detection's class; the last row is detections on no object, the
            last column objects without detection.
        score: detections below it were left out.
        iou: overlap from which a detection belongs to an object.
    """
    counts = np.asarray(counts, dtype=float)
    shown, gathered = _most_confused(names, counts)
    row_names = [*(names[i] for i in shown), *(['other'] * gathered), NOTHING]
    column_names = [*row_names[:-1], MISSED]
    matrix = _gather(counts, shown, gathered)
    size = len(row_names)
    side = min(max(1.9 + 0.46 * size, 4.6), 9.4)
    figure = style.new_figure(side, 0.86 * side)
    axes = figure.add_subplot()
    style.dress(axes, grid='none')
    _cells(axes, matrix, row_names, small=size > 10)
    axes.set_xlim(-0.5, size - 0.5)
    axes.set_ylim(size - 0.5, -0.5)
    style.category_ticks(axes, row_names)
    style.category_ticks(axes, column_names, axis='x')
    style.slant(axes)
    style.bare(axes)
    axes.axhline(size - 1.5, color=style.INK, linewidth=1)
    axes.axvline(size - 1.5, color=style.INK, linewidth=1)
    style.name_axes(axes, 'detected as', 'in truth')
    right = np.trace(counts[:-1, :-1])
    missed, alarms = counts[:-1, -1].sum(), counts[-1, :-1].sum()
    wrong = counts[:-1, :-1].sum() - right
    return Drawing(
        'confusion',
        'Confusion matrix: true and detected class',
        'Rows are true classes, columns detected ones, at score ≥ '
        f'{score:.2f} and IoU ≥ {iou:.2f}. Correct detections lie on '
        'the diagonal; the last column counts missed objects, the last row '
        'detections on background. Colours compare within a row'
        + (
            f'. Only the {len(shown)} classes with the most confusions are '
            'shown; “other” gathers the rest.'
            if gathered
            else '.'
        ),
        f'{right:.0f} objects detected correctly, {wrong:.0f} as another '
        f'class, {missed:.0f} missed, {alarms:.0f} detections on background.',
        figure,
        wide=side > 6.5,
    )


def _most_confused(
    names: Sequence[str], counts: np.ndarray
) -> tuple[list[int], bool]:
    """Return which classes to show, and whether others are left over."""
    if len(names) <= LARGEST:
        return list(range(len(names))), False
    off = counts - np.diag(np.diag(counts))
    confused = (off.sum(axis=0) + off.sum(axis=1))[:-1]
    order = np.argsort(-confused, kind='stable')[: LARGEST - 1]
    return sorted(order.tolist()), True


def _gather(
    counts: np.ndarray, shown: list[int], gathered: bool
) -> np.ndarray:
    """Add the classes not shown up to one row and column."""
    size = len(shown) + gathered + 1
    place = np.full(len(counts), size - 2)
    place[shown] = np.arange(len(shown))
    place[-1] = size - 1
    matrix = np.zeros((size, size))
    np.add.at(matrix, (place[:, None], place[None, :]), counts)
    return matrix


def _cells(
    axes: Axes, matrix: np.ndarray, names: Sequence[str], small: bool
) -> None:
    from matplotlib.patches import Rectangle

    total = matrix.sum(axis=1, keepdims=True)
    shares = np.divide(
        matrix, total, out=np.zeros_like(matrix), where=total > 0
    )
    corner = len(matrix) - 1
    for row, column in np.ndindex(matrix.shape):
        if row == column == corner:
            continue
        share, count = shares[row, column], matrix[row, column]
        cell = Rectangle(
            (column - 0.48, row - 0.47), 0.96, 0.94, facecolor=shade(share)
        )
        axes.add_patch(cell)
        if count and row != column:
            style.link(cell, **_examples(names, row, column))
        axes.text(
            column,
            row,
            f'{count:.0f}' if count < 10000 else f'{count / 1000:.0f}k',
            ha='center',
            va='center',
            fontsize=7.5 if small else 9,
            color=style.ink_on(shade(share)),
        )


def _examples(
    names: Sequence[str], row: int, column: int
) -> dict[str, list[str]]:
    """Return errors and classes of the examples behind a cell."""
    last = len(names) - 1
    if column == last:
        return {'errors': ['Miss'], 'classes': [names[row]]}
    if row == last:
        return {'errors': ['Bkg', 'Label'], 'classes': [names[column]]}
    return {
        'errors': ['Cls', 'Both', 'Label'],
        'classes': [names[row], names[column]],
    }
