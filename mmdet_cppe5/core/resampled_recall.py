"""Average recall of resampled images.

Hits and objects are counts, so those of resampled images are sums over the
copies, and nothing depends on an order.
"""

import numpy as np
from numpy.typing import NDArray

from mmdet_cppe5.core.arrays import FloatArray, IntArray
from mmdet_cppe5.core.evaluation import Evaluation
from mmdet_cppe5.core.lookup import size_suffix
from mmdet_cppe5.core.precision_recall import mean_of_defined


class ResampledRecall:
    """Average recall for any number of copies of the images.

    Args:
        evaluation: An evaluation of I images.
        positives: (I, A, K) counted objects of each image.

    Attributes:
        names: ``AR<cap>`` for every cap, then one for each size range after
            the first.
        areas: Index of the size range of each.
    """

    def __init__(self, evaluation: Evaluation, positives: IntArray) -> None:
        sizes = list(evaluation.area_ranges)[1:]
        caps = evaluation.max_dets
        self.names = [
            *(f'AR{cap}' for cap in caps),
            *(f'AR{size_suffix(name)}' for name in sizes),
        ]
        self.areas = [0] * len(caps) + list(range(1, len(sizes) + 1))
        self._hits = _hits_per_image(evaluation).astype(np.float64)
        #: (I, N, K) objects, once for every threshold.
        self._positives = (
            positives[:, self.areas] * len(evaluation.iou_thrs)
        ).astype(np.float64)

    def resample(self, weights: NDArray[np.int32]) -> FloatArray:
        """(B, N) values for (B, I) copies of the images, NaN if undefined."""
        copies = weights.astype(np.float64)
        hits = np.tensordot(copies, self._hits, 1)  # (B, N, K)
        positives = np.tensordot(copies, self._positives, 1)
        return mean_of_defined(_ratio(hits, positives), 2)

    def influence(self) -> FloatArray:
        """(I, N) derivative of each value in each image's weight."""
        positives = self._positives.sum(axis=0)  # (N, K)
        recall = _ratio(self._hits.sum(axis=0), positives)
        change = self._hits - recall * self._positives
        return mean_of_defined(_ratio(change, positives), 2)


def _hits_per_image(evaluation: Evaluation) -> IntArray:
    """(I, N, K) hits of all thresholds, for each kind of recall."""
    curves, ranking = evaluation.curves, evaluation.ranking
    gt = evaluation.ground_truths
    num_areas, num_classes = evaluation.positives.shape
    curve = np.repeat(np.arange(len(curves.per_curve)), curves.per_curve)
    cell, label = np.divmod(curve, num_classes)
    area = cell % num_areas  # (H,)
    rank = ranking.rank[curves.place]
    image = evaluation.detections.image[ranking.rows[curves.place]]
    key = image * num_classes + label
    size = gt.num_images * num_classes
    chosen = [(area == 0) & (rank < cap) for cap in evaluation.max_dets]
    chosen += [area == each for each in range(1, num_areas)]
    counts: IntArray = np.stack(
        [
            np.bincount(key[some], minlength=size).reshape(-1, num_classes)
            for some in chosen
        ],
        axis=1,
    )
    return counts


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Part of the whole, NaN where there is none."""
    ratio = np.full(part.shape, np.nan)
    np.divide(part, whole, out=ratio, where=whole > 0)
    return ratio
