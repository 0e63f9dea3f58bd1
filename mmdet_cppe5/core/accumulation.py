"""From matches to curves: which detections count, in ranking order."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmdet_cppe5.core.arrays import (
    BoolArray,
    Detections,
    FloatArray,
    GroundTruths,
    IntArray,
)
from mmdet_cppe5.core.matching import Matches
from mmdet_cppe5.core.ordering import Ranking


@dataclass(frozen=True, eq=False)
class Hits:
    """The hits of every curve, at one cap.

    There is one curve per threshold, size range and class, numbered
    ``(t * A + a) * K + k``.

    Attributes:
        curve: (H,) curve of each hit, ascending; inside a curve in ranking
            order.
        counted: (H,) counted detections of the curve up to and with the hit.
        place: (H,) place of the hit in class order.
        per_curve: (T, A, K) number of hits.
    """

    curve: IntArray
    counted: IntArray
    place: IntArray
    per_curve: IntArray


def outside_ranges(areas: FloatArray, ranges: FloatArray) -> BoolArray:
    """Tell which areas lie outside which ranges.

    Args:
        areas: (N,) areas.
        ranges: (A, 2) lowest and highest area, both inside.

    Returns:
        (A, N) flags.
    """
    low, high = ranges[:, :1], ranges[:, 1:]
    return (areas < low) | (areas > high)


def count_positives(
    ground_truths: GroundTruths, gt_ignored: BoolArray
) -> IntArray:
    """(A, K) ground truths that count, from (A, G) flags."""
    return np.stack(
        [
            np.bincount(
                ground_truths.label[~ignored],
                minlength=ground_truths.num_classes,
            )
            for ignored in gt_ignored
        ]
    )


def accumulate(
    matches: Matches,
    ranking: Ranking,
    detections: Detections,
    ranges: FloatArray,
    cap: int,
) -> Hits:
    """Line up the hits of every curve and count what comes before them.

    A detection counts (as hit or false positive) if it took a counted object,
    or took none and is itself inside the size range.

    Args:
        matches: C candidates, in class order.
        ranking: D detections.
        detections: N detections.
        ranges: (A, 2) size ranges.
        cap: Detections of this rank and beyond are left out.
    """
    place = ranking.place[matches.dt]
    within = ranking.rank < cap
    outside = outside_ranges(detections.area[ranking.rows], ranges)
    inside = within & ~outside
    # (A, D + 1): detections inside the range before each place, had none
    # matched anything; matches then change the count at few places.
    before = _count_before(inside)
    taken = (matches.chosen >= 0) & within[place]
    hit = taken & ~matches.ignored
    unmatched = inside[:, place] & ~taken
    change = (hit | unmatched).astype(np.int8) - inside[:, place]
    change_before = _count_before(change)

    label = detections.label[matches.dt]
    num_classes = len(ranking.class_start) - 1
    first = np.searchsorted(label, np.arange(num_classes))
    at_start = before[:, ranking.class_start[:-1]] + change_before[:, :, first]
    t, a, c = np.nonzero(hit)
    k = label[c]
    counted = (
        before[a, place[c] + 1]
        + change_before[t, a, c + 1]
        - at_start[t, a, k]
    )
    shape = (*hit.shape[:2], num_classes)
    curve = np.ravel_multi_index((t, a, k), shape)
    per_curve = np.bincount(curve, minlength=int(np.prod(shape)))
    return Hits(curve, counted, place[c], per_curve.reshape(shape))


def _count_before(flags: NDArray[Any]) -> IntArray:
    """Sum of what comes before each index of the last axis, and of all."""
    total = np.zeros((*flags.shape[:-1], flags.shape[-1] + 1), np.int32)
    np.cumsum(flags, axis=-1, dtype=np.int32, out=total[..., 1:])
    return total
