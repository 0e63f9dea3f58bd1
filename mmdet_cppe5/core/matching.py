"""COCO's greedy matching, for all thresholds and size ranges at once.

Inside an image and class the detections choose in descending score. Each
takes, among the ground truths that reach the threshold and are not taken, the
most similar counted one; if there is none, the most similar ignored one;
among equals the last. Crowd regions are never used up.

Groups (image, class) do not touch each other, so the r-th candidate of every
group can choose at the same time: the loop runs over r, not over detections.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mmdet_cppe5.core.arrays import (
    BoolArray,
    FloatArray,
    GroundTruths,
    IntArray,
)
from mmdet_cppe5.core.pairs import Pairs, run_starts

# Any counted ground truth is preferred to any ignored one.
_COUNTED = 1 << 30


@dataclass(frozen=True, eq=False)
class Matches:
    """What every candidate detection took.

    A candidate is a detection that reaches the lowest threshold with some
    ground truth of its image and class; no other detection can match.

    Attributes:
        dt: (C,) row of each candidate.
        chosen: (T, A, C) index into ``pairs`` of what it took, -1 for none.
        ignored: (T, A, C) whether it took an object that is not counted.
        pairs: The P candidate pairs.
    """

    dt: IntArray
    chosen: NDArray[np.int32]
    ignored: BoolArray
    pairs: Pairs

    def sorted_by(self, place: IntArray) -> 'Matches':
        """The same with candidates in ascending ``place`` (N,) of row."""
        order = np.argsort(place[self.dt])
        return Matches(
            self.dt[order],
            self.chosen[:, :, order],
            self.ignored[:, :, order],
            self.pairs,
        )


def match(
    pairs: Pairs,
    group: IntArray,
    ground_truths: GroundTruths,
    iou_thrs: FloatArray,
    gt_ignored: BoolArray,
) -> Matches:
    """Let every detection choose its ground truth.

    Args:
        pairs: Candidate pairs of one image and class each; detections in
            group order (see :class:`~mmdet_cppe5.core.ordering.Ranking`).
        group: (P,) number of each pair's image and class.
        ground_truths: G objects.
        iou_thrs: (T,) thresholds.
        gt_ignored: (A, G) objects not counted in each size range.
    """
    # As pycocotools has it: at a threshold of 1 equal boxes still match.
    thresholds = np.minimum(iou_thrs, 1 - 1e-10)
    enough = np.flatnonzero(pairs.similarity >= thresholds.min())
    pairs = _best_last(pairs.only(enough))
    start, count = pairs.runs()
    taken = np.zeros((len(thresholds), *gt_ignored.shape), np.bool_)
    code = np.zeros((*taken.shape[:2], len(start)), np.int32)
    chosen = np.full(code.shape, -1, np.int32)
    for turn in _turns(group[enough[start]]):
        best = _choose(
            start[turn],
            count[turn],
            pairs,
            thresholds,
            gt_ignored,
            ground_truths.crowd,
            taken,
        )
        code[:, :, turn] = best
        t, a, n = np.nonzero(best)
        pair = start[turn][n] + (best[t, a, n] & (_COUNTED - 1)) - 1
        chosen[t, a, turn[n]] = pair
        taken[t, a, pairs.gt[pair]] = True
    ignored = (code > 0) & (code < _COUNTED)
    return Matches(pairs.dt[start], chosen, ignored, pairs)


def _choose(
    start: IntArray,
    count: IntArray,
    pairs: Pairs,
    thresholds: FloatArray,
    gt_ignored: BoolArray,
    crowd: BoolArray,
    taken: BoolArray,
) -> NDArray[np.int32]:
    """Choose for detections of different groups.

    Args:
        start: (n,) first pair of each detection; its best pair comes last.
        count: (n,) number of its pairs.
        pairs: All candidate pairs.
        thresholds: (T,).
        gt_ignored: (A, G).
        crowd: (G,).
        taken: (T, A, G) objects that are gone.

    Returns:
        (T, A, n) 1 + the chosen one of the detection's pairs, plus
        ``_COUNTED`` if its ground truth counts; 0 for none.
    """
    best = np.zeros((*taken.shape[:2], len(start)), np.int32)
    for slot in range(int(count.max())):
        some = np.flatnonzero(count > slot)
        pair = start[some] + slot
        gt = pairs.gt[pair]
        may = pairs.similarity[pair] >= thresholds[:, None, None]
        may = may & (~taken[:, :, gt] | crowd[gt])
        rank = np.where(gt_ignored[:, gt], slot + 1, slot + 1 + _COUNTED)
        value = may * rank.astype(np.int32)
        if slot:
            value = np.maximum(value, best[:, :, some])
        best[:, :, some] = value
    return best


def _best_last(pairs: Pairs) -> Pairs:
    """Order each detection's pairs by similarity, then ground truth row."""
    run = np.cumsum(np.append(False, pairs.dt[1:] != pairs.dt[:-1]))
    order = np.lexsort((pairs.similarity, run[: len(pairs.dt)]))
    return pairs.only(order)


def _turns(group: IntArray) -> Iterator[IntArray]:
    """The first candidate of every group, then the second of every, ..."""
    start = run_starts(group)
    count = np.diff(np.append(start, len(group)))
    for turn in range(int(count.max(initial=0))):
        yield start[count > turn] + turn
