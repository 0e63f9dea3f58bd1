"""One number out of an evaluation: what is behind it, and no more than that.

Comparing detectors by one number needs its thresholds and its size range only.
"""

import numpy as np

from mmdet_cppe5.core.arrays import FloatArray, IntArray
from mmdet_cppe5.core.evaluation import Evaluation, evaluate
from mmdet_cppe5.core.lookup import size_suffix
from mmdet_cppe5.core.similarity import Similarity
from mmdet_cppe5.core.tide_fixes import FIXES


def settings_behind(
    evaluation: Evaluation,
) -> dict[str, tuple[FloatArray, str]]:
    """Number that can be compared -> its thresholds and size range."""
    thresholds = evaluation.iou_thrs
    first, *sizes = evaluation.area_ranges
    settings = {'AP': (thresholds, first)}
    for percent in (50, 75):
        if evaluation.has_threshold(percent / 100):
            index = evaluation.threshold_index(percent / 100)
            settings[f'AP{percent}'] = thresholds[index : index + 1], first
    for name in sizes:
        settings[f'AP{size_suffix(name)}'] = thresholds, name
    for name in FIXES[1:]:
        settings[f'dAP_{name}'] = thresholds[:1], first
    return settings


def reduced(evaluation: Evaluation, metric: str) -> Evaluation:
    """The evaluation as far as a number needs it: its AP or dAP is it.

    Args:
        evaluation: Any.
        metric: A key of :func:`settings_behind`.
    """
    thresholds, area = settings_behind(evaluation)[metric]
    return evaluate(
        evaluation.ground_truths,
        evaluation.detections,
        similarity=as_before(evaluation, metric),
        iou_thrs=thresholds.tolist(),
        area_ranges={area: evaluation.area_ranges[area]},
        max_dets=evaluation.max_dets[-1:],
    )


def as_before(evaluation: Evaluation, metric: str) -> Similarity:
    """The similarity; computed again only where other classes matter."""
    if metric.startswith('dAP_'):
        return evaluation.similarity
    return _Known(evaluation)


class _Known:
    """Similarities of one image and class, out of an evaluation's pairs.

    Masks and keypoints take long to compare.
    """

    def __init__(self, evaluation: Evaluation) -> None:
        pairs = evaluation.pairs
        self._width = len(evaluation.ground_truths)
        keys = pairs.dt * self._width + pairs.gt
        order = np.argsort(keys)
        # An end that no pair has, for pairs with nothing in common.
        self._keys = np.append(keys[order], -1)
        self._similarity = np.append(pairs.similarity[order], 0)

    def __call__(self, dt: IntArray, gt: IntArray) -> FloatArray:
        """Score pairs; see :class:`Similarity`."""
        keys = dt * self._width + gt
        found = np.searchsorted(self._keys[:-1], keys)
        return np.where(
            self._keys[found] == keys, self._similarity[found], 0.0
        )
