"""Where a setting stands among those that were evaluated."""

from collections.abc import Iterable, Sequence
from typing import Optional

import numpy as np

from mmdet_cppe5.core.arrays import FloatArray
from mmdet_cppe5.core.settings import listed, same_threshold


def threshold_index(iou_thrs: FloatArray, iou_thr: float) -> int:
    """Index of a threshold in (T,) others, to within rounding.

    Raises:
        ValueError: If it was not evaluated.
    """
    found = np.flatnonzero(same_threshold(iou_thrs, iou_thr))
    if len(found) == 0:
        raise ValueError(
            f'Expected one of the evaluated thresholds '
            f'{listed(iou_thrs.tolist())}, but got {iou_thr}.'
        )
    return int(found[0])


def area_index(area_ranges: Iterable[str], area: Optional[str]) -> int:
    """Index of a size range; None means the first.

    Raises:
        ValueError: If it was not evaluated.
    """
    names = list(area_ranges)
    if area is None:
        return 0
    if area not in names:
        raise ValueError(
            f'Expected one of the size ranges {listed(names)}, but got '
            f'{area!r}.'
        )
    return names.index(area)


def cap_index(max_dets: Sequence[int], max_det: Optional[int]) -> int:
    """Index of a cap; None means the largest, which is the last.

    Raises:
        ValueError: If it was not evaluated.
    """
    if max_det is None:
        return len(max_dets) - 1
    if max_det not in max_dets:
        raise ValueError(
            f'Expected one of the caps {listed(max_dets)}, but got {max_det}.'
        )
    return max_dets.index(max_det)


def size_suffix(name: str) -> str:
    """COCO's letter for its own ranges, the name for others."""
    return {'small': 's', 'medium': 'm', 'large': 'l'}.get(name, f'_{name}')
