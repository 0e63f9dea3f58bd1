"""Curves: hits in ranking order, and what is counted before them.

Every number of this package is read off precision/recall curves, one per
class and setting (threshold, size range, or a fix of TIDE's). All curves of
one kind are kept together in a :class:`Curves`.

How many detections count before a hit is a sum of a few :class:`Term`: one
for what counts if nothing matches, which many curves share, one for the few
detections for which matches or fixes change that.

The sums are linear in the detections. When an image stands in the data
several times or not at all, the same flags only get other weights: this is
what makes resampling cheap (:mod:`mmdet_cppe5.core.resampling`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mmdet_cppe5.core.arrays import FloatArray, IntArray
from mmdet_cppe5.core.precision_recall import precision_at_recall


@dataclass(frozen=True, eq=False)
class Term:
    """Layers of flags over a sequence of detections.

    The sequence is ordered by class, inside a class by rank.

    Attributes:
        flags: (L, n) 1 where a detection counts, -1 where it takes back what
            another term counts, else 0.
        place: (n,) place of each detection.
        class_start: (K + 1,) first index of each class, and n. The class is
            not the detection's own where a fix moved it.
    """

    flags: NDArray[np.int8]
    place: IntArray
    class_start: IntArray

    @property
    def label(self) -> IntArray:
        """(n,) class of each index."""
        classes = np.arange(len(self.class_start) - 1)
        return np.repeat(classes, np.diff(self.class_start))

    @cached_property
    def before(self) -> NDArray[np.int32]:
        """(L + 1, n + 1) sum of the flags before each index, and of all.

        The last layer is 0, for curves to which the term does not apply.
        """
        layers, size = self.flags.shape
        total = np.zeros((layers + 1, size + 1), np.int32)
        np.cumsum(self.flags, axis=1, dtype=np.int32, out=total[:-1, 1:])
        return total


@dataclass(frozen=True, eq=False)
class Curves:
    """Hits of many curves; curve ``s`` belongs to class ``s % K``.

    Hits stand curve by curve, inside a curve in ranking order.

    Attributes:
        per_curve: (S,) number of hits.
        positives: (S,) counted ground truths.
        place: (H,) place of the detection that is the hit.
        terms: What is counted.
        layers: For each term, (S,) the layer that applies to each curve, -1
            for none.
        ends: For each term, (H,) how many of its sequence stand before the
            hit or are the hit.
    """

    per_curve: IntArray
    positives: IntArray
    place: IntArray
    terms: Sequence[Term]
    layers: Sequence[IntArray]
    ends: Sequence[IntArray]

    @cached_property
    def counted(self) -> IntArray:
        """(H,) counted detections of the curve up to and with each hit."""
        return self.count_up_to(self.ends)

    @cached_property
    def precision(self) -> FloatArray:
        """(S, 101) interpolated precision, NaN without positives."""
        return precision_at_recall(
            self.per_curve, self.counted, self.positives
        )

    def count_up_to(self, ends: Sequence[IntArray]) -> IntArray:
        """Counted detections of each hit's curve up to a point of it.

        Args:
            ends: For each term, (H,) end in its sequence.
        """
        start = np.zeros(len(self.per_curve), np.int64)  # (S,)
        counted = np.zeros(len(self.place), np.int64)  # (H,)
        for term, layer, end in zip(self.terms, self.layers, ends):
            first = np.resize(term.class_start[:-1], len(layer))  # (S,)
            start += term.before[layer, first]
            row = layer % len(term.before) * term.before.shape[1]  # (S,)
            counted += term.before.ravel()[
                np.repeat(row, self.per_curve) + end
            ]
        return counted - np.repeat(start, self.per_curve)
