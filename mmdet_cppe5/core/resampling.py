"""Curves of resampled images, without matching anything again.

A resample is a number of copies of every image. It is evaluated as if the
copies were different images, the copies of one image following each other in
the place of the original; this settles the order among equal scores.
"""

import numpy as np
from numpy.typing import NDArray

from mmdet_cppe5.core.arrays import FloatArray, IntArray
from mmdet_cppe5.core.curves import Curves, Layers
from mmdet_cppe5.core.evaluation import Evaluation
from mmdet_cppe5.core.precision_recall import precision_at_recall


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
        places = ranking.class_key(ranking.label, tie)
        events = ranking.class_key(curves.event_label, tie[curves.event_place])
        unit = events[curves.event]
        first, last = (
            [np.searchsorted(keys, unit, side) for keys in (places, events)]
            for side in ('left', 'right')
        )
        before = curves.count_up_to(*first)
        self._unit_size = curves.count_up_to(*last) - before
        self._offset = curves.counted - before
        self._plain = bool((self._unit_size == 1).all())

        label = curves.event_label[curves.event]
        has_base = curves.base_layer >= 0
        layer = np.where(has_base, curves.base_layer, 0)
        num_layers = int(layer.max(initial=-1)) + 1
        self._base = _Weighted(
            Layers(curves.base.values[:num_layers]),
            image,
            layer,
            np.where(has_base, curves.class_start[label], 0),
            np.where(has_base, first[0], 0),
        )
        self._events = _Weighted(
            curves.events,
            image[curves.event_place],
            curves.event_layer,
            curves.event_start[label],
            first[1],
        )
        self._image = image[curves.event_place][curves.event]
        self._end = np.cumsum(curves.per_curve)
        self._start = self._end - curves.per_curve
        self._positives = positives.astype(np.float64)
        self._kind = kind
        curve = np.repeat(np.arange(len(kind)), curves.per_curve)
        self._runs = _runs_of_equal(curve, unit)
        #: Numbers held per resample: tells how many to do at once.
        self.cost = (
            self._base.size + self._events.size + len(kind) * 101 + len(unit)
        )

    def average_precision(self, weights: NDArray[np.int32]) -> FloatArray:
        """AP of every curve.

        Args:
            weights: (B, I) copies of each image in each of B resamples.

        Returns:
            (B, S) AP, NaN where a curve has no positives.
        """
        copies = weights[:, self._image]  # (B, H)
        total = np.zeros((len(weights), len(self._image) + 1), np.int64)
        np.cumsum(copies, axis=1, out=total[:, 1:])
        hits = total[:, self._end] - total[:, self._start]  # (B, S)
        positives = (weights @ self._positives)[:, self._kind]
        precision = precision_at_recall(
            hits.ravel(),
            self._count_copies(weights, copies),
            positives.astype(np.int64).ravel(),
        )
        aps: FloatArray = precision.mean(axis=1).reshape(hits.shape)
        return aps

    def _count_copies(
        self, weights: NDArray[np.int32], copies: NDArray[np.int32]
    ) -> IntArray:
        """Counted detections up to and with every copy of every hit."""
        first = self._base.between(weights) + self._events.between(weights)
        first += self._offset
        times = copies.ravel()
        start = np.cumsum(times) - times
        each = np.arange(int(times.sum()))
        if self._plain:
            return np.repeat(first.ravel() - start, times) + each

        def per_copy(values: IntArray) -> IntArray:
            return np.repeat(np.tile(values, len(weights)), times)

        copy = each - np.repeat(start, times)
        counted = np.repeat(first.ravel(), times)
        counted += copy * per_copy(self._unit_size)
        run_start, run_length, index = self._runs
        unit_start = start.reshape(copies.shape)[:, run_start]
        place = np.repeat(unit_start.ravel(), times)
        place += copy * per_copy(run_length) + per_copy(index)
        in_order = np.empty_like(counted)
        in_order[place] = counted
        return in_order


class _Weighted:
    """Sums of weighted flags between two indices of each hit's layer.

    Most flags are 0, so only the others are kept.

    Args:
        layers: L layers of n flags.
        image: (n,) image whose weight a flag gets.
        layer: (H,) layer of each hit.
        begin: (H,) first index.
        end: (H,) index after the last.
    """

    def __init__(
        self,
        layers: Layers,
        image: IntArray,
        layer: IntArray,
        begin: IntArray,
        end: IntArray,
    ) -> None:
        flags = layers.values.ravel()
        some = np.flatnonzero(flags)
        self._values = flags[some].astype(np.int32)
        self._image = np.tile(image, len(layers.values))[some]
        row = layer * len(image)
        self._begin = np.searchsorted(some, row + begin)
        self._end = np.searchsorted(some, row + end)
        self.size = len(some)

    def between(self, weights: NDArray[np.int32]) -> IntArray:
        """(B, H) sums for (B, I) weights."""
        total = np.zeros((len(weights), self.size + 1), np.int32)
        flags = weights[:, self._image]
        flags *= self._values
        np.cumsum(flags, axis=1, out=total[:, 1:])
        sums: IntArray = np.subtract(
            total[:, self._end], total[:, self._begin], dtype=np.int64
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
