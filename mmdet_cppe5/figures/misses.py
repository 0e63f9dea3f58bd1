"""Where in the picture, and at which sizes, objects are missed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mmdet_cppe5.figures import style
from mmdet_cppe5.figures.style import Drawing
from mmdet_cppe5.figures.tide import shade

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Above this many objects single dots hide each other: shares are drawn.
DOTS = 3000


def miss_positions(
    x: np.ndarray, y: np.ndarray, missed: np.ndarray, threshold: float = 0.5
) -> Drawing:
    """Draw where in the picture objects are found and missed.

    Args:
        x: centre of each object as a share of the image's width, ``(G,)``.
        y: the same of the height, from the top.
        missed: whether no detection reaches the object, bool ``(G,)``.
        threshold: the IoU to be reached.
    """
    figure, axes = style.new_axes(4.6, 3.7, grid='none')
    _found_and_missed(
        axes, x, y, missed, (np.linspace(0, 1, 13), np.linspace(0, 1, 10))
    )
    axes.set_xlim(0, 1)
    axes.set_ylim(1, 0)
    ticks = [0, 0.5, 1]
    axes.set_xticks(ticks, ['left', 'middle', 'right'])
    axes.set_yticks(ticks, ['top', 'middle', 'bottom'])
    return Drawing(
        'miss-positions',
        'Where objects are missed',
        f'{_shown(missed, "Centre of every object")}, all pictures stretched '
        f'to one frame. Missed: no detection of its class reaches IoU '
        f'{threshold:.2f}, however low its score. Misses along one edge '
        'point at cropping or padding.',
        _said(missed),
        figure,
    )


def miss_sizes(
    width: np.ndarray,
    height: np.ndarray,
    missed: np.ndarray,
    threshold: float = 0.5,
) -> Drawing:
    """Draw at which sizes objects are found and missed.

    Args:
        width: of each object in pixels, ``(G,)``.
        height: of each object in pixels.
        missed: whether no detection reaches the object, bool ``(G,)``.
        threshold: the IoU to be reached.
    """
    figure, axes = style.new_axes(4.6, 3.7)
    width = np.maximum(np.asarray(width, dtype=float), 1)
    height = np.maximum(np.asarray(height, dtype=float), 1)
    axes.set_xscale('log', base=2)
    axes.set_yscale('log', base=2)
    low, high = 4.0, 512.0
    if len(width):
        both = np.concatenate([width, height])
        low, high = both.min() / 1.3, both.max() * 1.3
    steps = np.geomspace(low, high, 13)
    _found_and_missed(axes, width, height, missed, (steps, steps))
    line = np.array([low, high])
    for side, name in ((32, 'small | medium'), (96, 'medium | large')):
        axes.plot(
            line, side**2 / line, color=style.MUTED, linewidth=0.9, ls='--'
        )
        if low < side < high:
            # Beside the line, where it enters at the top or the left.
            x = max(side**2 / high * 1.15, low * 1.15)
            axes.text(
                x,
                side**2 / x,
                name,
                fontsize=7.5,
                color=style.MUTED,
                va='bottom',
            )
    axes.set_xlim(low, high)
    axes.set_ylim(low, high)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter('{x:.0f}')
    style.name_axes(axes, 'width in pixels', 'height in pixels')
    return Drawing(
        'miss-sizes',
        'Sizes at which objects are missed',
        f'{_shown(missed, "Width and height of every object")}, on '
        'logarithmic axes. The dashed lines part small, medium and large '
        'objects by area (32² and 96² pixels). Misses in the lower left '
        'corner ask for a larger input size.',
        _said(missed),
        figure,
    )


def _shown(missed: np.ndarray, what: str) -> str:
    if len(missed) <= DOTS:
        return what
    return (
        f'{what}, gathered in cells: the stronger the colour, the more are '
        'missed'
    )


def _said(missed: np.ndarray) -> str:
    total = len(missed)
    number = int(np.sum(missed))
    share = number / total if total else float('nan')
    return (
        f'{number} of {total} objects are missed ({style.percent(share)} %).'
    )


def _found_and_missed(
    axes: Axes,
    x: np.ndarray,
    y: np.ndarray,
    missed: np.ndarray,
    cells: tuple[np.ndarray, np.ndarray],
) -> None:
    """Draw dots, or shares in cells when there are too many objects."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    missed = np.asarray(missed, dtype=bool)
    if not len(missed):
        style.note(axes, 'no objects')
        return
    if len(missed) <= DOTS:
        many = 16 if len(missed) < 500 else 7
        axes.scatter(
            x[~missed],
            y[~missed],
            s=many,
            facecolor='none',
            edgecolor=style.ACCENT,
            linewidth=0.8,
            alpha=0.6,
            label=f'found ({np.sum(~missed)})',
        )
        axes.scatter(
            x[missed],
            y[missed],
            s=1.6 * many,
            marker='X',
            color=style.CONTRAST,
            linewidth=0,
            label=f'missed ({np.sum(missed)})',
        )
        style.legend(
            axes, ncols=2, loc='lower center', bbox_to_anchor=(0.5, 1)
        )
        return
    _cells(axes, x, y, missed, cells)


def _cells(
    axes: Axes,
    x: np.ndarray,
    y: np.ndarray,
    missed: np.ndarray,
    cells: tuple[np.ndarray, np.ndarray],
) -> None:
    from matplotlib.patches import Rectangle

    across, down = cells
    total = np.histogram2d(x, y, bins=cells)[0]
    lost = np.histogram2d(x[missed], y[missed], bins=cells)[0]
    for i, j in np.argwhere(total >= 10):
        share = lost[i, j] / total[i, j]
        axes.add_patch(
            Rectangle(
                (across[i], down[j]),
                across[i + 1] - across[i],
                down[j + 1] - down[j],
                facecolor=shade(share),
                edgecolor=style.GRID,
                linewidth=0.5,
            )
        )
    axes.set_title(
        f'{style.percent(missed.mean())} % missed; white: under 10 objects',
        fontsize=8.5,
        color=style.INK,
        loc='left',
    )
