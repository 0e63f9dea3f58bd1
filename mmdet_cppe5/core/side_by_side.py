"""Evaluations made for comparing: two side by side, or reduced to a number.

The detectors are put side by side in one evaluation of ``2 I`` images: image
``2 i`` holds the first one's detections on image ``i``, image ``2 i + 1`` the
second one's, and both hold the objects of image ``i``. A detector with some
images swapped is then a choice of one image of every two, and the matching
does not depend on the choice.

Scores of different detectors are not on one scale, and average precision
looks at their order only. So each score is first replaced by its rank among
the detector's own scores of the class, which leaves the detector's average
precision as it is.
"""

import numpy as np

from mmdet_cppe5.core.arrays import (
    Detections,
    FloatArray,
    GroundTruths,
    IntArray,
)
from mmdet_cppe5.core.evaluation import Evaluation, evaluate, size_suffix
from mmdet_cppe5.core.similarity import Similarity
from mmdet_cppe5.core.tide_fixes import FIXES


def pair_up(first: Evaluation, second: Evaluation, metric: str) -> Evaluation:
    """Evaluate two detectors side by side, as far as a number needs it.

    Args:
        first: Evaluation of I images.
        second: The same ground truths and settings, other detections.
        metric: ``'AP'``, ``'AP50'``, ..., ``'APs'``, ... or ``'dAP_Cls'``,
            ... It decides which thresholds and size range are evaluated:
            the result's ``'AP'`` (or ``'dAP_...'``) is the number.

    Returns:
        Evaluation of 2 I images. Scores are minus the rank of the score
        among the detector's own of the class, equal scores sharing one.
    """
    gt = first.ground_truths
    dts = [by_rank(each.detections) for each in (first, second)]
    world = {'num_images': 2 * gt.num_images, 'num_classes': gt.num_classes}

    def both(name: str) -> FloatArray:
        return np.concatenate([getattr(dt, name) for dt in dts])

    thresholds, area = settings_behind(first)[metric]
    return evaluate(
        GroundTruths(
            np.concatenate([2 * gt.image, 2 * gt.image + 1]),
            np.tile(gt.label, 2),
            np.tile(gt.bbox, (2, 1)),
            area=np.tile(gt.area, 2),
            crowd=np.tile(gt.crowd, 2),
            ignore=np.tile(gt.ignore, 2),
            **world,
        ),
        Detections(
            np.concatenate([2 * dts[0].image, 2 * dts[1].image + 1]),
            *(both(name) for name in ('label', 'bbox', 'score')),
            area=both('area'),
            **world,
        ),
        similarity=_SideBySide(first, second, metric),
        iou_thrs=thresholds.tolist(),
        area_ranges={area: first.area_ranges[area]},
        max_dets=first.max_dets[-1:],
    )


def by_rank(detections: Detections) -> Detections:
    """The same with minus the rank in its class as each score.

    The best score of a class becomes -1; equal scores stay equal.
    """
    score = np.empty(len(detections))
    for label in np.unique(detections.label):
        rows = np.flatnonzero(detections.label == label)
        levels, level = np.unique(detections.score[rows], return_inverse=True)
        score[rows] = level - len(levels)
    return Detections(
        detections.image,
        detections.label,
        detections.bbox,
        score,
        area=detections.area,
        num_images=detections.num_images,
        num_classes=detections.num_classes,
    )


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
        similarity=_as_before(evaluation, metric),
        iou_thrs=thresholds.tolist(),
        area_ranges={area: evaluation.area_ranges[area]},
        max_dets=evaluation.max_dets[-1:],
    )


def _as_before(evaluation: Evaluation, metric: str) -> Similarity:
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


class _SideBySide:
    """Two similarities as one; the second's rows come after the first's."""

    def __init__(
        self, first: Evaluation, second: Evaluation, metric: str
    ) -> None:
        self._parts = [_as_before(each, metric) for each in (first, second)]
        self._dt = len(first.detections)
        self._gt = len(first.ground_truths)

    def __call__(self, dt: IntArray, gt: IntArray) -> FloatArray:
        """Score pairs; see :class:`Similarity`."""
        result = np.empty(len(dt))
        second = dt >= self._dt
        for side, similarity in enumerate(self._parts):
            some = np.flatnonzero(second == bool(side))
            result[some] = similarity(
                dt[some] - side * self._dt, gt[some] - side * self._gt
            )
        return result
