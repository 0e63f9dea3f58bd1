"""Masks of COCO files, as run-length codes, and their overlap.

Only this module needs pycocotools, and imports it when masks are read.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mmdet_cppe5.coco.ground_truth import CocoGroundTruth
from mmdet_cppe5.coco.records import Records, shorten

Rle = dict[str, Any]
_MASKS_PER_CALL = 255


class MaskIoU:
    """Intersection over union of masks, as pycocotools computes it.

    Args:
        ground_truths: one run-length code per ground truth.
        detections: one run-length code per detection.
        crowd: bool ``(G,)``; for crowd regions the intersection is divided
            by the detection's own area.
    """

    def __init__(
        self,
        ground_truths: list[Rle],
        detections: list[Rle],
        crowd: np.ndarray,
    ) -> None:
        self._gt = ground_truths
        self._dt = detections
        self._crowd = crowd

    def __call__(self, dt: np.ndarray, gt: np.ndarray) -> np.ndarray:
        """Return the overlap of each pair of rows, float64 ``(P,)``."""
        overlap = np.empty(len(gt))
        order = np.argsort(gt, kind='stable')
        starts = np.flatnonzero(np.diff(gt[order], prepend=-1))
        for pairs in np.split(order, starts[1:]) if len(order) else ():
            row = gt[pairs[0]]
            overlap[pairs] = _mask_api().iou(
                [self._dt[k] for k in dt[pairs]],
                [self._gt[row]],
                [int(self._crowd[row])],
            )[:, 0]
        return overlap


def read_masks(
    records: Records, image: np.ndarray, truth: CocoGroundTruth
) -> list[Rle]:
    """Return the ``segmentation`` of every record as a run-length code.

    Polygons, uncompressed and compressed run lengths are all understood.

    Args:
        records: annotations or entries.
        image: position of each record's image, ``(n,)``.
        truth: its images tell the size of each mask.

    Raises:
        ValueError: naming the first record without a proper mask, or whose
            image has no size or another one than the mask.
    """
    sizes = _image_sizes(truth, np.unique(image).tolist())
    return [
        _to_rle(value, sizes[position], records.where(row))
        for row, (value, position) in enumerate(
            zip(records.column('segmentation'), image.tolist())
        )
    ]


def mask_areas(masks: list[Rle]) -> np.ndarray:
    """Return the number of pixels of each mask, float64 ``(n,)``."""
    # pycocotools 2.0.11 counts the masks of one call in eight bits.
    areas = [
        _mask_api().area(masks[start : start + _MASKS_PER_CALL])
        for start in range(0, len(masks), _MASKS_PER_CALL)
    ]
    return np.concatenate([np.zeros(0), *areas])


def mask_boxes(masks: list[Rle]) -> np.ndarray:
    """Return x, y, width, height of each mask's bounds, ``(n, 4)``."""
    if not masks:
        return np.zeros((0, 4))
    return _mask_api().toBbox(masks).reshape(-1, 4)


def _mask_api() -> Any:
    try:
        from pycocotools import mask
    except ImportError as error:
        raise ImportError(
            'Masks need pycocotools, which is not installed: '
            "pip install 'pycocotools>=2.0.8'."
        ) from error
    return mask


def _image_sizes(
    truth: CocoGroundTruth, positions: list[int]
) -> dict[int, list[int]]:
    """Return height and width of the images at some positions."""
    images = Records(
        [truth.images[index] for index in positions], truth.source, 'image'
    )
    heights, widths = images.floats('height'), images.floats('width')
    return {
        position: [int(height), int(width)]
        for position, height, width in zip(positions, heights, widths)
    }


def _to_rle(value: Any, size: list[int], where: str) -> Rle:
    if isinstance(value, list) and value:
        return _from_polygons(value, size, where)
    if isinstance(value, dict) and {'counts', 'size'} <= set(value):
        if list(value['size']) != size:
            raise ValueError(
                f"Expected 'segmentation' of {where} to have its image's "
                f'height and width {size}, but got {value["size"]}.'
            )
        counts = value['counts']
        if isinstance(counts, list):
            return _mask_api().frPyObjects(value, *size)
        if isinstance(counts, str):
            counts = counts.encode()
        return {'size': size, 'counts': counts}
    raise ValueError(
        f"Expected 'segmentation' of {where} to be polygons or a run-length "
        f'code, but got {shorten(value)}; without masks, evaluate boxes.'
    )


def _from_polygons(polygons: list[Any], size: list[int], where: str) -> Rle:
    for polygon in polygons:
        if not isinstance(polygon, list) or len(polygon) < 6:
            raise ValueError(
                f"Expected each polygon of 'segmentation' of {where} to have "
                f'at least three points, but got {shorten(polygon)}.'
            )
    api = _mask_api()
    return api.merge(api.frPyObjects(polygons, *size))
