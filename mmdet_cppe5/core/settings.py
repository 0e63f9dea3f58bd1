"""COCO's settings, and what else may stand in their place."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from mmdet_cppe5.core.arrays import (
    BoolArray,
    Detections,
    FloatArray,
    GroundTruths,
)

#: COCO's ten thresholds; the spacing is pycocotools' own, bit for bit.
IOU_THRS: tuple[float, ...] = tuple(np.linspace(0.5, 0.95, 10).tolist())
#: COCO's size ranges in square pixels, both ends included.
AREA_RANGES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        'all': (0.0, 1e10),
        'small': (0.0, 1024.0),
        'medium': (1024.0, 9216.0),
        'large': (9216.0, 1e10),
    }
)
#: COCO's caps on detections per image and class.
MAX_DETS: tuple[int, ...] = (1, 10, 100)


def check_same_world(
    ground_truths: GroundTruths, detections: Detections
) -> None:
    """Refuse unequal numbers of images or classes."""
    for name in ('num_images', 'num_classes'):
        want, got = getattr(ground_truths, name), getattr(detections, name)
        if want != got:
            raise ValueError(
                f'Expected detections with the {name} of the ground truths, '
                f'{want}, but got {got}.'
            )


def check_thresholds(iou_thrs: Sequence[float]) -> FloatArray:
    """(T,) thresholds, ascending."""
    thresholds = np.sort(np.atleast_1d(np.asarray(iou_thrs, np.float64)))
    if thresholds.size == 0 or not (0 < thresholds[0] <= thresholds[-1] <= 1):
        raise ValueError(
            f'Expected IoU thresholds in (0, 1], but got '
            f'{listed(np.ravel(iou_thrs).tolist()) or "none"}.'
        )
    return thresholds


def check_ranges(
    area_ranges: Mapping[str, tuple[float, float]],
) -> FloatArray:
    """(A, 2) lowest and highest areas."""
    ranges = np.array(list(area_ranges.values()), np.float64)
    if ranges.ndim != 2 or ranges.shape[1] != 2:
        raise ValueError(
            f'Expected size ranges as name -> (low, high), at least one, but '
            f'got {dict(area_ranges)}.'
        )
    return ranges


def check_caps(max_dets: Sequence[int]) -> tuple[int, ...]:
    """Caps, ascending."""
    caps = tuple(sorted(int(cap) for cap in max_dets))
    if not caps or caps[0] < 1:
        raise ValueError(
            f'Expected caps of at least 1 detection, but got '
            f'{listed(max_dets) or "none"}.'
        )
    return caps


def same_threshold(iou_thrs: FloatArray, iou_thr: float) -> BoolArray:
    """(T,) whether thresholds are one, to within rounding.

    0.75 may come as 0.7500000000000002, for instance from ``numpy.arange``.
    """
    same: BoolArray = np.abs(np.asarray(iou_thrs) - iou_thr) < 1e-9
    return same


def listed(values: Iterable[object]) -> str:
    """Values as an error message lists them: ``AP, AP50, APs``."""
    return ', '.join(
        f'{value:g}' if isinstance(value, float) else str(value)
        for value in values
    )
