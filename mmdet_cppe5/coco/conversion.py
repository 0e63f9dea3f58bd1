"""COCO columns -> the evaluation core's input, for boxes, masks, keypoints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional

import numpy as np

from mmdet_cppe5.coco.ground_truth import CocoGroundTruth
from mmdet_cppe5.coco.keypoints import keypoint_problem
from mmdet_cppe5.coco.masks import (
    MaskIoU,
    Masks,
    read_masks,
)
from mmdet_cppe5.coco.records import Records
from mmdet_cppe5.coco.results import CocoResults
from mmdet_cppe5.core import (
    AREA_RANGES,
    MAX_DETS,
    BoxIoU,
    Detections,
    GroundTruths,
    Similarity,
)

IOU_TYPES = ('bbox', 'segm', 'keypoints')
AREA_SOURCES = ('annotation', 'bbox')


@dataclass(frozen=True)
class Problem:
    """What :func:`mmdet_cppe5.core.evaluate` takes.

    Attributes:
        ground_truths: the objects to find.
        detections: what was found.
        similarity: how a detection is compared with an object.
    """

    ground_truths: GroundTruths
    detections: Detections
    similarity: Similarity


def to_core(
    truth: CocoGroundTruth,
    results: CocoResults,
    iou_type: str = 'bbox',
    *,
    area_source: str = 'annotation',
    sigmas: Optional[Sequence[float]] = None,
) -> Problem:
    """Hand files over to the evaluation core.

    Args:
        truth: the ground truth.
        results: detections read against it.
        iou_type: ``'bbox'``, ``'segm'`` (masks; needs pycocotools) or
            ``'keypoints'``.
        area_source: which area decides an object's size range: the one the
            annotation states, or ``'bbox'``, its width × height.
        sigmas: for keypoints, one number per keypoint; None means COCO's
            for its 17 body keypoints.

    Raises:
        ValueError: if a setting is unknown, or a record lacks what the kind
            of evaluation needs.
    """
    check_choice('iou_type', iou_type, IOU_TYPES)
    check_choice('area_source', area_source, AREA_SOURCES)
    if iou_type == 'bbox':
        return _box_problem(truth, results, area_source)
    if iou_type == 'segm':
        return _mask_problem(truth, results, area_source)
    gt, dt, similarity = keypoint_problem(
        truth, results, ground_truths(truth, area_source), sigmas
    )
    return Problem(gt, dt, similarity)


def default_settings(
    iou_type: str,
) -> tuple[dict[str, tuple[float, float]], tuple[int, ...]]:
    """Return COCO's size ranges and caps for a kind of evaluation.

    Keypoints have no small objects in COCO, and one cap of 20.
    """
    ranges = dict(AREA_RANGES)
    if iou_type != 'keypoints':
        return ranges, MAX_DETS
    del ranges['small']
    return ranges, (20,)


def check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    """Raise ValueError if a setting is none of its choices."""
    if value not in choices:
        raise ValueError(
            f'Expected `{name}` to be one of {", ".join(map(repr, choices))}, '
            f'but got {value!r}.'
        )


def ground_truths(
    truth: CocoGroundTruth,
    area_source: str = 'annotation',
    boxes: Optional[np.ndarray] = None,
    areas: Optional[np.ndarray] = None,
) -> GroundTruths:
    """Return a file's annotations as the core takes them.

    Args:
        truth: the annotations.
        area_source: as for :func:`to_core`.
        boxes: ``(n, 4)`` instead of the annotations' own.
        areas: ``(n,)`` instead of the annotations' own.
    """
    boxes = truth.boxes if boxes is None else boxes
    areas = truth.areas if areas is None else areas
    return GroundTruths(
        truth.image,
        truth.label,
        boxes,
        num_images=len(truth.image_ids),
        num_classes=len(truth.class_names),
        area=areas if area_source == 'annotation' else None,
        crowd=truth.crowd,
    )


def _box_problem(
    truth: CocoGroundTruth, results: CocoResults, area_source: str
) -> Problem:
    gt = ground_truths(truth, area_source)
    dt = Detections(
        results.image,
        results.label,
        result_boxes(results, truth),
        results.scores,
        num_images=gt.num_images,
        num_classes=gt.num_classes,
    )
    return Problem(gt, dt, BoxIoU(gt, dt))


def result_boxes(results: CocoResults, truth: CocoGroundTruth) -> np.ndarray:
    """Return x, y, width, height of detections, ``(n, 4)``.

    A detection with a mask and no box gets the bounds of its mask, as
    pycocotools' ``loadRes`` gives it.
    """
    boxed = results.records.boxed()
    if boxed.all():
        return results.boxes()
    boxes = results.records.boxes(or_masks=True)
    _fill(boxes, results.records, results.image, truth)
    return boxes


def _fill(
    boxes: np.ndarray,
    records: Records,
    image: np.ndarray,
    truth: CocoGroundTruth,
) -> None:
    """Give the rows of boxes that are NaN the bounds of their masks."""
    rows = np.flatnonzero(np.isnan(boxes[:, 0]))
    masked = Records(
        [records.items[row] for row in rows], records.source, records.name
    )
    masks = read_masks(masked, image[rows], truth.images, truth.source, True)
    boxes[rows] = masks.boxes()


def _mask_problem(
    truth: CocoGroundTruth, results: CocoResults, area_source: str
) -> Problem:
    """Masks' areas decide, also where a result gives a box beside its mask."""
    gt_masks = read_masks(
        truth.records, truth.image, truth.images, truth.source
    )
    dt_masks = read_masks(
        results.records,
        results.image,
        truth.images,
        truth.source,
        bounds=True,
    )
    gt = ground_truths(truth, area_source, *_boxes_and_areas(truth, gt_masks))
    dt = Detections(
        results.image,
        results.label,
        dt_masks.boxes(),
        results.scores,
        num_images=gt.num_images,
        num_classes=gt.num_classes,
        area=dt_masks.areas(),
    )
    return Problem(
        gt, dt, MaskIoU(gt_masks.codes, dt_masks.codes, truth.crowd)
    )


def _boxes_and_areas(
    truth: CocoGroundTruth, masks: Masks
) -> tuple[np.ndarray, np.ndarray]:
    """Return annotations' boxes and areas, by their masks where not stated."""
    boxes, areas = truth.boxes.copy(), truth.areas.copy()
    for values, missing, measure in (
        (boxes, np.isnan(boxes[:, 0]), Masks.boxes),
        (areas, _without_area(truth), Masks.areas),
    ):
        rows = np.flatnonzero(missing)
        if rows.size:
            values[rows] = measure(masks)[rows]
    return boxes, areas


def _without_area(truth: CocoGroundTruth) -> np.ndarray:
    return np.array(
        [item.get('area') is None for item in truth.records.items], bool
    )
