"""Curves of resampled images, without matching anything again.

A resample is a number of copies of every image. It is evaluated as if the
copies were different images, the copies of one image following each other in
the place of the original; this settles the order among equal scores.

Precision rises from copy to copy of a hit, so the last copy speaks for all of
them. Only where a hit shares its image, class and score with other detections
that count, does every copy need a row of its own.
"""

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from mmdet_cppe5.core.arrays import FloatArray, IntArray
from mmdet_cppe5.core.curves import Curves, Term
from mmdet_cppe5.core.evaluation import Evaluation
from mmdet_cppe5.core.precision_recall import RECALL_LEVELS, hits_needed

# Few enough that adding their number to a precision costs no 1e-13.
_CURVES_AT_ONCE = 256
# Counts per image and hit are held up to this many: 32 MiB.
_DENSE = 1 << 23

_Number = TypeVar('_Number', np.int32, np.int64, np.float64)


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
        unit_size = curves.count_up_to(last) - before  # (H,)
        self._hits = _Hits(
            curve=curve,
            image=image[curves.place],
            unit_size=unit_size,
            offset=curves.counted - before,
            run=_runs_of_equal(curve, unit),
        )
        self._rows: dict[int, _Rows] = {}
        self._plain = bool((unit_size == 1).all())

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
        self._by_image = None
        if len(positives) * len(unit) <= _DENSE and len(image) < 1 << 24:
            dense = [term.by_image(len(positives)) for term in self._terms]
            self._by_image = np.sum(dense, axis=0, dtype=np.float32)
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
        rows = self._rows_for(int(weights.max(initial=0)))
        times = _columns(weights, self._hits.image[rows.hit])  # (B, X)
        counted = self._count_before(weights)  # (B, H)
        if self._plain:
            gained = times
            counted += times
        else:
            gained = np.where(rows.copy < 0, times, times > rows.copy)
            counted = _columns(counted, rows.hit)
            counted += np.where(rows.copy < 0, times, rows.counted)
        found = np.zeros((len(weights), len(rows.hit) + 1), np.int32)
        np.cumsum(gained, axis=1, out=found[:, 1:])  # over all curves
        found = found[:, 1:] - _columns(found, rows.start[rows.curve])
        best = found / (counted + np.spacing(1))  # (B, X) precision
        best *= gained > 0
        _keep_largest_from_here(best, rows)
        positives = weights @ self._positives  # (B, Q)
        best *= self._levels_gained(found, rows, positives[:, self._kind])
        aps = np.zeros((len(weights), len(self._kind)))
        some = np.flatnonzero(rows.num_rows)
        if len(some):
            aps[:, some] = np.add.reduceat(best, rows.start[some], axis=1)
        aps /= len(RECALL_LEVELS)
        aps[positives[:, self._kind] == 0] = np.nan
        return aps

    def _levels_gained(
        self, found: NDArray[np.int32], rows: '_Rows', positives: FloatArray
    ) -> IntArray:
        """Recall levels that each row is the first to reach.

        Args:
            found: (B, X) hits up to and with each row.
            rows: The X rows of S curves.
            positives: (B, S) ground truths.

        Returns:
            (B, X) numbers of levels.
        """
        totals, place = np.unique(positives, return_inverse=True)
        width = int(totals.max(initial=0)) + 2
        first = np.maximum(hits_needed(totals.astype(np.int64)), 1)  # (U, 101)
        first += np.arange(len(totals))[:, None] * width
        levels = np.bincount(first.ravel(), minlength=len(totals) * width)
        levels = levels.reshape(-1, width).cumsum(axis=1).ravel()
        offset = place.reshape(positives.shape) * width  # (B, S)
        index = _columns(offset, rows.curve)
        index += found
        reached: IntArray = np.take(levels, index, mode='clip')
        gained: IntArray = reached.copy()
        gained[:, 1:] -= reached[:, :-1]
        start = rows.start[rows.num_rows > 0]
        gained[:, start] = reached[:, start]
        return gained

    def _count_before(self, weights: NDArray[np.int32]) -> FloatArray:
        """(B, H) detections counted in each hit's curve before its unit."""
        if self._by_image is None:
            before = self._terms[0].between(weights).astype(np.float64)
            for term in self._terms[1:]:
                before += term.between(weights)
            return before
        # Whole numbers below 2 ** 24 are exact.
        exact = weights.astype(np.float32) @ self._by_image
        return exact.astype(np.float64)

    def _rows_for(self, most: int) -> '_Rows':
        """The rows that copies up to a number need."""
        most = 1 if self._plain else max(most, 1)
        if most not in self._rows:
            size = len(self._kind)
            self._rows[most] = _rows(self._hits, size, most)
        return self._rows[most]


class _Hits(NamedTuple):
    """Hits, curve by curve in ranking order.

    Attributes:
        curve: (H,) curve.
        image: (H,) image.
        unit_size: (H,) counted detections of the unit.
        offset: (H,) how many of these stand up to and with the hit.
        run: (H,) start, length and own index of its run of one curve and
            unit.
    """

    curve: IntArray
    image: IntArray
    unit_size: IntArray
    offset: IntArray
    run: tuple[IntArray, IntArray, IntArray]


class _Rows(NamedTuple):
    """What the precision of resampled curves is computed at.

    Attributes:
        hit: (X,) the hit.
        copy: (X,) the copy of its unit, from 0; -1 where one row serves all
            copies.
        counted: (X,) detections counted from the first copy of the unit on.
        curve: (X,) its curve, ascending.
        num_rows: (S,) rows of each curve.
        start: (S,) first row of each curve.
        lift: (X,) a number that falls by 1 from curve to curve.
        portions: Slices of rows that can be lifted together.
    """

    hit: IntArray
    copy: IntArray
    counted: IntArray
    curve: IntArray
    num_rows: IntArray
    start: IntArray
    lift: FloatArray
    portions: tuple[slice, ...]


def _rows(hits: _Hits, num_curves: int, most: int) -> _Rows:
    """Lay out the rows for up to so many copies of an image."""
    several = hits.unit_size > 1
    times = np.where(several, most, 1)
    hit = np.repeat(np.arange(len(times)), times)
    copy = np.arange(len(hit)) - np.repeat(np.cumsum(times) - times, times)
    # In a unit the first copy of all hits comes before the second.
    run_start = hits.run[0][hit]
    order = np.lexsort((hit, copy, run_start))
    hit, copy = hit[order], copy[order]
    counted = hits.offset[hit] + copy * hits.unit_size[hit]
    curve = hits.curve[hit]
    count = np.bincount(curve, minlength=num_curves)
    start = np.cumsum(count) - count
    ends = np.append(start, len(hit))
    portions = range(0, num_curves, _CURVES_AT_ONCE)
    return _Rows(
        hit=hit,
        copy=np.where(several[hit], copy, -1),
        counted=counted,
        curve=curve,
        num_rows=count,
        start=np.minimum(start, max(len(hit) - 1, 0)),
        lift=np.float64(_CURVES_AT_ONCE - 1) - curve % _CURVES_AT_ONCE,
        portions=tuple(
            slice(ends[begin], ends[min(begin + _CURVES_AT_ONCE, num_curves)])
            for begin in portions
        ),
    )


def _keep_largest_from_here(values: FloatArray, rows: _Rows) -> None:
    """Put the largest of each of (B, X) values and those after it there.

    Going backwards every curve lifts its values, 0..1, above all before.
    """
    values += rows.lift
    for part in rows.portions:
        backwards = values[:, part][:, ::-1]
        np.maximum.accumulate(backwards, axis=1, out=backwards)
    values -= rows.lift


def _columns(values: NDArray[_Number], index: IntArray) -> NDArray[_Number]:
    """(B, n) columns of an array, without looking for wrong indices."""
    columns: NDArray[_Number] = np.take(values, index, axis=1, mode='clip')
    return columns


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

    def between(self, weights: NDArray[np.int32]) -> NDArray[np.int32]:
        """(B, H) sums for (B, I) weights."""
        total = np.zeros((len(weights), self.size + 1), np.int32)  # (B, n + 1)
        flags = _columns(weights, self._image)  # (B, n)
        if not self._all_ones:
            flags *= self._flags
        np.cumsum(flags, axis=1, out=total[:, 1:])
        sums = _columns(total, self._end)
        sums -= _columns(total, self._begin)
        return sums

    def by_image(self, num_images: int) -> NDArray[np.int32]:
        """(I, H) sums of the flags of each image."""
        points, place = np.unique(
            np.stack([self._begin, self._end]), return_inverse=True
        )
        begin, end = place.reshape(2, -1)
        part = np.searchsorted(points, np.arange(self.size), side='right')
        total = np.bincount(
            self._image * (len(points) + 1) + part,
            self._flags,
            num_images * (len(points) + 1),
        )
        total = total.reshape(num_images, -1).astype(np.int32)
        total = np.cumsum(total, axis=1, dtype=np.int32)
        sums: NDArray[np.int32] = total[:, end] - total[:, begin]
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
