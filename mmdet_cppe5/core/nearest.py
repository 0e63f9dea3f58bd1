"""The most similar ground truths of each detection, taken or not."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mmdet_cppe5.core.arrays import BoolArray, FloatArray
from mmdet_cppe5.core.pairs import Pairs


@dataclass(frozen=True, eq=False)
class Nearest:
    """The most similar counted ground truth of each detection.

    Of several equally similar ones the last by class, then by row.

    Attributes:
        gt: (N,) its row, -1 where no ground truth has anything in common.
        similarity: (N,) similarity to it, 0 where ``gt`` is -1.
    """

    gt: NDArray[np.int32]
    similarity: FloatArray


def nearest(
    parts: Sequence[Pairs], gt_ignored: BoolArray, size: int
) -> Nearest:
    """Find the best pair of each detection.

    Args:
        parts: Sets of pairs, later ones with higher classes.
        gt_ignored: (G,) ground truths that do not count.
        size: N.
    """
    gt = np.full(size, -1, np.int32)
    similarity = np.zeros(size)
    for pairs in parts:
        if gt_ignored.any():
            pairs = pairs.only(~gt_ignored[pairs.gt])
        start, count = pairs.runs()
        # The first pair of each detection, then the second of those that
        # have one: few have more than two.
        for slot in range(int(count.max(initial=0))):
            pair = start[count > slot] + slot
            dt, value = pairs.dt[pair], pairs.similarity[pair]
            better = np.flatnonzero(value >= similarity[dt])
            dt = dt[better]
            gt[dt] = pairs.gt[pair[better]]
            similarity[dt] = value[better]
    return Nearest(gt, similarity)
