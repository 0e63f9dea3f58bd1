"""Average precision of two detectors after exchanging some images."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmdet_cppe5.core.arrays import BoolArray, FloatArray, IntArray
from mmdet_cppe5.core.evaluation import Evaluation
from mmdet_cppe5.core.precision_recall import hits_needed

# Numbers worked on at once: their arrays stay in the processor's cache. With
# many hits they do not, and steps through short arrays take long too.
_AT_ONCE = 1 << 17
_LEAST_STEP = 16
# Counts held at once, per image and hit: 16 MiB.
_BLOCK = 1 << 22


class ExchangedDifferences:
    """Differences of average precision after exchanging images.

    Every hit belongs to one of two detectors and, inside its curve, so does
    every place in the ranking. Which hits come before a hit of its own
    detector, and how many of its detections count, are sums over the images
    that its detector was given; the objects stay the same. So one pass over
    the hits of both gives both curves.

    Args:
        pair: Result of :func:`~mmdet_cppe5.core.permutation_pair.pair_up`.
    """

    def __init__(self, pair: Evaluation) -> None:
        curves = pair.curves
        length = curves.per_curve
        curve = np.repeat(np.arange(len(length)), length)
        turn = np.arange(len(curve)) - np.repeat(
            np.cumsum(length) - length, length
        )
        # The first hits of all curves, then the second ones, ...; long
        # curves first, so that those who have another hit are a front part.
        longest = np.argsort(-length, kind='stable')
        slot = np.empty_like(longest)
        slot[longest] = np.arange(len(longest))
        order = np.lexsort((slot[curve], turn))
        self._turns = _turns(np.bincount(turn))
        self._nth = turn[order, None] + 1.0  # (H, 1)
        image = pair.detections.image[pair.ranking.rows]
        image = image[curves.place[order]]  # (H,)
        self._image = image
        self._counted = curves.counted[order, None].astype(np.float64)
        self._counts, row = _counts(pair)
        self._row = row[order]  # (H,)
        self._num_images = pair.ground_truths.num_images // 2
        # Whole numbers below 2 ** 24 are exact.
        few = len(pair.detections) < 1 << 24
        self._exact = np.dtype(np.float32 if few else np.float64)

        # Recall levels that the n-th hit is the first to reach. The objects
        # stand in both images of two.
        totals, kind = np.unique(curves.positives // 2, return_inverse=True)
        width = int(totals.max(initial=0)) + 2
        needed = np.maximum(hits_needed(totals), 1)  # (U, 101)
        needed += np.arange(len(totals))[:, None] * width
        levels = np.bincount(needed.ravel(), minlength=len(totals) * width)
        self._levels = levels / max(101 * (curves.positives > 0).sum(), 1)
        self._offset = (kind * width)[curve[order], None]  # (H, 1)
        self._step = max(_LEAST_STEP, _AT_ONCE // max(len(curve), 1))
        self._room = np.empty((4, len(curve), self._step))

    def differences(self, exchanged: BoolArray) -> FloatArray:
        """First minus second after each of B choices of images.

        Args:
            exchanged: (B, I) whether the two exchange their detections of an
                image.

        Returns:
            (B,) differences of the AP over all curves of the pair.
        """
        sign = np.where(exchanged.T, -1.0, 1.0)  # (I, B)
        counts = self._difference_of_counts(sign)  # (R, B)
        parts = [
            self._differences(
                sign[:, begin : begin + self._step],
                counts[:, begin : begin + self._step].astype(np.float64),
            )
            for begin in range(0, len(exchanged), self._step)
        ]
        return np.concatenate(parts)

    def _differences(self, sign: FloatArray, counts: FloatArray) -> FloatArray:
        """:meth:`differences` of few choices, in the arrays made for it.

        Args:
            sign: (I, B) -1 where an image is exchanged, else 1.
            counts: (R, B) :meth:`_difference_of_counts`.
        """
        # Everything is a sum over both detectors and a difference of the two,
        # the first one's minus the second one's, times 1 where the first one
        # is meant and -1 where the second is.
        side, hits, first, second = self._room[:, :, : sign.shape[1]]
        sides = np.stack([sign, -sign], axis=1).reshape(-1, sign.shape[1])
        np.take(sides, self._image, axis=0, out=side, mode='clip')
        np.copyto(hits, side)
        for before, here in self._turns:
            hits[here] += hits[before]
        hits *= side
        hits += self._nth  # twice the hits of the detector
        counted = np.take(counts, self._row, axis=0, out=first, mode='clip')
        counted *= side
        counted += self._counted
        np.divide(hits, counted, out=first)  # precision
        first *= side
        np.copyto(second, first)
        for before, here in reversed(self._turns):
            np.maximum(first[before], first[here], out=first[before])
            np.minimum(second[before], second[here], out=second[before])
        best = np.where(side > 0, first, second)  # (H, B)
        hits /= 2
        index = hits.astype(np.int64)
        index += self._offset
        levels = np.take(self._levels, index, out=hits, mode='clip')  # (H, B)
        total: FloatArray = np.einsum('hb,hb->b', best, levels)
        return total

    def _difference_of_counts(self, sign: FloatArray) -> NDArray[Any]:
        """(R, B) first's minus second's counted detections up to each row."""
        weights = sign.astype(self._exact)
        parts = [
            block.astype(self._exact) @ weights
            for group in self._counts
            for block in group.blocks(self._num_images)
        ]
        none = np.zeros((0, sign.shape[1]), self._exact)
        return np.concatenate([none, *parts])


def _turns(sizes: IntArray) -> list[tuple[slice, slice]]:
    """Hits that have a next one in their curve, and those next ones.

    Args:
        sizes: Number of curves with a first hit, with a second, ...
    """
    starts = np.cumsum(sizes) - sizes
    return [
        (slice(before, before + size), slice(here, here + size))
        for before, here, size in zip(
            starts[:-1].tolist(), starts[1:].tolist(), sizes[1:].tolist()
        )
    ]


@dataclass(frozen=True, eq=False)
class _Counts:
    """Counted detections up to each of n rows of one ranking.

    Attributes:
        size: n.
        row: (E,) first row that comes after the detection, ascending.
        image: (E,) image of 2 I.
        value: (E,) 1, or -1 where something stops to count.
    """

    size: int
    row: IntArray
    image: IntArray
    value: IntArray

    def blocks(self, num_images: int) -> Iterator[IntArray]:
        """(n, I) first's minus second's detections, some rows at a time."""
        step = max(1, _BLOCK // num_images)
        last = np.zeros(num_images, np.int32)
        for begin in range(0, self.size, step):
            size = min(step, self.size - begin)
            some = slice(*np.searchsorted(self.row, [begin, begin + size]))
            side = 1 - 2 * (self.image[some] % 2)
            block = np.bincount(
                (self.row[some] - begin) * num_images + self.image[some] // 2,
                side * self.value[some],
                size * num_images,
            )
            block = block.reshape(size, num_images).astype(np.int32)
            block[0] += last
            np.cumsum(block, axis=0, out=block)
            last = block[-1]
            yield block


def _counts(pair: Evaluation) -> tuple[list[_Counts], IntArray]:
    """What counts before the hits, and the (H,) row of each hit in it.

    Where no match changes what counts, all thresholds of a class share it.
    """
    curves = pair.curves
    image = pair.detections.image[pair.ranking.rows]
    everything, candidates = curves.terms
    changes = candidates.flags
    start = everything.class_start
    num_classes = len(start) - 1
    group = np.repeat(np.arange(len(curves.per_curve)), curves.per_curve)
    if not changes.any():
        group %= num_classes
    key = group * len(candidates.place) + curves.ends[1] - 1
    rows, row = np.unique(key, return_inverse=True)
    groups, events = np.divmod(rows, max(len(candidates.place), 1))
    counts = []
    for each in np.unique(groups):
        event = events[groups == each]
        label = each % num_classes
        place = start[label] + np.flatnonzero(
            everything.flags[0, start[label] : start[label + 1]]
        )
        own = candidates.label == label
        changed = np.flatnonzero(own & (changes[each // num_classes] != 0))
        after = np.concatenate(
            [
                np.searchsorted(candidates.place[event], place),
                np.searchsorted(event, changed),
            ]
        )
        value = np.concatenate(
            [
                np.ones(len(place), np.int64),
                changes[each // num_classes, changed],
            ]
        )
        of = np.concatenate([image[place], image[candidates.place[changed]]])
        order = np.argsort(after, kind='stable')
        counts.append(
            _Counts(len(event), after[order], of[order], value[order])
        )
    return counts, row
