"""Two detectors side by side in one evaluation, for exchanging images.

The detectors are put side by side in one evaluation of ``2 I`` images: image
``2 i`` holds the first one's detections on image ``i``, image ``2 i + 1`` the
second one's, and both hold the objects of image ``i``. A detector with some
images exchanged is then a choice of one image of every two, and the matching
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
from mmdet_cppe5.core.compared_number import as_before, settings_behind
from mmdet_cppe5.core.evaluation import Evaluation, evaluate


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


class _SideBySide:
    """Two similarities as one; the second's rows come after the first's."""

    def __init__(
        self, first: Evaluation, second: Evaluation, metric: str
    ) -> None:
        self._parts = [as_before(each, metric) for each in (first, second)]
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
