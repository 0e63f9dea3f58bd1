"""Landmarks of MMDetection's data samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
import torch

from mmdet_cppe5.coco import CocoGroundTruth
from mmdet_cppe5.deepfashion2.categories import NUM_LANDMARKS
from mmdet_cppe5.deepfashion2.landmark_problem import DetectedLandmarks
from mmdet_cppe5.samples import (
    SampleDetections,
    detections_of_results,
    predictions,
    read_sample,
    result_entries,
    to_array,
)


@dataclass(frozen=True)
class FashionDetections(SampleDetections):
    """What one data sample carries, on the CPU.

    Attributes:
        landmarks: x, y in pixels of the original image, float32
            ``(n, 294, 2)``, None where not kept.
    """

    landmarks: Optional[np.ndarray] = None


def read_fashion_sample(
    sample: Mapping[str, Any], classes: Sequence[str], tasks: Sequence[str]
) -> FashionDetections:
    """Take what some tasks need out of a data sample.

    Args:
        sample: a ``DetDataSample`` as a dict, as an evaluator passes it.
        classes: the names that labels stand for.
        tasks: some of ``'bbox'``, ``'segm'``, ``'keypoints'``.

    Raises:
        KeyError: if the predictions lack masks or landmarks.
        ValueError: naming the image of a result that cannot be judged.
    """
    found = vars(read_sample(sample, classes, keep_masks='segm' in tasks))
    if 'keypoints' in tasks:
        landmarks = predictions(sample, 'keypoints')
        found = {**found, 'landmarks': _landmarks(landmarks, sample)}
    return FashionDetections(**found)


def keypoint_entries(
    results: Sequence[FashionDetections], category_ids: Sequence[Any]
) -> list[dict[str, Any]]:
    """Return detected landmarks as the objects of a COCO result file.

    The third number of each landmark, which no evaluation reads, is 1.

    Args:
        results: at most one per image, with landmarks.
        category_ids: the category id of each label.
    """
    entries = result_entries(results, category_ids)
    landmarks = (each for result in results for each in result.landmarks)
    for entry, points in zip(entries, landmarks):
        triples = np.insert(points.astype(float), 2, 1, axis=1)
        entry['keypoints'] = triples.ravel().tolist()
    return entries


def landmarks_of_results(
    results: Sequence[FashionDetections], truth: CocoGroundTruth
) -> DetectedLandmarks:
    """Return the landmarks of all results; boxes give the sizes.

    Raises:
        ValueError: if an image is not in the ground truth.
    """
    rows = detections_of_results(results, truth)
    none = np.zeros((0, NUM_LANDMARKS, 2), dtype=np.float32)
    return DetectedLandmarks(
        image=rows.image,
        label=rows.label,
        scores=rows.score,
        landmarks=np.concatenate([none, *(r.landmarks for r in results)]),
        boxes=rows.bbox,
    )


def _landmarks(values: Any, sample: Mapping[str, Any]) -> np.ndarray:
    """Return ``(n, 294, 2)`` finite landmarks, or say what is wrong."""
    points = to_array(values, torch.float32)
    if points.ndim != 3 or points.shape[1] != NUM_LANDMARKS:
        raise ValueError(
            "Expected 'keypoints' in the predictions of image id "
            f'{sample["img_id"]!r} to have shape (detections, '
            f'{NUM_LANDMARKS}, 2 or more), but got {points.shape}.'
        )
    if not np.isfinite(points[:, :, :2]).all():
        raise ValueError(
            "Expected 'keypoints' in the predictions of image id "
            f'{sample["img_id"]!r} to be finite, but they are not.'
        )
    return points[:, :, :2]
