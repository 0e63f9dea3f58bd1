"""Keypoints of COCO files -> arrays for the evaluation core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

import numpy as np

from mmdet_cppe5.coco.ground_truth import CocoGroundTruth
from mmdet_cppe5.coco.records import Records, listed, shorten
from mmdet_cppe5.coco.results import CocoResults
from mmdet_cppe5.core import Detections, GroundTruths
from mmdet_cppe5.core.oks import KeypointOKS

#: COCO's 17 body keypoints, nose to right ankle
#: (https://cocodataset.org/#keypoints-eval).
COCO_SIGMAS = (
    *(0.026, 0.025, 0.025, 0.035, 0.035),  # head
    *(0.079, 0.079, 0.072, 0.072, 0.062, 0.062),  # arms
    *(0.107, 0.107, 0.087, 0.087, 0.089, 0.089),  # legs
)


def keypoint_problem(
    truth: CocoGroundTruth,
    results: CocoResults,
    boxes: GroundTruths,
    sigmas: Optional[Sequence[float]] = None,
) -> tuple[GroundTruths, Detections, KeypointOKS]:
    """Read keypoints and hand them over to the evaluation core.

    An object without labelled keypoints is not counted. A detection's area
    is that of its keypoints' bounds.

    Args:
        truth: the annotations.
        results: the detections.
        boxes: the annotations as the core takes them.
        sigmas: one number per keypoint; None means COCO's 17.

    Raises:
        ValueError: naming the first record without proper keypoints, or if
            the numbers of keypoints and sigmas differ.
    """
    spread = COCO_SIGMAS if sigmas is None else tuple(sigmas)
    if not all(value > 0 for value in spread):
        raise ValueError(
            f'Expected `sigmas` to be positive, but got {listed(spread)}.'
        )
    gt_points = _read(truth.records, len(spread))
    dt_points = _read(results.records, len(spread))[:, :, :2]
    ignore = boxes.crowd | (_labelled(truth.records, gt_points) == 0)
    gt = GroundTruths(
        boxes.image,
        boxes.label,
        boxes.bbox,
        num_images=boxes.num_images,
        num_classes=boxes.num_classes,
        area=boxes.area,
        crowd=boxes.crowd,
        ignore=ignore,
    )
    low, high = dt_points.min(axis=1), dt_points.max(axis=1)
    dt = Detections(
        results.image,
        results.label,
        np.concatenate([low, high - low], axis=1),
        results.scores,
        num_images=gt.num_images,
        num_classes=gt.num_classes,
    )
    return gt, dt, KeypointOKS(gt, gt_points, dt_points, spread)


def _read(records: Records, count: int) -> np.ndarray:
    """Return ``(n, count, 3)`` keypoints: x, y in pixels, visibility."""
    for index, item in enumerate(records.items):
        values = item.get('keypoints')
        if not isinstance(values, list) or len(values) != 3 * count:
            got = shorten(values)
            if isinstance(values, list):
                got = f'{len(values)} ({got})'
            raise ValueError(
                f"Expected 'keypoints' of {records.where(index)} to be x, y "
                f'and visibility of {count} keypoints ({3 * count} numbers), '
                f'but got {got}; other keypoints than '
                "COCO's need `sigmas`, one per keypoint."
            )
    return records.vectors('keypoints', 3 * count).reshape(-1, count, 3)


def _labelled(records: Records, keypoints: np.ndarray) -> np.ndarray:
    """Return ``num_keypoints`` of each record, counted where missing."""
    counted = (keypoints[:, :, 2] > 0).sum(axis=1).tolist()
    return records.to_floats(
        'num_keypoints',
        [
            item.get('num_keypoints', number)
            for item, number in zip(records.items, counted)
        ],
    )
