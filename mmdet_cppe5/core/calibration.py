"""Whether a score says how likely a detection is to be right.

Guo et al.: On Calibration of Modern Neural Networks, ICML 2017,
https://arxiv.org/abs/1706.04599; for detectors Küppers et al., CVPR Workshops
2020, https://arxiv.org/abs/2004.13546.
"""

from dataclasses import dataclass
from typing import Optional

import numpy as np

from mmdet_cppe5.core.arrays import FloatArray, IntArray
from mmdet_cppe5.core.evaluation import Evaluation


@dataclass(frozen=True, eq=False)
class Calibration:
    """Detections in bins of equal width over the scores 0..1.

    Attributes:
        edges: (B + 1,) edges of the bins. A score on an edge belongs to the
            bin above, 1 to the last.
        count: (B,) counted detections.
        hits: (B,) true positives among them.
        mean_score: (B,) mean score, NaN in an empty bin.
    """

    edges: FloatArray
    count: IntArray
    hits: IntArray
    mean_score: FloatArray

    @property
    def precision(self) -> FloatArray:
        """(B,) share of hits, NaN in an empty bin."""
        precision = np.full(len(self.count), np.nan)
        some = self.count > 0
        np.divide(self.hits, self.count, out=precision, where=some)
        return precision

    @property
    def expected_error(self) -> float:
        """Mean gap of precision and mean score, weighted by count (ECE).

        NaN without detections.
        """
        some = self.count > 0
        if not some.any():
            return float('nan')
        gap = np.abs(self.precision - self.mean_score)[some]
        return float((gap * self.count[some]).sum() / self.count.sum())


def calibration(
    evaluation: Evaluation,
    iou_thr: float = 0.5,
    num_bins: int = 10,
    label: Optional[int] = None,
    min_score: float = 0.0,
) -> Calibration:
    """Compare scores with the share of hits among detections of that score.

    Args:
        evaluation: Its first size range and its largest cap count. Ignored
            detections are left out.
        iou_thr: One of the evaluated thresholds; above it a detection is a
            hit.
        num_bins: Number of bins.
        label: One class; None takes all.
        min_score: Detections below it are left out. Detectors put out
            hundreds of low scores that nobody looks at.

    Raises:
        ValueError: If the threshold was not evaluated, a score is not in
            0..1, or there is no bin.
    """
    if num_bins < 1:
        raise ValueError(f'Expected at least one bin, but got {num_bins}.')
    decisions = evaluation.decisions(iou_thr)
    detections = evaluation.detections
    kept = decisions.true_positive | decisions.false_positive
    kept &= detections.score >= min_score
    if label is not None:
        kept &= detections.label == label
    score = detections.score[kept]
    outside = (score < 0) | (score > 1)
    if outside.any():
        raise ValueError(
            f'Expected scores in 0..1 to compare with shares of hits, but got '
            f'{score[outside][0]}.'
        )
    edges = np.linspace(0, 1, num_bins + 1)
    place = np.searchsorted(edges, score, side='right') - 1
    place = np.minimum(place, num_bins - 1)
    count = np.bincount(place, minlength=num_bins)
    total = np.bincount(place, score, minlength=num_bins)
    mean = np.full(num_bins, np.nan)
    np.divide(total, count, out=mean, where=count > 0)
    hit = place[decisions.true_positive[kept]]
    return Calibration(
        edges=edges,
        count=count,
        hits=np.bincount(hit, minlength=num_bins),
        mean_score=mean,
    )
