"""What one mask measures, and what is wrong with one set of keypoints."""

from __future__ import annotations

import math
from typing import Any

from mmdet_cppe5.coco.records import shorten


def measure(mask: Any) -> tuple[float, ...]:
    """Return a mask's area, left, top, right and bottom in pixels.

    Args:
        mask: a mask without fault. Of run lengths only the area is told, and
            of compressed ones nothing: they would have to be decoded.
    """
    nothing = (math.nan,) * 5
    if isinstance(mask, dict):
        counts = mask['counts']
        if isinstance(counts, list):
            return (float(sum(counts[1::2])), *nothing[1:])
        return nothing
    area = 0.0
    for polygon in mask:
        x, y = polygon[0::2], polygon[1::2]
        turned = zip(x, y, [*x[1:], x[0]], [*y[1:], y[0]])
        area += abs(sum(a * d - c * b for a, b, c, d in turned)) / 2
    numbers_x = [value for polygon in mask for value in polygon[0::2]]
    numbers_y = [value for polygon in mask for value in polygon[1::2]]
    return (
        area, min(numbers_x), min(numbers_y), max(numbers_x), max(numbers_y),
    )  # fmt: skip


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
            f'num_keypoints is {shorten(stated)}, but {labelled} are labelled'
        )
    return ''
