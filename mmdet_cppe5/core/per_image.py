"""Hits, false alarms and misses of every image."""

from dataclasses import dataclass
from typing import Optional

import numpy as np

from mmdet_cppe5.core.arrays import BoolArray, FloatArray, IntArray
from mmdet_cppe5.core.evaluation import Evaluation


@dataclass(frozen=True, eq=False)
class ImageCounts:
    """Counts per image at one score threshold.

    Attributes:
        true_positives: (I,) detections that count as hits.
        false_positives: (I,) detections that count as false alarms.
        false_negatives: (I,) counted objects without a hit.
    """

    true_positives: IntArray
    false_positives: IntArray
    false_negatives: IntArray

    @property
    def f1(self) -> FloatArray:
        """(I,) F1 of each image, NaN where nothing is and nothing is found."""
        right = 2 * self.true_positives
        total = right + self.false_positives + self.false_negatives
        f1 = np.full(len(total), np.nan)
        np.divide(right, total, out=f1, where=total > 0)
        return f1


def image_counts(
    evaluation: Evaluation,
    score_thr: float,
    iou_thr: float = 0.5,
    label: Optional[int] = None,
) -> ImageCounts:
    """Count what is right and wrong in every image.

    Args:
        evaluation: Its first size range and its largest cap count.
        score_thr: Detections below it are left out.
        iou_thr: One of the evaluated thresholds.
        label: One class; None takes all.

    Raises:
        ValueError: If the threshold was not evaluated.
    """
    gt, dt = evaluation.ground_truths, evaluation.detections
    decisions = evaluation.decisions(iou_thr)
    kept = dt.score >= score_thr
    hit = decisions.true_positive & kept
    missed = ~decisions.gt_ignored
    missed[decisions.matched_gt[hit]] = False

    def count(flags: BoolArray, image: IntArray, labels: IntArray) -> IntArray:
        if label is not None:
            flags = flags & (labels == label)
        return np.bincount(image[flags], minlength=gt.num_images)

    return ImageCounts(
        true_positives=count(hit, dt.image, dt.label),
        false_positives=count(
            decisions.false_positive & kept, dt.image, dt.label
        ),
        false_negatives=count(missed, gt.image, gt.label),
    )
