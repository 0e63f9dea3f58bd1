"""Masks of COCO files, as run-length codes, and their overlap.

Only this module needs pycocotools, and imports it when masks are read.
:mod:`mmdet_cppe5.coco.mask_content` looks at masks before pycocotools does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from mmdet_cppe5.coco.ground_truth import CocoGroundTruth
from mmdet_cppe5.coco.loading import paused_collector
from mmdet_cppe5.coco.mask_column import MaskColumn, look_at
from mmdet_cppe5.coco.mask_content import (
    SIZES,
    Size,
    as_size,
    mask_fault,
)
from mmdet_cppe5.coco.records import Records, listed, shorten

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


@dataclass(frozen=True)
class Masks:
    """Masks as pycocotools takes them.

    Attributes:
        codes: one compressed run-length code per record.
        column: the masks as they were looked at.
    """

    codes: list[Rle]
    column: MaskColumn

    def areas(self) -> np.ndarray:
        """Return the number of pixels of each mask, float64 ``(n,)``."""
        areas = self.column.pixels.astype(np.float64)
        unknown = np.flatnonzero(areas < 0)
        areas[unknown] = mask_areas(self._codes(unknown))
        return areas

    def boxes(self) -> np.ndarray:
        """Return x, y, width, height of each mask's bounds, ``(n, 4)``."""
        boxes = self.column.boxes.copy()
        unknown = np.flatnonzero(np.isnan(boxes[:, 0]))
        if unknown.size:
            boxes[unknown] = _mask_api().toBbox(self._codes(unknown))
        return boxes

    def _codes(self, rows: np.ndarray) -> list[Rle]:
        return [self.codes[row] for row in rows.tolist()]


def read_masks(
    records: Records,
    image: np.ndarray,
    images: Sequence[dict[str, Any]],
    source: str,
    bounds: bool = False,
) -> Masks:
    """Return the ``segmentation`` of every record as a run-length code.

    Polygons, uncompressed and compressed run lengths are all understood,
    and checked before pycocotools gets them.

    Args:
        records: annotations or entries.
        image: position of each record's image, ``(n,)``.
        images: the image records, which tell the size of each mask.
        source: the file of the image records.
        bounds: whether the masks' bounds will be asked for.

    Raises:
        ValueError: naming the first record without a proper mask, or whose
            image has no size or another one than the mask.
    """
    with paused_collector():
        masks, sizes = _looked_at(records, image, images, source, bounds)
        api = _mask_api()
        if masks.plain:
            return Masks(masks.values, masks)
        codes = [_to_rle(api, *pair) for pair in zip(masks.values, sizes)]
    return Masks(codes, masks)


def mask_areas(masks: list[Rle]) -> np.ndarray:
    """Return the number of pixels of each mask, float64 ``(n,)``."""
    # pycocotools 2.0.11 counts the masks of one call in eight bits.
    areas = [
        _mask_api().area(masks[start : start + _MASKS_PER_CALL])
        for start in range(0, len(masks), _MASKS_PER_CALL)
    ]
    return np.concatenate([np.zeros(0), *areas])


def _mask_api() -> Any:
    try:
        from pycocotools import mask
    except ImportError as error:
        raise ImportError(
            'Masks need pycocotools, which is not installed: '
            "pip install 'pycocotools>=2.0.8'."
        ) from error
    return mask


def check_masks(truth: CocoGroundTruth) -> None:
    """Check the masks of those annotations that have one.

    Raises:
        ValueError: naming the first record with a mask that is none.
    """
    rows = [
        row
        for row, item in enumerate(truth.records.items)
        if item.get('segmentation')
    ]
    if rows:
        records = truth.records
        items = [records.items[row] for row in rows]
        masked = Records(items, records.source, records.name)
        _looked_at(masked, truth.image[rows], truth.images, truth.source)


def _looked_at(
    records: Records,
    image: np.ndarray,
    images: Sequence[dict[str, Any]],
    source: str,
    bounds: bool = False,
) -> tuple[MaskColumn, list[Size]]:
    """Return masks and their sizes after a check; see :func:`read_masks`."""
    values = records.column('segmentation')
    sizes = _sizes(values, image.tolist(), images, source)
    masks = look_at(values, sizes, bounds)
    if isinstance(masks, int):
        raise ValueError(
            f"Expected 'segmentation' of {records.where(masks)} to be "
            f'{mask_fault(values[masks], sizes[masks])}'
        )
    return masks, sizes


def _sizes(
    values: list[Any],
    positions: list[int],
    images: Sequence[dict[str, Any]],
    source: str,
) -> list[Size]:
    """Return the height and width that each mask is to have.

    They are those of its image; where that states none, those that a
    run-length code brings itself.
    """
    known: dict[int, Optional[Size]] = {}
    for position in set(positions):
        image = images[position]
        stated = image.get('height'), image.get('width')
        known[position] = as_size(stated)
        if known[position] is None and None not in stated:
            record = Records([image], source, 'image').where(0)
            raise ValueError(
                f"Expected 'height' and 'width' of {record} to be {SIZES}, "
                f'but got {shorten(stated[0])} and {shorten(stated[1])}.'
            )
    sizes = []
    for value, position in zip(values, positions):
        size = known[position]
        if size is None and isinstance(value, dict):
            size = as_size(value.get('size'))
        if size is None:
            image = images[position]
            record = Records([image], source, 'image').where(0)
            lacking = 'height' if image.get('height') is None else 'width'
            raise ValueError(
                f'Expected a {lacking!r} in {record}, since a mask needs it, '
                f'but it {_instead(image, lacking)}.'
            )
        sizes.append(size)
    return sizes


def _instead(record: dict[str, Any], key: str) -> str:
    if key in record:
        return f'is {shorten(record[key])}'
    return f'has only {listed(record)}'


def _to_rle(api: Any, value: Any, size: Size) -> Rle:
    """Hand a mask that was checked over to pycocotools."""
    if isinstance(value, list):
        codes = api.frPyObjects(value, *size)
        return codes[0] if len(codes) == 1 else api.merge(codes)
    counts = value['counts']
    if not isinstance(counts, (str, bytes)):
        return api.frPyObjects({'size': size, 'counts': counts}, *size)
    return {'size': size, 'counts': counts}
