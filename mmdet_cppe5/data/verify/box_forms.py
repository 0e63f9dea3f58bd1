"""Boxes that are corners, fractions or centres instead of COCO's form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mmdet_cppe5.coco.box_form import (
    are_corners,
    are_fractions,
    image_sizes,
    outside,
)
from mmdet_cppe5.coco.records import LARGEST


def proven_corners(boxes: np.ndarray, areas: np.ndarray) -> np.ndarray:
    """Tell which boxes their stated area proves to be corners, bool ``(n,)``.

    Args:
        boxes: what stands under ``bbox``, ``(n, 4)``.
        areas: stated areas of annotations without mask, NaN elsewhere.
    """
    as_corners = (boxes[:, 2:] - boxes[:, :2]).prod(axis=1)
    as_sizes = boxes[:, 2:].prod(axis=1)
    slack = np.maximum(1.0, 1e-3 * np.abs(areas))
    return (
        (boxes[:, 2:] > boxes[:, :2]).all(axis=1)
        & (np.abs(areas - as_corners) <= slack)
        & (np.abs(areas - as_sizes) > slack)
    )


def form_of(
    boxes: np.ndarray, areas: np.ndarray, sizes: np.ndarray
) -> tuple[str, np.ndarray]:
    """Tell in which other form the boxes of a file seem to be.

    Args:
        boxes: as above, all finite.
        areas: as above.
        sizes: width and height of each box's image, ``(n, 2)``, or NaN.

    Returns:
        ``'corners'``, ``'fractions'``, ``'centres'``, or ``''`` for none;
        and which boxes prove it, bool ``(n,)``.
    """
    proof = proven_corners(boxes, areas)
    if proof.any():
        return 'corners', proof
    everything = np.ones(len(boxes), dtype=bool)
    if are_fractions(boxes, sizes):
        return 'fractions', everything
    contradicted = np.isfinite(areas).any()  # areas agree with width × height
    if not contradicted and are_corners(boxes, sizes):
        return 'corners', everything
    if _are_centres(boxes, sizes):
        return 'centres', outside(boxes, sizes)
    return '', np.zeros(len(boxes), dtype=bool)


def _are_centres(boxes: np.ndarray, sizes: np.ndarray) -> bool:
    """Tell whether a quarter leave their image, and none does as a centre."""
    half = boxes[:, 2:] / 2
    low, high = boxes[:, :2] - half, boxes[:, :2] + half
    inside = (low >= -1).all() and (high <= sizes + 1).all()
    leaving = outside(boxes, sizes).sum()
    return bool(len(boxes) > 2 and inside and 4 * leaving >= len(boxes))


def form_of_records(
    annotations: Sequence[Any], images: Sequence[Any]
) -> tuple[str, bool]:
    """Tell the form of the boxes of a parsed file; see :func:`form_of`.

    Args:
        annotations: its annotation records, however faulty.
        images: its image records.

    Returns:
        The form, and whether every usable box is proven to be in it.
    """
    usable = [
        item
        for item in annotations
        if isinstance(item, dict) and usable_box(item.get('bbox'))
    ]
    boxes = np.array([i['bbox'] for i in usable], np.float64).reshape(-1, 4)
    areas = np.array([_plain_area(item) for item in usable])
    places = {
        str(image.get('id')): size
        for image, size in zip(images, image_sizes(images))
        if isinstance(image, dict)
    }
    nowhere = np.full(2, np.nan)
    sizes = np.array(
        [places.get(str(item.get('image_id')), nowhere) for item in usable]
    ).reshape(-1, 2)
    form, proof = form_of(boxes, areas.reshape(-1), sizes)
    return form, bool(proof.all())


def usable_box(value: Any) -> bool:
    """Tell whether a value is four finite numbers."""
    return (
        isinstance(value, list)
        and len(value) == 4
        and all(type(v) in (int, float) and abs(v) <= LARGEST for v in value)
    )


def _plain_area(item: dict[str, Any]) -> float:
    area = item.get('area')
    known = type(area) in (int, float) and 0 <= area <= LARGEST**2
    return float(area) if known and not item.get('segmentation') else np.nan
