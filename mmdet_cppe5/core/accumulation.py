"""From matches to the curves of COCO's evaluation."""

import numpy as np

from mmdet_cppe5.core.arrays import (
    BoolArray,
    Detections,
    FloatArray,
    GroundTruths,
    IntArray,
)
from mmdet_cppe5.core.curves import Curves, Layers
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
        T * A * K curves, in this order. The base has a layer per size range,
        the events are the candidates.
    """
    place = ranking.place[matches.dt]
    inside = ~outside_ranges(detections.area[ranking.rows], ranges)
    took = matches.chosen >= 0
    if cap < ranking.cap:
        within = ranking.rank < cap
        inside &= within
        took &= within[place]
    hit = took & ~matches.ignored
    own = inside[:, place]
    change = hit.view(np.int8) - (took & own).view(np.int8)

    t, a, c = np.nonzero(hit)
    label = detections.label[matches.dt]
    shape = (*hit.shape[:2], len(ranking.class_start) - 1)
    curve = np.ravel_multi_index((t, a, label[c]), shape)
    return Curves(
        per_curve=np.bincount(curve, minlength=int(np.prod(shape))),
        positives=np.broadcast_to(positives, shape).ravel(),
        base=Layers(inside.view(np.int8)),
        base_layer=a,
        events=Layers(change.reshape(shape[0] * shape[1], len(place))),
        event_layer=t * shape[1] + a,
        event=c,
        event_place=place,
        event_label=label,
        event_end=place + 1,
        class_start=ranking.class_start[:-1],
    )


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
