"""Curves: hits in ranking order, and what is counted before them.

Every number of this package is read off precision/recall curves, one per
class and setting (threshold, size range, or a fix of TIDE's). All curves of
one kind are kept together in a :class:`Curves`.

How many detections count before a hit is a sum over two kinds of flags:

- the *base*: detections that count if nothing matches. It is shared by many
  curves and has one flag per place in class order;
- the *events*: how matches or fixes change that. They touch few detections,
  and every curve has flags of its own for them.

The sums are linear in the detections. When an image stands in the data
several times or not at all, the same flags only get other weights: this is
what makes resampling cheap (:mod:`mmdet_cppe5.core.resampling`).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mmdet_cppe5.core.arrays import FloatArray, IntArray
from mmdet_cppe5.core.precision_recall import precision_at_recall


@dataclass(frozen=True, eq=False)
class Layers:
    """Several rows of flags over one sequence.

    Attributes:
        values: (L, n) 1, 0 or -1.
    """

    values: NDArray[np.int8]

    @cached_property
    def before(self) -> NDArray[np.int32]:
        """(L, n + 1) sum of the values before each index, and of all."""
        layers, size = self.values.shape
        total = np.zeros((layers, size + 1), np.int32)
        np.cumsum(self.values, axis=1, dtype=np.int32, out=total[:, 1:])
        return total


@dataclass(frozen=True, eq=False)
class Curves:
    """Hits of many curves; curve ``s`` belongs to class ``s % K``.

    Hits stand curve by curve, inside a curve in ranking order. Events stand
    by class, inside a class in ranking order.

    Attributes:
        per_curve: (S,) number of hits.
        positives: (S,) counted ground truths.
        base: A layers over the D places: 1 where a detection counts if
            nothing matches.
        base_layer: (H,) layer of the base that applies to the hit, -1 for
            none.
        events: L layers over the E events: 1 where an event makes a detection
            count, -1 where it makes one of the base not count.
        event_layer: (H,) layer of the events that applies to the hit.
        event: (H,) the event that is the hit.
        event_place: (E,) place of the event's detection.
        event_label: (E,) class that the event concerns, ascending. It is not
            the detection's own where a fix moved the detection.
        event_end: (E,) end of the places that stand before the event's
            detection or are it.
        class_start: (K,) first place of each class.
    """

    per_curve: IntArray
    positives: IntArray
    base: Layers
    base_layer: IntArray
    events: Layers
    event_layer: IntArray
    event: IntArray
    event_place: IntArray
    event_label: IntArray
    event_end: IntArray
    class_start: IntArray

    @cached_property
    def event_start(self) -> IntArray:
        """(K,) first event of each class."""
        classes = np.arange(len(self.class_start))
        return np.searchsorted(self.event_label, classes)

    @cached_property
    def counted(self) -> IntArray:
        """(H,) counted detections of the curve up to and with each hit."""
        return self.count_up_to(self.event_end[self.event], self.event + 1)

    @cached_property
    def precision(self) -> FloatArray:
        """(S, 101) interpolated precision, NaN without positives."""
        return precision_at_recall(
            self.per_curve, self.counted, self.positives
        )

    def count_up_to(self, base_end: IntArray, event_end: IntArray) -> IntArray:
        """Counted detections of each hit's curve up to a point of it.

        Args:
            base_end: (H,) end of the places.
            event_end: (H,) end of the events.
        """
        label = self.event_label[self.event]
        before = self.events.before
        counted = before[self.event_layer, event_end].astype(np.int64)
        counted -= before[self.event_layer, self.event_start[label]]
        some = np.flatnonzero(self.base_layer >= 0)
        layer, before = self.base_layer[some], self.base.before
        counted[some] += before[layer, base_end[some]]
        counted[some] -= before[layer, self.class_start[label[some]]]
        return counted
