"""The most similar ground truths of each detection, taken or not."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mmdet_cppe5.core.arrays import BoolArray, FloatArray
from mmdet_cppe5.core.pairs import Pairs


@dataclass(frozen=True, eq=False)
class Nearest:
    """The most similar counted ground truth of each detection.

    Of several equally similar ones the last, as in the matching.

    Attributes:
        gt: (N,) its row, -1 where no ground truth has anything in common.
        similarity: (N,) similarity to it, 0 where ``gt`` is -1.
    """

    gt: NDArray[np.int32]
    similarity: FloatArray


def nearest(pairs: Pairs, gt_ignored: BoolArray, size: int) -> Nearest:
    """Find the best pair of each detection.

    Args:
        pairs: Pairs grouped by detection, ground truths ascending.
        gt_ignored: (G,) ground truths that do not count.
        size: N.
    """
    if gt_ignored.any():
        pairs = pairs.only(~gt_ignored[pairs.gt])
    gt = np.full(size, -1, np.int32)
    similarity = np.zeros(size)
    # One pass per rank of pair: few detections have more than two.
    start, count = pairs.runs()
    for slot in range(int(count.max(initial=0))):
        pair = start[count > slot] + slot
        dt, value = pairs.dt[pair], pairs.similarity[pair]
        better = value >= similarity[dt]
        gt[dt[better]] = pairs.gt[pair[better]]
        similarity[dt[better]] = value[better]
    return Nearest(gt, similarity)
