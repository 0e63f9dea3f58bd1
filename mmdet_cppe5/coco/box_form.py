"""Boxes that are no x, y, width, height in pixels, as the images tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mmdet_cppe5.coco.ground_truth import CocoGroundTruth
from mmdet_cppe5.coco.records import LARGEST
from mmdet_cppe5.coco.results import CocoResults


def image_sizes(images: Sequence[Any]) -> np.ndarray:
    """Return width and height of image records, ``(N, 2)``; NaN if unknown."""
    sides = [
        _side(image.get(key)) if isinstance(image, dict) else np.nan
        for image in images
        for key in ('width', 'height')
    ]
    return np.array(sides, dtype=np.float64).reshape(-1, 2)


def _side(value: Any) -> float:
    usable = type(value) in (int, float) and 0 < value <= LARGEST
    return float(value) if usable else np.nan


def are_fractions(boxes: np.ndarray, sizes: np.ndarray) -> bool:
    """Tell whether all boxes are fractions of their image.

    Args:
        boxes: what stands under ``bbox``, ``(n, 4)``.
        sizes: width and height of each one's image, ``(n, 2)``.
    """
    if not len(boxes) or not (sizes > 2).any():
        return False
    return bool((boxes >= 0).all() and 0 < boxes.max() <= 1)


def outside(boxes: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Tell which boxes leave their image by over a pixel, bool ``(n,)``."""
    return (boxes[:, :2] + boxes[:, 2:] > sizes + 1).any(axis=1)


def are_corners(boxes: np.ndarray, sizes: np.ndarray) -> bool:
    """Tell whether boxes look like x1, y1, x2, y2.

    They do if every one makes sense as corners inside its image, while more
    than half leave it when read as x, y, width, height.

    Args:
        boxes: as for :func:`are_fractions`.
        sizes: likewise.
    """
    if not len(boxes):
        return False
    sense = (boxes[:, 2:] >= boxes[:, :2]).all()
    sense &= not (boxes[:, 2:] > sizes + 1).any()
    return bool(sense and 2 * outside(boxes, sizes).sum() > len(boxes))


def form_notices(
    truth: CocoGroundTruth, results: CocoResults, boxes: np.ndarray
) -> tuple[str, ...]:
    """Say so where a result file's boxes look like another form.

    Args:
        truth: the ground truth, for the image sizes.
        results: the detections.
        boxes: their boxes, ``(n, 4)``.
    """
    sizes = image_sizes(truth.images)[results.image]
    if are_fractions(boxes, sizes):
        form = 'fractions of the image, not pixels'
    elif are_corners(boxes, sizes):
        form = 'corners (x1, y1, x2, y2), not x, y, width, height'
    else:
        return ()
    return (
        f'the boxes of {results.source} look like {form}; they were read as '
        'they stand, as COCO does.',
    )
