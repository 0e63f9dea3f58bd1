"""Figures of what a data set holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mmdet_cppe5.data.stats import SIZES, Statistics
from mmdet_cppe5.figures import style
from mmdet_cppe5.figures.style import Drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHADES = (0.35, 0.62, 1.0)
_MOST_CLASSES = 20


def draw_all(stats: Statistics) -> list[Drawing]:
    """Draw every figure of a data set."""
    return [
        class_counts(stats),
        boxes_per_image(stats),
        image_shapes(stats),
        box_shapes(stats),
        positions(stats),
        company(stats),
    ]


def _order(stats: Statistics) -> np.ndarray:
    """Return the classes to draw: all, or the most frequent ones."""
    counts = stats.class_sizes.sum(axis=1)
    if len(counts) <= _MOST_CLASSES:
        return np.arange(len(counts))
    return np.argsort(-counts, kind='stable')[:_MOST_CLASSES]


def _tint(colour: str, share: float) -> str:
    """Mix a colour with white, which unlike transparency hides the grid."""
    parts = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    mixed = (round(255 + (part - 255) * share) for part in parts)
    return '#{:02x}{:02x}{:02x}'.format(*mixed)


def class_counts(stats: Statistics) -> Drawing:
    """Draw the number of boxes by class, split by COCO's size bins."""
    order = _order(stats)
    names = [stats.class_names[k] for k in order]
    figure, axes = style.new_axes(5.4, max(2.2, 0.9 + 0.34 * len(names)), grid='x')
    colours = style.class_colours(names)
    sizes = stats.class_sizes[order]
    left = np.zeros(len(order))
    for size, shade in enumerate(_SHADES):
        axes.barh(
            np.arange(len(order)),
            sizes[:, size],
            left=left,
            color=[_tint(colour, shade) for colour in colours],
            height=0.68,
            edgecolor=style.PAPER,
            linewidth=0.8,
        )
        left += sizes[:, size]
    images = stats.together.diagonal()[order]
    for row, (total, count) in enumerate(zip(left, images)):
        axes.annotate(
            f'{total:,.0f} in {count:,} images',
            (total, row),
            xytext=(4, 0),
            textcoords='offset points',
            va='center',
            fontsize=8,
            color=style.MUTED,
        )
    for size, shade in zip(SIZES, _SHADES):
        axes.barh([0], [0], color=_tint(style.MUTED, shade), label=size)
    axes.set_ylim(len(order) - 0.4, -0.6)
    axes.set_xlim(0, max(left.max(initial=0) * 1.3, 1))
    style.category_ticks(axes, names)
    style.name_axes(axes, x='boxes')
    style.legend(axes, ncols=3, loc='lower right', bbox_to_anchor=(1, 1),
           handlelength=1.2)  # fmt: skip
    said = ', '.join(f'{n} {t:.0f}' for n, t in zip(names[:12], left.tolist()))
    return Drawing(
        'class-counts',
        'Boxes by class and size',
        "Boxes by class; shades are COCO's size bins (small below 32², large "
        'from 96² square pixels).',
        f'Boxes by class: {said}.',
        figure,
    )


def boxes_per_image(stats: Statistics) -> Drawing:
    """Draw how many images have how many boxes."""
    counts = stats.boxes_per_image
    figure, axes = style.new_axes(grid='y')
    most = int(counts.max(initial=0))
    if len(counts):
        step = max(1, -(-(most + 1) // 40))
        edges = np.arange(-0.5, most + step + 0.5, step)
        axes.hist(counts, edges, color=style.ACCENT, edgecolor=style.PAPER, linewidth=0.8)
        mean = counts.mean()
        axes.axvline(mean, color=style.INK, linewidth=1, linestyle=':')
        axes.annotate(
            f'mean {mean:.2f}',
            (mean, 1),
            xycoords=('data', 'axes fraction'),
            xytext=(4, -2),
            textcoords='offset points',
            va='top',
            fontsize=8,
            color=style.INK,
        )
        axes.yaxis.get_major_locator().set_params(integer=True)
        axes.xaxis.get_major_locator().set_params(integer=True)
    else:
        style.note(axes, 'no images')
    style.name_axes(axes, x='boxes in an image', y='images')
    return Drawing(
        'boxes-per-image',
        'Boxes per image',
        'Number of images by number of boxes in them.',
        f'{len(counts):,} images with up to {most} boxes.',
        figure,
    )


def _spread(axes: Axes, values: np.ndarray, x: str, log: bool) -> None:
    """Draw a histogram of positive values with its median."""
    style.dress(axes, grid='y')
    style.name_axes(axes, x=x, y='images')
    if not len(values):
        style.note(axes, 'no images')
        return
    low, high = values.min(), values.max()
    if log:
        edges = np.geomspace(low / 1.02, high * 1.02, 31)
        axes.set_xscale('log')
        axes.minorticks_off()
        steps = (0.25, 1 / 3, 0.5, 2 / 3, 1, 1.5, 2, 3, 4)
        ticks = [t for t in steps if low / 1.1 <= t <= high * 1.1]
        axes.set_xticks(ticks, [f'{tick:.2g}' for tick in ticks])
    else:
        edges = np.linspace(0, high * 1.02, 31)
    axes.hist(values, edges, color=style.ACCENT, edgecolor=style.PAPER, linewidth=0.6)
    axes.axvline(np.median(values), color=style.INK, linewidth=1, linestyle=':')
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.set_title(
        f'median {np.median(values):,.3g}', fontsize=8, color=style.MUTED, loc='left'
    )


def image_shapes(stats: Statistics) -> Drawing:
    """Draw the sizes and the shapes of the images."""
    figure = style.new_figure(7.2, 2.8)
    left, right = figure.subplots(1, 2)
    _spread(left, stats.image_sides, '√(width × height), pixels', log=False)
    _spread(right, stats.image_ratios, 'width / height', log=True)
    right.set_ylabel('')
    return Drawing(
        'image-shapes',
        'Image sizes and shapes',
        'Images by the square root of their area, and by width over height. '
        'Dotted: median.',
        f'{len(stats.image_sizes):,} images.',
        figure,
        wide=True,
    )


def box_shapes(stats: Statistics) -> Drawing:
    """Draw the boxes' relative sizes and aspect ratios by class."""
    order = _order(stats)
    names = [stats.class_names[k] for k in order]
    figure = style.new_figure(7.2, max(2.4, 1.0 + 0.36 * len(names)))
    left, right = figure.subplots(1, 2, sharey=True)
    for axes, values, x in (
        (left, stats.relative_sides * 100, '√(share of the image), %'),
        (right, stats.box_ratios, 'width / height'),
    ):
        style.dress(axes, grid='x')
        _boxes_by_class(axes, stats, order, values)
        style.name_axes(axes, x=x)
    left.set_xlim(0, 100)
    right.set_xscale('log')
    right.minorticks_off()
    right.set_xticks(
        [0.125, 0.25, 0.5, 1, 2, 4, 8], ['⅛', '¼', '½', '1', '2', '4', '8']
    )
    right.axvline(1, color=style.MUTED, linewidth=0.8)
    right.set_xlim(0.1, 10)
    style.category_ticks(left, names)
    left.set_ylim(len(order) - 0.4, -0.6)
    right.tick_params(axis='y', length=0, labelleft=False)
    return Drawing(
        'box-shapes',
        'Box sizes and shapes by class',
        'Left: square root of the share of the image that a box covers. '
        'Right: width over height. Bars hold half of the boxes, whiskers '
        'nine tenths, the line is the median; dots are single boxes.',
        'Box sizes and aspect ratios by class.',
        figure,
        wide=True,
    )


def _boxes_by_class(
    axes: Axes, stats: Statistics, order: np.ndarray, values: np.ndarray
) -> None:
    """Draw one row of dots, whiskers and a box for each class."""
    colours = style.class_colours([stats.class_names[k] for k in order])
    jitter = np.random.default_rng(0).uniform(-0.28, 0.28, len(values))
    for row, (k, colour) in enumerate(zip(order, colours)):
        mine = np.flatnonzero(stats.label == k)
        if not len(mine):
            continue
        shown = mine[:: max(1, len(mine) // 500)]
        axes.scatter(
            values[shown],
            row + jitter[shown],
            s=5,
            color=colour,
            alpha=0.3,
            linewidth=0,
            zorder=1,
        )
        p5, p25, p50, p75, p95 = np.percentile(
            values[mine], (5, 25, 50, 75, 95)
        )
        axes.plot([p5, p95], [row, row], color=colour, lw=1.2, zorder=2)
        axes.plot(
            [p25, p75],
            [row, row],
            color=colour,
            lw=7,
            alpha=0.75,
            solid_capstyle='butt',
            zorder=3,
        )
        axes.plot(
            [p50, p50], [row - 0.2, row + 0.2], color=style.INK, lw=1.4, zorder=4
        )


def positions(stats: Statistics) -> Drawing:
    """Draw where in the images the boxes of each class lie."""
    style.require_matplotlib()
    from matplotlib.colors import PowerNorm

    order = _order(stats)
    columns = min(len(order), 5) or 1
    rows = -(-len(order) // columns) or 1
    figure = style.new_figure(1.45 * columns + 0.7, 1.55 * rows + 0.5)
    grid = figure.subplots(rows, columns, squeeze=False)
    maps = [stats.coverage(int(k)) for k in order]
    top = max((float(values.max()) for values in maps), default=1.0) or 1.0
    picture = None
    for axes, values, k in zip(grid.flat, maps, order):
        picture = axes.imshow(
            values,
            cmap='Blues',
            norm=PowerNorm(0.5, vmin=0, vmax=top),
            extent=(0, 1, 1, 0),
        )
        axes.set_title(
            style.label(stats.class_names[k], 18), fontsize=8.5, color=style.INK
        )
    for axes in grid.flat:
        axes.set_xticks([])
        axes.set_yticks([])
        for spine in axes.spines.values():
            spine.set_color(style.GRID)
    for axes in list(grid.flat)[len(order) :]:
        axes.set_visible(False)
    if picture is not None:
        bar = figure.colorbar(picture, ax=grid, shrink=0.8, aspect=18)
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=7.5, color=style.MUTED, labelcolor=style.INK)
        bar.ax.yaxis.set_major_formatter(lambda value, _: f'{value:.0%}')
    return Drawing(
        'positions',
        'Where the boxes lie',
        'Every image stretched to a square. Colour: share of the boxes of '
        'the class that cover the place (square-root scale).',
        'Heat maps of box positions, one for each class.',
        figure,
        wide=True,
    )


def company(stats: Statistics) -> Drawing:
    """Draw in how many images two classes come together."""
    order = _order(stats)
    names = [stats.class_names[k] for k in order]
    counts = stats.together[np.ix_(order, order)]
    have = np.maximum(counts.diagonal(), 1)
    shares = counts / have[:, None]
    np.fill_diagonal(shares, np.nan)
    side = 1.6 + 0.55 * max(len(names), 3)
    figure, axes = style.new_axes(side + 0.9, side, grid='none')
    axes.imshow(shares, cmap='Blues', vmin=0, vmax=1, aspect='equal')
    for row in range(len(names)):
        for column in range(len(names)):
            share = shares[row, column]
            axes.text(
                column,
                row,
                f'{counts[row, column]:,}'
                if row == column
                else f'{share:.0%}\n{counts[row, column]:,}',
                ha='center',
                va='center',
                fontsize=7 if len(names) <= 12 else 5,
                color=style.PAPER if share > 0.55 else style.INK,
            )
    style.category_ticks(axes, names)
    style.category_ticks(axes, names, axis='x')
    style.slant(axes)
    style.bare(axes)
    style.name_axes(axes, x='... also have', y='of the images with')
    return Drawing(
        'company',
        'Which classes come together',
        'Of the images that have the class of the row, the share (and '
        'number) that also have the class of the column. The diagonal has '
        'the number of images with the class.',
        'Matrix of classes that come together in images.',
        figure,
    )
