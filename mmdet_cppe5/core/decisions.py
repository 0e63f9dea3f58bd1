"""What became of every detection and object."""

from dataclasses import dataclass

import numpy as np

from mmdet_cppe5.core.arrays import (
    BoolArray,
    Detections,
    FloatArray,
    IntArray,
)
from mmdet_cppe5.core.matching import Matches
from mmdet_cppe5.core.ordering import Ranking


@dataclass(frozen=True, eq=False)
class Decisions:
    """What became of every detection and object, at one threshold and range.

    Attributes:
        matched_gt: (N,) row of the ground truth each detection matched, -1
            for none. Crowd and ignored objects can be matched too.
        similarity: (N,) similarity to ``matched_gt``; NaN where it is -1.
        true_positive: (N,) detection counted as a hit.
        false_positive: (N,) detection counted as a false alarm.
        ignored: (N,) detection not counted: on an ignored object, or
            unmatched and itself outside the size range.
        capped: (N,) detection beyond the cap per image and class; it was
            never looked at. Each detection is in exactly one of
            ``true_positive``, ``false_positive``, ``ignored``, ``capped``.
        matched_dt: (G,) row of the detection each object was matched by, -1
            for none; of several on a crowd region, the last.
        gt_ignored: (G,) object not counted: crowd, ignored, or outside the
            size range.
        false_negative: (G,) object counted and not matched.
    """

    matched_gt: IntArray
    similarity: FloatArray
    true_positive: BoolArray
    false_positive: BoolArray
    ignored: BoolArray
    capped: BoolArray
    matched_dt: IntArray
    gt_ignored: BoolArray
    false_negative: BoolArray


def decide(
    detections: Detections,
    ranking: Ranking,
    matches: Matches,
    cell: tuple[int, int],
    area_range: tuple[float, float],
    gt_ignored: BoolArray,
) -> Decisions:
    """Spell out the matches at one threshold and size range.

    Args:
        detections: N detections.
        ranking: Their order.
        matches: Candidates in class order.
        cell: Index of the threshold and of the size range.
        area_range: Lowest and highest area of the range.
        gt_ignored: (G,) objects not counted in the range.
    """
    t, a = cell
    taken = matches.taken_pair(t, a)
    some = np.flatnonzero(taken >= 0)
    dt, pair = matches.dt[some], taken[some]
    gt = matches.pairs.gt[pair]
    matched_gt = np.full(len(detections), -1)
    matched_gt[dt] = gt
    similarity = np.full(len(detections), np.nan)
    similarity[dt] = matches.pairs.similarity[pair]
    # Class order is score order, so on crowds the last one stays.
    matched_dt = np.full(len(gt_ignored), -1)
    matched_dt[gt] = dt

    capped = ranking.place < 0
    low, high = area_range
    ignored = (detections.area < low) | (detections.area > high)
    ignored[dt] = ~matches.hit[t, a, some]
    ignored &= ~capped
    counted = ~(ignored | capped)
    return Decisions(
        matched_gt=matched_gt,
        similarity=similarity,
        true_positive=counted & (matched_gt >= 0),
        false_positive=counted & (matched_gt < 0),
        ignored=ignored,
        capped=capped,
        matched_dt=matched_dt,
        gt_ignored=gt_ignored,
        false_negative=~gt_ignored & (matched_dt < 0),
    )
