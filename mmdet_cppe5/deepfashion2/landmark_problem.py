"""Landmarks of DeepFashion2's files, handed over to the evaluation core."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from mmdet_cppe5.coco import CocoGroundTruth, CocoResults
from mmdet_cppe5.coco.conversion import Problem
from mmdet_cppe5.coco.records import Records
from mmdet_cppe5.core import Detections, GroundTruths
from mmdet_cppe5.core.oks import KeypointOKS
from mmdet_cppe5.deepfashion2.categories import CATEGORIES, NUM_LANDMARKS
from mmdet_cppe5.deepfashion2.sigmas import SIGMAS


@dataclass(frozen=True, eq=False)
class DetectedLandmarks:
    """Detections of items with their landmarks, one row each.

    Attributes:
        image: position of each detection's image, integer ``(n,)``.
        label: position of each detection's class, integer ``(n,)``.
        scores: float ``(n,)``.
        landmarks: x, y in pixels of all slots, float ``(n, 294, 2)``.
        boxes: x, y, width, height that give detections their size, float
            ``(n, 4)``; None takes the bounds of the landmarks.
    """

    image: np.ndarray
    label: np.ndarray
    scores: np.ndarray
    landmarks: np.ndarray
    boxes: Optional[np.ndarray] = None


def detected_landmarks(results: CocoResults) -> DetectedLandmarks:
    """Read the landmarks of results in the official form.

    If the first result has a ``bbox``, all must have one, and it gives
    detections their size.

    Raises:
        ValueError: naming the first record without 294 landmarks.
    """
    items = results.records.items
    return DetectedLandmarks(
        image=results.image,
        label=results.label,
        scores=results.scores,
        landmarks=_read(results.records)[:, :, :2],
        boxes=results.boxes() if items and 'bbox' in items[0] else None,
    )


def landmark_problem(
    truth: CocoGroundTruth,
    found: DetectedLandmarks,
    as_reference: bool = False,
) -> Problem:
    """Compare landmarks by object keypoint similarity with the 294 sigmas.

    An item's ``area`` sets the scale of its similarities. Two things are as
    the data set's documentation has it, and with ``as_reference`` as its
    code has it; it makes a difference for items without labelled landmarks,
    and for scores by size:

    * An item without labelled landmarks is ignored, and so is a detection
      on it. "On it" is judged by the landmarks of the item's category; in
      the reference by all 294, so that a detection whose 255 or more unused
      landmarks are (0, 0) is a false positive, unless the item lies near
      (0, 0). Whether an item has labelled landmarks is seen from them; in the
      reference its ``num_keypoints`` tells.
    * A detection without a box has the size of the bounds of its category's
      landmarks; in the reference of all 294.

    Args:
        truth: the annotations.
        found: the detections.
        as_reference: do as the reference code does.

    Returns:
        What the core's ``evaluate`` takes.

    Raises:
        ValueError: naming the first annotation without 294 landmarks.
    """
    objects = _read(truth.records)
    slots = None if as_reference else _own_slots(truth)
    if as_reference:
        labelled = truth.records.floats('num_keypoints') > 0
    else:
        labelled = (objects[:, :, 2] > 0).any(axis=1)
    gt = GroundTruths(
        truth.image,
        truth.label,
        truth.boxes,
        num_images=len(truth.image_ids),
        num_classes=len(truth.class_names),
        area=truth.areas,
        crowd=truth.crowd,
        ignore=~labelled,
    )
    dt = Detections(
        found.image,
        found.label,
        _bounds(found, slots) if found.boxes is None else found.boxes,
        found.scores,
        num_images=gt.num_images,
        num_classes=gt.num_classes,
    )
    compared = None if slots is None else slots[truth.label]
    similarity = KeypointOKS(gt, objects, found.landmarks, SIGMAS, compared)
    return Problem(gt, dt, similarity)


def _own_slots(truth: CocoGroundTruth) -> np.ndarray:
    """Mark the landmark slots of each class, bool ``(classes, 294)``."""
    slots = np.zeros((len(truth.class_names), NUM_LANDMARKS), dtype=bool)
    for label, identity in enumerate(truth.category_ids):
        slots[label, CATEGORIES[identity - 1].slots] = True
    return slots


def _read(records: Records) -> np.ndarray:
    """Return landmarks x, y, v of every record, float64 ``(n, 294, 3)``."""
    length = 3 * NUM_LANDMARKS
    rows = records.column('keypoints')
    values = np.empty((len(rows), length))
    # A thousand images' results are some 18 million numbers; packing them is
    # three times as fast as what Records does.
    packed = struct.Struct(f'{length}d')
    memory = memoryview(values.reshape(-1).view(np.uint8))
    try:
        for index, row in enumerate(rows):
            packed.pack_into(memory, index * packed.size, *row)
        sound = bool(np.isfinite(values).all())
    except (struct.error, TypeError):
        sound = False
    if not sound:
        _explain_length(records, rows)
        # Says which other value is to blame.
        values = records.vectors('keypoints', length)
    return values.reshape(-1, NUM_LANDMARKS, 3)


def _explain_length(records: Records, rows: list[Any]) -> None:
    """Raise at the first list of numbers of a wrong length, if any."""
    expected = 3 * NUM_LANDMARKS
    for index, row in enumerate(rows):
        if isinstance(row, (list, tuple)) and len(row) != expected:
            raise ValueError(
                f"Expected 'keypoints' of {records.where(index)} to be "
                f'{expected} finite numbers, x, y and v of all '
                f'{NUM_LANDMARKS} landmarks, but got {len(row)}'
                f'{_likely_cause(len(row), records.items[index])}.'
            )


def _likely_cause(length: int, item: dict[str, Any]) -> str:
    """Say what a list of that many numbers probably is, if known."""
    if length == 3 * 17:
        return ", as COCO's 17 landmarks of a person have"
    if length == 2 * NUM_LANDMARKS:
        return '; is v missing?'
    identity = item.get('category_id')
    for category in CATEGORIES:
        own = category.slots
        if category.id == identity and length == 3 * category.landmarks:
            return (
                f', as the landmarks of {category.name} alone have: put them '
                f'into slots {own.start} to {own.stop - 1}, counted from 0, '
                'and zeros into the others'
            )
    return ''


def _bounds(
    found: DetectedLandmarks, slots: Optional[np.ndarray]
) -> np.ndarray:
    """Return x, y, width, height around each detection's landmarks.

    Args:
        found: n detections.
        slots: the landmarks that count for each class, ``(classes, 294)``;
            None takes all.
    """
    if slots is None:
        return _around(found.landmarks)
    boxes = np.zeros((len(found.landmarks), 4))
    for label, own in enumerate(slots):
        rows = found.label == label
        boxes[rows] = _around(found.landmarks[rows][:, own])
    return boxes


def _around(points: np.ndarray) -> np.ndarray:
    """Return the bounds of each row's points ``(n, k, 2)``, ``(n, 4)``."""
    # Along one coordinate numpy's loops are long.
    low = np.stack([points[:, :, k].min(axis=1) for k in (0, 1)], axis=1)
    high = np.stack([points[:, :, k].max(axis=1) for k in (0, 1)], axis=1)
    return np.concatenate([low, high - low], axis=1)
