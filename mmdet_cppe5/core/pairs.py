"""Pairs of detections and ground truths that have something in common."""

from dataclasses import dataclass
from typing import Optional, Union

import numpy as np

from mmdet_cppe5.core.arrays import (
    BoolArray,
    Detections,
    FloatArray,
    GroundTruths,
    IntArray,
)
from mmdet_cppe5.core.similarity import Similarity

# Pairs scored at once: their arrays stay in the processor's cache.
_CHUNK = 1 << 16


@dataclass(frozen=True, eq=False)
class Pairs:
    """Candidate pairs, grouped by detection.

    Attributes:
        dt: (P,) row of the detection.
        gt: (P,) row of the ground truth; ascending for each detection.
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


def run_starts(keys: IntArray) -> IntArray:
    """Index of the first of every run of equal neighbours."""
    first = np.ones(len(keys), np.bool_)
    first[1:] = keys[1:] != keys[:-1]
    return np.flatnonzero(first)


def pairs_with_equal_keys(
    dt_rows: IntArray,
    dt_keys: IntArray,
    gt_keys: IntArray,
    similarity: Similarity,
    skip: Optional[tuple[IntArray, IntArray]] = None,
) -> Pairs:
    """Score every detection against the ground truths that share its key.

    Args:
        dt_rows: (D,) rows of detections, in the order the pairs shall have.
        dt_keys: (D,) key of each, e.g. its image.
        gt_keys: (G,) key of each ground truth.
        similarity: Scores pairs.
        skip: Labels of all detections and ground truths; pairs with equal
            labels are left out.
    """
    gt_order = np.argsort(gt_keys, kind='stable')
    sorted_keys = gt_keys[gt_order]
    first = np.searchsorted(sorted_keys, dt_keys)
    count = np.searchsorted(sorted_keys, dt_keys, side='right') - first
    some = np.flatnonzero(count)
    dt_rows, first, count = dt_rows[some], first[some], count[some]
    ends = np.cumsum(count)
    parts = []
    begin = 0
    while begin < len(dt_rows):
        done = ends[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, done + _CHUNK)))
        dt, gt = _expand(
            dt_rows[begin:end], first[begin:end], count[begin:end]
        )
        gt = gt_order[gt]
        if skip is not None:
            other = skip[0][dt] != skip[1][gt]
            dt, gt = dt[other], gt[other]
        scored = similarity(dt, gt)
        alike = np.flatnonzero(scored > 0)
        parts.append((dt[alike], gt[alike], scored[alike]))
        begin = end
    return _concatenate(parts)


def group_keys(
    image: IntArray, label: IntArray, world: Union[GroundTruths, Detections]
) -> IntArray:
    """One number per image and class."""
    return image * world.num_classes + label


def _expand(
    dt_rows: IntArray, first: IntArray, count: IntArray
) -> tuple[IntArray, IntArray]:
    """Pair each detection with ``first, first + 1, ...``, count of them."""
    before = np.cumsum(count) - count
    dt = np.repeat(dt_rows, count)
    gt = np.arange(len(dt)) + np.repeat(first - before, count)
    return dt, gt


def _concatenate(
    parts: list[tuple[IntArray, IntArray, FloatArray]],
) -> Pairs:
    if not parts:
        none = np.zeros(0, np.int64)
        return Pairs(none, none, np.zeros(0))
    dt, gt, scored = (np.concatenate(column) for column in zip(*parts))
    return Pairs(dt, gt, scored)
