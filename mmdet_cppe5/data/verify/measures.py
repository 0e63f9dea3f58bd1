"""What masks measure, and what is wrong with one set of keypoints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mmdet_cppe5.coco import run_lengths
from mmdet_cppe5.coco.mask_content import as_size
from mmdet_cppe5.coco.records import shorten


def measure(mask: Any) -> tuple[float, ...]:
    """Return a mask's area, left, top, right, bottom, and own size.

    All are in pixels; the size is width and height, NaN for polygons.

    Args:
        mask: a mask without fault, but compressed run lengths (see
            :func:`measure_texts`). Of run lengths only the area is told.
    """
    unknown = math.nan
    if isinstance(mask, dict):
        height, width = map(float, mask['size'])
        area = float(sum(mask['counts'][1::2]))
        return (area, *(unknown,) * 4, width, height)
    area = 0.0
    for polygon in mask:
        x, y = polygon[0::2], polygon[1::2]
        turned = zip(x, y, [*x[1:], x[0]], [*y[1:], y[0]])
        area += abs(sum(a * d - c * b for a, b, c, d in turned)) / 2
    numbers_x = [value for polygon in mask for value in polygon[0::2]]
    numbers_y = [value for polygon in mask for value in polygon[1::2]]
    return (
        area, min(numbers_x), min(numbers_y), max(numbers_x), max(numbers_y),
        unknown, unknown,
    )  # fmt: skip


def is_text(mask: Any) -> bool:
    """Tell whether a mask is compressed run lengths with a size."""
    return (
        isinstance(mask, dict)
        and isinstance(mask.get('counts'), str)
        and as_size(mask.get('size')) is not None
    )


def measure_texts(masks: Sequence[dict[str, Any]]) -> np.ndarray:
    """Measure masks for which :func:`is_text` holds, many at once.

    Returns:
        What :func:`measure` tells of each, float64 ``(n, 7)``; all NaN for a
        text that is no mask, and bounds of NaN for one without a pixel.
    """
    texts = [mask['counts'] for mask in masks]
    sizes = np.array([as_size(mask['size']) for mask in masks], np.int64)
    found = run_lengths.measure(texts, sizes, bounds=True)
    low, sides = np.split(found.boxes, 2, axis=1)
    measures = np.column_stack(
        [found.pixels, low, low + sides, sizes[:, ::-1]]
    )
    measures[found.pixels == 0, 1:5] = np.nan
    measures[found.pixels == run_lengths.WRONG] = np.nan
    return measures


def keypoint_fault(item: dict[str, Any]) -> str:
    """Say what is wrong with the keypoints of an annotation, or ``''``."""
    values = item.get('keypoints')
    if not isinstance(values, list) or len(values) % 3:
        return f'keypoints are not x, y, visibility in turn: {shorten(values)}'
    if not all(
        type(value) in (int, float) and abs(value) <= 1 << 31
        for value in values
    ):
        return f'keypoints are not finite numbers: {shorten(values)}'
    labelled = sum(value > 0 for value in values[2::3])
    stated = item.get('num_keypoints')
    if stated is not None and stated != labelled:
        return (
            f'num_keypoints is {shorten(stated)}, but {labelled} '
            f'{"is" if labelled == 1 else "are"} labelled'
        )
    return ''
