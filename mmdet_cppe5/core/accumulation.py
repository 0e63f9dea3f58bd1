"""From matches to the curves of COCO's evaluation."""

import numpy as np

from mmdet_cppe5.core.arrays import (
    BoolArray,
    Detections,
    FloatArray,
    GroundTruths,
    IntArray,
)
from mmdet_cppe5.core.curves import Curves, Term
from mmdet_cppe5.core.matching import Matches
from mmdet_cppe5.core.ordering import Ranking


def accumulate(
    matches: Matches,
    ranking: Ranking,
    detections: Detections,
    ranges: FloatArray,
    positives: IntArray,
    cap: int,
) -> Curves:
    """Line up the hits of every threshold, size range and class.

    A detection counts (as hit or false positive) if it took a counted object,
    or took none and is itself inside the size range.

    Args:
        matches: C candidates, in class order.
        ranking: D detections.
        detections: N detections.
        ranges: (A, 2) size ranges.
        positives: (A, K) counted objects.
        cap: Detections of this rank and beyond are left out.

    Returns:
        T * A * K curves, in this order, and two terms: all detections, with a
        layer per size range, and the candidates, with a layer per threshold
        and size range.
    """
    place = ranking.place[matches.dt]  # (C,)
    inside = ~outside_ranges(detections.area[ranking.rows], ranges)  # (A, D)
    took, hit = matches.code > 0, matches.hit  # (T, A, C)
    if cap < ranking.cap:
        within = ranking.rank < cap  # (D,)
        inside &= within
        took &= within[place]
        hit &= within[place]
    # What took something counts if that counts, whatever its own size.
    change = hit.view(np.int8) - (took & inside[:, place]).view(np.int8)

    num_cells = len(hit) * len(ranges)
    num_classes = len(ranking.class_start) - 1
    cell, candidate = np.divmod(np.flatnonzero(hit), max(len(place), 1))
    curve = cell * num_classes + ranking.label[place][candidate]  # (H,)
    layer = np.repeat(np.arange(num_cells), num_classes)  # (S,)
    return Curves(
        per_curve=np.bincount(curve, minlength=num_cells * num_classes),
        positives=np.tile(positives.ravel(), len(took)),
        place=place[candidate],
        terms=(
            Term(
                inside.view(np.int8),
                np.arange(len(ranking.rows)),
                ranking.class_start,
            ),
            Term(
                change.reshape(num_cells, len(place)),
                place,
                np.searchsorted(place, ranking.class_start),
            ),
        ),
        layers=(layer % len(ranges), layer),
        ends=(place[candidate] + 1, candidate + 1),
    )


def outside_ranges(areas: FloatArray, ranges: FloatArray) -> BoolArray:
    """Tell which areas lie outside which ranges.

    Args:
        areas: (N,) areas.
        ranges: (A, 2) lowest and highest area, both inside.

    Returns:
        (A, N) flags.
    """
    low, high = ranges[:, :1], ranges[:, 1:]  # (A, 1) each
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
