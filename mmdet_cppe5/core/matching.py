"""COCO's greedy matching, for all thresholds and size ranges at once.

Inside an image and class the detections choose in descending score. Each
takes, among the ground truths that reach the threshold and are not taken, the
most similar counted one; if there is none, the most similar ignored one;
among equals the last. Crowd regions are never used up.

Groups (image, class) do not touch each other, so the r-th candidate of every
group can choose at the same time: the loop runs over r, not over detections.
A *cell* is one threshold and size range; a choice is one small number per
candidate and cell, so all cells of a candidate are handled as one short row.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmdet_cppe5.core.arrays import (
    BoolArray,
    FloatArray,
    GroundTruths,
    IntArray,
)
from mmdet_cppe5.core.ordering import run_starts
from mmdet_cppe5.core.pairs import Pairs


@dataclass(frozen=True, eq=False)
class Matches:
    """What every candidate detection took.

    A candidate is a detection that reaches the lowest threshold with some
    ground truth of its image and class; no other detection can match.

    Attributes:
        dt: (C,) row of each candidate.
        pairs: Candidate pairs; those of one candidate stand together, the
            most similar last.
        first_pair: (C,) index of each candidate's first pair.
        code: (T, A, C) 0 where nothing was taken, else 1 + the number of the
            taken one among the candidate's pairs, plus ``counted_bit`` where
            what was taken counts.
        counted_bit: A power of two above every number of pairs.
    """

    dt: IntArray
    pairs: Pairs
    first_pair: IntArray
    code: NDArray[Any]
    counted_bit: int

    def taken_pair(self, t: int, a: int) -> IntArray:
        """(C,) index of the taken pair in one cell, -1 for none."""
        code = self.code[t, a].astype(np.int64)
        slot = (code & (self.counted_bit - 1)) - 1
        return np.where(code > 0, self.first_pair + slot, -1)

    @property
    def hit(self) -> BoolArray:
        """(T, A, C) whether a counted ground truth was taken."""
        hit: BoolArray = self.code >= self.counted_bit
        return hit


def match(
    pairs: Pairs,
    group: IntArray,
    ground_truths: GroundTruths,
    iou_thrs: FloatArray,
    gt_ignored: BoolArray,
    order: IntArray,
) -> Matches:
    """Let every detection choose its ground truth.

    Args:
        pairs: Candidate pairs of one image and class each; detections in
            group order (see :class:`~mmdet_cppe5.core.ordering.Ranking`).
        group: (P,) number of each pair's image and class.
        ground_truths: G objects.
        iou_thrs: (T,) thresholds.
        gt_ignored: (A, G) objects not counted in each size range.
        order: (N,) number of each detection; the candidates of the result
            stand in ascending order of it.
    """
    # As pycocotools has it: at a threshold of 1 equal boxes still match.
    thresholds = np.minimum(iou_thrs, 1 - 1e-10)
    enough = np.flatnonzero(pairs.similarity >= thresholds.min())
    group = group[enough]
    pairs = pairs.only(enough)
    start, count = pairs.runs()
    pairs = _best_last(pairs, start, count)
    chooser = _Chooser(pairs, ground_truths.crowd, thresholds, gt_ignored)
    code = chooser.choose(start, count, group[start])

    by_order = np.argsort(order[pairs.dt[start]])
    shape = (len(thresholds), len(gt_ignored), len(start))
    return Matches(
        dt=pairs.dt[start][by_order],
        pairs=pairs,
        first_pair=start[by_order],
        code=np.ascontiguousarray(code[by_order].T).reshape(shape),
        counted_bit=chooser.counted_bit,
    )


class _Chooser:
    """Chooses for many detections at once.

    Args:
        pairs: P candidate pairs.
        crowd: (G,) objects that are never used up.
        thresholds: (T,).
        gt_ignored: (A, G).
    """

    def __init__(
        self,
        pairs: Pairs,
        crowd: BoolArray,
        thresholds: FloatArray,
        gt_ignored: BoolArray,
    ) -> None:
        self._pairs = pairs
        self._crowd = crowd
        self._threshold = np.repeat(thresholds, len(gt_ignored))  # (T * A,)
        most = int(pairs.runs()[1].max(initial=0))
        self.counted_bit = 1 << most.bit_length()
        self._dtype = np.min_scalar_type(2 * self.counted_bit - 1)
        counts = np.where(gt_ignored.T, 0, self.counted_bit)  # (G, A)
        self._counts = np.tile(
            counts.astype(self._dtype), (1, len(thresholds))
        )  # (G, T * A)
        self._taken = np.zeros(self._counts.shape, np.bool_)  # (G, T * A)

    def choose(
        self, start: IntArray, count: IntArray, group: IntArray
    ) -> NDArray[Any]:
        """Return the codes of all candidates; see :class:`Matches`.

        Args:
            start: (C,) first pair of each candidate.
            count: (C,) number of its pairs.
            group: (C,) its group; candidates in group order.
        """
        code = np.zeros((len(start), len(self._threshold)), self._dtype)
        for turn in _turns(group):
            best = self._best(start[turn], count[turn])
            code[turn] = best
            # Nobody asks for what the last candidate of a group leaves.
            more = np.flatnonzero(
                group[np.minimum(turn + 1, len(group) - 1)] == group[turn]
            )
            self._take(start[turn[more]], count[turn[more]], best[more])
        return code

    def _best(self, start: IntArray, count: IntArray) -> NDArray[Any]:
        """(n, T * A) codes of candidates of different groups."""
        best = np.zeros((len(start), len(self._threshold)), self._dtype)
        for slot in range(int(count.max())):
            some = np.flatnonzero(count > slot)
            pair = start[some] + slot  # (n,)
            gt = self._pairs.gt[pair]
            may = self._pairs.similarity[pair, None] >= self._threshold
            may &= ~self._taken[gt]
            value = self._counts[gt]  # (n, T * A)
            value += slot + 1
            value *= may
            best[some] = np.maximum(best[some], value) if slot else value
        return best

    def _take(
        self, start: IntArray, count: IntArray, best: NDArray[Any]
    ) -> None:
        """Mark what was taken, (n, T * A) codes, as gone."""
        number = best & (self.counted_bit - 1)  # (n, T * A)
        for slot in range(int(count.max(initial=0))):
            some = np.flatnonzero(count > slot)
            gt = self._pairs.gt[start[some] + slot]
            some, gt = some[~self._crowd[gt]], gt[~self._crowd[gt]]
            self._taken[gt] |= number[some] == slot + 1


def _best_last(pairs: Pairs, start: IntArray, count: IntArray) -> Pairs:
    """Order each detection's pairs by similarity, then as they stand."""
    several = np.flatnonzero(np.repeat(count > 1, count))
    run = np.repeat(start, count)[several]  # (p,)
    order = np.arange(len(pairs.dt))
    by_run = np.lexsort((pairs.similarity[several], run))
    order[several] = several[by_run]
    return pairs.only(order)


def _turns(group: IntArray) -> Iterator[IntArray]:
    """The first candidate of every group, then the second of every, ..."""
    start = run_starts(group)
    count = np.diff(np.append(start, len(group)))
    for turn in range(int(count.max(initial=0))):
        yield start[count > turn] + turn
