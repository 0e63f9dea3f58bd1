"""Whether a score says how likely a detection is to be right."""

from __future__ import annotations

import numpy as np

from mmdet_cppe5.figures import style
from mmdet_cppe5.figures.style import Drawing

_FARTHEST = 1e300  # a score beyond cannot be drawn


def score_histogram(
    edges: np.ndarray, hits: np.ndarray, alarms: np.ndarray
) -> Drawing:
    """Draw how the scores of hits and of false alarms are spread.

    Args:
        edges: edges of the score bins, ``(B + 1,)``.
        hits: how many true positives fall into each bin, ``(B,)``.
        alarms: how many false positives, ``(B,)``.
    """
    figure, axes = style.new_axes(grid='y')
    edges = np.asarray(edges, dtype=float)
    total = int(np.sum(hits) + np.sum(alarms))
    steep = False
    if total:
        # Scores may be near the largest number there is.
        edges = np.clip(edges, -_FARTHEST, _FARTHEST)
        axes.stairs(
            alarms,
            edges,
            fill=True,
            color=style.CONTRAST,
            alpha=0.3,
            label=f'false alarms ({np.sum(alarms):,.0f})',
        )
        axes.stairs(alarms, edges, color=style.CONTRAST, linewidth=1.2)
        axes.stairs(
            hits,
            edges,
            color=style.ACCENT,
            linewidth=2,
            label=f'hits ({np.sum(hits):,.0f})',
        )
        # Low scores are often a thousand times as many as high ones.
        steep = max(np.max(hits), np.max(alarms)) > 100
        if steep:
            axes.set_yscale('symlog', linthresh=10)
        else:
            axes.yaxis.get_major_locator().set_params(integer=True)
        axes.set_ylim(0, None)
        axes.yaxis.set_major_formatter('{x:,.0f}')
    else:
        style.note(axes, 'no detections')
    style.name_axes(axes, 'score', 'detections')
    style.legend(axes, ncols=2, loc='lower center', bbox_to_anchor=(0.5, 1))
    return Drawing(
        'score-histogram',
        'Scores of hits and false alarms',
        'How many detections have which score; hits reach IoU 0.50 with '
        'an object of their class. The less the two outlines overlap, the '
        'better a threshold can separate them.'
        + (
            ' The vertical axis is linear up to 10 and logarithmic above.'
            if steep
            else ''
        ),
        f'{np.sum(hits):.0f} hits and {np.sum(alarms):.0f} false alarms.',
        figure,
    )


def reliability(
    scores: np.ndarray,
    precision: np.ndarray,
    counts: np.ndarray,
    error: float = float('nan'),
    lowest: float = 0.0,
) -> Drawing:
    """Draw the share of hits against the score they claim.

    Args:
        scores: mean score of each bin, ``(B,)``, NaN for empty bins.
        precision: share of hits in each bin, ``(B,)``, NaN for empty bins.
        counts: detections in each bin, ``(B,)``.
        error: the expected calibration error, a fraction.
        lowest: detections with a lower score were left out.
    """
    figure, axes = style.new_axes(4.6, 3.6)
    axes.plot([0, 1], [0, 1], color=style.MUTED, linewidth=1, linestyle='--')
    known = np.asarray(counts) > 0
    if known.any():
        share = np.sqrt(np.asarray(counts)[known] / np.max(counts))
        axes.vlines(
            np.asarray(scores)[known],
            np.asarray(scores)[known],
            np.asarray(precision)[known],
            color=style.GRID,
            linewidth=3,
        )
        axes.plot(
            np.asarray(scores)[known],
            np.asarray(precision)[known],
            color=style.ACCENT,
            linewidth=1.4,
        )
        axes.scatter(
            np.asarray(scores)[known],
            np.asarray(precision)[known],
            s=14 + 90 * share,
            color=style.ACCENT,
            zorder=3,
        )
        axes.text(
            0.04,
            0.94,
            f'ECE {style.percent(error)} %',
            fontsize=10,
            fontweight='bold',
            color=style.INK,
            transform=axes.transAxes,
            va='top',
        )
    else:
        style.note(axes, 'no detections')
    axes.set_xlim(0, 1.02)
    axes.set_ylim(0, 1.02)
    style.name_axes(axes, 'score a detection claims', 'share that are hits')
    return Drawing(
        'reliability',
        'Reliability of the scores',
        f'Detections with a score of {lowest:g} or more, in bins of equal '
        'width; a bigger dot is more detections. On the dashed line a score '
        'of 0.8 is right in 8 of 10 cases; below it the detector is '
        'overconfident, above it underconfident. ECE is the mean distance '
        'from the line, weighted by the number of detections.',
        f'Expected calibration error {style.percent(error)} percent over '
        f'{np.sum(counts):.0f} detections.',
        figure,
    )
