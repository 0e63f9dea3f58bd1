"""Precision, recall and F1 against the score threshold."""

from dataclasses import dataclass
from typing import Optional

import numpy as np

from mmdet_cppe5.core.arrays import FloatArray, IntArray
from mmdet_cppe5.core.evaluation import Evaluation


@dataclass(frozen=True, eq=False)
class ScoreCurve:
    """What keeping only detections of at least some score gives.

    All arrays have one value per distinct score of a counted detection,
    descending; they are empty without any.

    Attributes:
        score: (n,) thresholds.
        hits: (n,) true positives of at least this score.
        false_alarms: (n,) false positives of at least this score.
        positives: Ground truths that count.
    """

    score: FloatArray
    hits: IntArray
    false_alarms: IntArray
    positives: int

    @property
    def precision(self) -> FloatArray:
        """(n,) hits over detections kept."""
        precision: FloatArray = self.hits / (self.hits + self.false_alarms)
        return precision

    @property
    def recall(self) -> FloatArray:
        """(n,) hits over ground truths, NaN without any."""
        if self.positives == 0:
            return np.full(len(self.hits), np.nan)
        recall: FloatArray = self.hits / self.positives
        return recall

    @property
    def f1(self) -> FloatArray:
        """(n,) harmonic mean of both, NaN without ground truths."""
        if self.positives == 0:
            return np.full(len(self.hits), np.nan)
        kept = self.hits + self.false_alarms
        f1: FloatArray = 2 * self.hits / (kept + self.positives)
        return f1

    @property
    def best(self) -> Optional[int]:
        """Index of the largest F1, of equals the largest score.

        None where nothing was detected or nothing was to be found.
        """
        if len(self.score) == 0 or self.positives == 0:
            return None
        return int(np.argmax(self.f1))


def score_curve(
    evaluation: Evaluation,
    iou_thr: float = 0.5,
    label: Optional[int] = None,
) -> ScoreCurve:
    """Follow the score threshold from the surest detection down.

    Detections below a threshold never take anything from those above, so one
    matching serves all thresholds.

    Args:
        evaluation: Its first size range and its largest cap count.
        iou_thr: One of the evaluated thresholds.
        label: One class; None pools all classes that have ground truth, as
            AP leaves out the others.

    Raises:
        ValueError: If the threshold was not evaluated.
    """
    decisions = evaluation.decisions(iou_thr)
    positives = evaluation.positives[0]
    wanted = positives > 0
    if label is not None:
        wanted = np.arange(len(positives)) == label
    kept = wanted[evaluation.detections.label]
    kept &= decisions.true_positive | decisions.false_positive
    rows = np.flatnonzero(kept)
    score = evaluation.detections.score[rows]
    order = np.argsort(-score, kind='stable')
    score, hit = score[order], decisions.true_positive[rows[order]]
    last = np.flatnonzero(
        np.append(score[1:] != score[:-1], True)[: len(score)]
    )
    hits: IntArray = np.cumsum(hit, dtype=np.int64)[last]
    return ScoreCurve(
        score=score[last],
        hits=hits,
        false_alarms=last + 1 - hits,
        positives=int(positives[wanted].sum()),
    )
