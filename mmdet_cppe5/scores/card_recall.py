"""The score of the recipe on CPPE-5's evaluation card: an average recall."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mmdet_cppe5.core import Detections, GroundTruths, Similarity


def card_recall(
    ground_truths: GroundTruths,
    detections: Detections,
    similarity: Similarity,
    iou_thrs: Sequence[float],
) -> np.ndarray:
    """Return matched objects over all objects at each threshold.

    Detections are taken in the order given, whatever their scores; each
    takes the free object of its image and class that it overlaps most, if
    by the threshold or more. Classes are pooled, there is no cap, and
    nothing is lost by false alarms. The card's score is the mean over the
    thresholds: an average recall, not an average precision.

    Args:
        ground_truths: the objects; ignored ones are left out.
        detections: what was found.
        similarity: how pairs are compared.
        iou_thrs: ``(T,)`` thresholds.

    Returns:
        float64 ``(T,)`` fractions; NaN without objects.
    """
    total = int((~ground_truths.ignore).sum())
    if total == 0:
        return np.full(len(iou_thrs), np.nan)
    dt, gt = _same_image_and_class(ground_truths, detections)
    overlap = similarity(dt, gt)
    near = overlap >= min(iou_thrs)
    dt, gt, overlap = dt[near], gt[near], overlap[near]
    order = np.lexsort([-overlap, dt])
    dt, gt, overlap = dt[order], gt[order], overlap[order]
    return np.array(
        [
            _greedy(dt[overlap >= threshold], gt[overlap >= threshold]) / total
            for threshold in iou_thrs
        ]
    )


def _same_image_and_class(
    ground_truths: GroundTruths, detections: Detections
) -> tuple[np.ndarray, np.ndarray]:
    """Return all pairs of rows that share image and class, ``(P,)`` each."""
    counted = np.flatnonzero(~ground_truths.ignore)
    classes = ground_truths.num_classes
    group = ground_truths.image * classes + ground_truths.label
    rows = counted[np.argsort(group[counted], kind='stable')]
    wanted = detections.image * classes + detections.label
    low = np.searchsorted(group[rows], wanted, 'left')
    sizes = np.searchsorted(group[rows], wanted, 'right') - low
    dt = np.repeat(np.arange(len(wanted)), sizes)
    step = np.arange(len(dt)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return dt, rows[np.repeat(low, sizes) + step]


def _greedy(dt: np.ndarray, gt: np.ndarray) -> int:
    """Count matches of pairs that are sorted as they are to be tried."""
    matched: set[int] = set()
    busy = -1
    for found, wanted in zip(dt.tolist(), gt.tolist()):
        if found != busy and wanted not in matched:
            matched.add(wanted)
            busy = found
    return len(matched)
