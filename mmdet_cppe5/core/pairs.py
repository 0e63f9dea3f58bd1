"""Pairs of detections and ground truths that have something in common."""

from dataclasses import dataclass
from typing import Union

import numpy as np

from mmdet_cppe5.core.arrays import (
    BoolArray,
    Detections,
    FloatArray,
    GroundTruths,
    IntArray,
)
from mmdet_cppe5.core.ordering import Ranking, run_starts
from mmdet_cppe5.core.similarity import Similarity

# Pairs scored at once: their arrays stay in the processor's cache.
_CHUNK = 1 << 15


@dataclass(frozen=True, eq=False)
class Pairs:
    """Candidate pairs, grouped by detection.

    Attributes:
        dt: (P,) row of the detection.
        gt: (P,) row of the ground truth; for each detection ascending by
            class, then by row.
        similarity: (P,) their similarity, above 0.
    """

    dt: IntArray
    gt: IntArray
    similarity: FloatArray

    def only(self, keep: Union[IntArray, BoolArray]) -> 'Pairs':
        """The pairs that an index or mask keeps."""
        return Pairs(self.dt[keep], self.gt[keep], self.similarity[keep])

    def runs(self) -> tuple[IntArray, IntArray]:
        """First pair and number of pairs of each detection that has any."""
        start = run_starts(self.dt)
        return start, np.diff(np.append(start, len(self.dt)))


class PairFinder:
    """Finds the pairs of a data set.

    Args:
        ground_truths: G objects.
        detections: N detections.
        ranking: Which of them are looked at, and in which order.
        similarity: Scores pairs.
    """

    def __init__(
        self,
        ground_truths: GroundTruths,
        detections: Detections,
        ranking: Ranking,
        similarity: Similarity,
    ) -> None:
        self._similarity = similarity
        self._rows = ranking.rows[ranking.by_group]
        self._group_size = ranking.group_size
        classes = ground_truths.num_classes
        keys = ground_truths.image * classes + ground_truths.label
        self._gt_order = np.argsort(keys, kind='stable')
        keys = keys[self._gt_order]
        image = ranking.group_key // classes * classes

        # Each group's image holds objects first..last, those of its class
        # same_first..same_last.
        self._first = np.searchsorted(keys, image)
        self._last = np.searchsorted(keys, image + classes)
        self._same_first = np.searchsorted(keys, ranking.group_key)
        self._same_last = np.searchsorted(
            keys, ranking.group_key, side='right'
        )

    def same_class(self) -> Pairs:
        """Pairs of one image and class, detections in group order."""
        return self._score(self._same_first, self._same_last)

    def other_class(self) -> tuple[Pairs, Pairs]:
        """Pairs of one image, with objects of lower and of higher classes."""
        return (
            self._score(self._first, self._same_first),
            self._score(self._same_last, self._last),
        )

    def _score(self, first: IntArray, last: IntArray) -> Pairs:
        """Score the detections of each group against objects in a range."""
        count = np.repeat(last - first, self._group_size)  # (D,)
        some = np.flatnonzero(count)
        count = count[some]
        rows = self._rows[some]
        first = np.repeat(first, self._group_size)[some]
        ends = np.cumsum(count)  # (d,), those with pairs
        parts = []
        begin = 0
        while begin < len(rows):
            done = ends[begin - 1] if begin else 0
            end = max(begin + 1, int(np.searchsorted(ends, done + _CHUNK)))
            part = slice(begin, end)
            before = ends[part] - count[part] - done
            dt = np.repeat(rows[part], count[part])  # (p,)
            gt = np.arange(len(dt)) + np.repeat(
                first[part] - before, count[part]
            )
            gt = self._gt_order[gt]  # (p,)
            scored = self._similarity(dt, gt)  # (p,)
            alike = np.flatnonzero(scored > 0)
            parts.append((dt[alike], gt[alike], scored[alike]))
            begin = end
        return _concatenate(parts)


def _concatenate(
    parts: list[tuple[IntArray, IntArray, FloatArray]],
) -> Pairs:
    if not parts:
        none = np.zeros(0, np.int64)
        return Pairs(none, none, np.zeros(0))
    dt, gt, scored = (np.concatenate(column) for column in zip(*parts))
    return Pairs(dt, gt, scored)
