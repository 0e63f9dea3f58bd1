"""Curves of resampled images, without matching anything again.

A resample is a number of copies of every image. It is evaluated as if the
copies were different images, the copies of one image following each other in
the place of the original; this settles the order among equal scores.
"""

import numpy as np
from numpy.typing import NDArray

from mmdet_cppe5.core.arrays import FloatArray, IntArray
from mmdet_cppe5.core.curves import Curves, Term
from mmdet_cppe5.core.evaluation import Evaluation
from mmdet_cppe5.core.precision_recall import average_precision


class ResampledCurves:
    """Average precision of many curves for any number of copies of images.

    Detections of one class, image and score make up a *unit*: of its copies,
    the first stands before the second as a whole. Most units have one
    detection.

    Args:
        evaluation: An evaluation of I images.
        curves: S curves of it.
        positives: (I, Q) counted ground truths of each image, for Q kinds of
            curves.
        kind: (S,) column of ``positives`` of each curve.
    """

    def __init__(
        self,
        evaluation: Evaluation,
        curves: Curves,
        positives: IntArray,
        kind: IntArray,
    ) -> None:
        ranking = evaluation.ranking
        image = evaluation.detections.image[ranking.rows]
        score = evaluation.detections.score[ranking.rows]
        tie = ranking.tie_rank(score, image)
        classes = len(ranking.class_start) - 1
        curve = np.repeat(np.arange(len(kind)), curves.per_curve)  # (H,)
        label = curve % classes
        unit = ranking.class_key(label, tie[curves.place])  # (H,)
        first, last = [], []
        for term in curves.terms:
            keys = ranking.class_key(term.label, tie[term.place])
            first.append(np.searchsorted(keys, unit))
            last.append(np.searchsorted(keys, unit, side='right'))
        before = curves.count_up_to(first)  # (H,)
        self._unit_size = curves.count_up_to(last) - before
        self._offset = curves.counted - before
        self._plain = bool((self._unit_size == 1).all())
        self._runs = _runs_of_equal(curve, unit)

        self._terms = [
            _Weighted(
                term,
                image[term.place],
                layer[curve],
                term.class_start[label],
                end,
            )
            for term, layer, end in zip(curves.terms, curves.layers, first)
        ]
        self._image = image[curves.place]
        self._end = np.cumsum(curves.per_curve)
        self._start = self._end - curves.per_curve
        self._positives = positives.astype(np.float64)
        self._kind = kind
        #: Numbers held per resample: tells how many to do at once.
        self.cost = len(kind) + len(unit)
        self.cost += sum(term.size for term in self._terms)

    def average_precision(self, weights: NDArray[np.int32]) -> FloatArray:
        """AP of every curve.

        Args:
            weights: (B, I) copies of each image in each of B resamples.

        Returns:
            (B, S) AP, NaN where a curve has no positives.
        """
        copies = np.take(weights, self._image, axis=1)  # (B, H)
        total = np.zeros((len(weights), len(self._image) + 1), np.int64)
        np.cumsum(copies, axis=1, out=total[:, 1:])
        hits = total[:, self._end] - total[:, self._start]  # (B, S)
        positives = (weights @ self._positives)[:, self._kind]  # (B, S)
        aps = average_precision(
            hits.ravel(),
            self._count_copies(weights, copies),
            positives.astype(np.int64).ravel(),
        )
        return aps.reshape(hits.shape)

    def _count_copies(
        self, weights: NDArray[np.int32], copies: NDArray[np.int32]
    ) -> IntArray:
        """Counted detections up to and with every copy of every hit."""
        first = self._offset + sum(  # (B, H)
            term.between(weights) for term in self._terms
        )
        times = copies.ravel()  # (B * H,)
        start = np.cumsum(times) - times  # (B * H,)
        each = np.arange(int(times.sum()))  # (X,), X copies in all
        if self._plain:
            return np.repeat(first.ravel() - start, times) + each

        def per_copy(values: IntArray) -> IntArray:
            return np.repeat(np.tile(values, len(weights)), times)

        copy = each - np.repeat(start, times)  # (X,)
        counted = np.repeat(first.ravel(), times)  # (X,)
        counted += copy * per_copy(self._unit_size)
        run_start, run_length, index = self._runs
        unit_start = start.reshape(copies.shape)[:, run_start]  # (B, H)
        place = np.repeat(unit_start.ravel(), times)  # (X,)
        place += copy * per_copy(run_length) + per_copy(index)
        in_order = np.empty_like(counted)
        in_order[place] = counted
        return in_order


class _Weighted:
    """Sums of a term's weighted flags between two points of each hit's curve.

    Most flags are 0, so only the others are kept.

    Args:
        term: Flags of n detections.
        image: (n,) image whose weight a flag gets.
        layer: (H,) layer that applies to each hit, -1 for none.
        begin: (H,) first index.
        end: (H,) index after the last.
    """

    def __init__(
        self,
        term: Term,
        image: IntArray,
        layer: IntArray,
        begin: IntArray,
        end: IntArray,
    ) -> None:
        flags = term.flags.ravel()
        some = np.flatnonzero(flags)
        self._flags = flags[some].astype(np.int32)
        self._all_ones = bool((self._flags == 1).all())
        self._image = np.tile(image, len(term.flags))[some]
        row = layer * len(image)
        self._begin = np.searchsorted(some, row + begin)
        self._end = np.searchsorted(some, row + end)
        self._begin[layer < 0] = self._end[layer < 0] = 0
        self.size = len(some)

    def between(self, weights: NDArray[np.int32]) -> IntArray:
        """(B, H) sums for (B, I) weights."""
        total = np.zeros((len(weights), self.size + 1), np.int32)  # (B, n + 1)
        flags = np.take(weights, self._image, axis=1)  # (B, n)
        if not self._all_ones:
            flags *= self._flags
        np.cumsum(flags, axis=1, out=total[:, 1:])
        sums: IntArray = np.subtract(
            np.take(total, self._end, axis=1),
            np.take(total, self._begin, axis=1),
            dtype=np.int64,
        )
        return sums


def _runs_of_equal(
    curve: IntArray, unit: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Start, length and own index of each hit's run of one curve and unit."""
    new = np.ones(len(unit), np.bool_)
    new[1:] = (curve[1:] != curve[:-1]) | (unit[1:] != unit[:-1])
    start = np.flatnonzero(new)
    length = np.diff(np.append(start, len(unit)))
    start, length = np.repeat(start, length), np.repeat(length, length)
    return start, length, np.arange(len(unit)) - start
