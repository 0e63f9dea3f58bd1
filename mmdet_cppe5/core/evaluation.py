"""One matching pass, and everything COCO's evaluation reads off it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Optional

import numpy as np

from mmdet_cppe5.core.arrays import (
    BoolArray,
    Detections,
    FloatArray,
    GroundTruths,
    IntArray,
)
from mmdet_cppe5.core.similarity import Similarity

#: COCO's ten thresholds; the spacing is pycocotools' own, bit for bit.
IOU_THRS: tuple[float, ...] = tuple(np.linspace(0.5, 0.95, 10).tolist())
#: COCO's size ranges in square pixels, both ends included.
AREA_RANGES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        'all': (0.0, 1e10),
        'small': (0.0, 1024.0),
        'medium': (1024.0, 9216.0),
        'large': (9216.0, 1e10),
    }
)
#: COCO's caps on detections per image and class.
MAX_DETS: tuple[int, ...] = (1, 10, 100)


@dataclass(frozen=True, eq=False)
class Decisions:
    """What became of every detection and object, at one threshold and range.

    Attributes:
        matched_gt: (N,) row of the ground truth each detection matched, -1
            for none. Crowd and ignored objects can be matched too.
        similarity: (N,) similarity to ``matched_gt``; NaN where it is -1.
        true_positive: (N,) detection counted as a hit.
        false_positive: (N,) detection counted as a false alarm.
        ignored: (N,) detection not counted: on an ignored object, or
            unmatched and itself outside the size range.
        capped: (N,) detection beyond the cap per image and class; it was
            never looked at. Each detection is in exactly one of
            ``true_positive``, ``false_positive``, ``ignored``, ``capped``.
        matched_dt: (G,) row of the detection each object was matched by, -1
            for none; of several on a crowd region, the last.
        gt_ignored: (G,) object not counted: crowd, ignored, or outside the
            size range.
        false_negative: (G,) object counted and not matched.
    """

    matched_gt: IntArray
    similarity: FloatArray
    true_positive: BoolArray
    false_positive: BoolArray
    ignored: BoolArray
    capped: BoolArray
    matched_dt: IntArray
    gt_ignored: BoolArray
    false_negative: BoolArray


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The result of :func:`evaluate`; fractions 0..1, NaN for undefined.

    Axes: T thresholds, R = 101 recall levels, K classes, A size ranges, M
    caps. A class without counted ground truth is NaN and left out of means.

    Attributes:
        ground_truths: What was to be found.
        detections: What was found.
        similarity: The similarity the matching used.
        iou_thrs: (T,) thresholds, ascending.
        area_ranges: name -> (low, high) in square pixels, both included; the
            first is the one TIDE, the curves and the resampling use.
        max_dets: (M,) caps per image and class, ascending. Detections beyond
            the last are not looked at; AP is taken at the last.
    """

    ground_truths: GroundTruths
    detections: Detections
    similarity: Similarity
    iou_thrs: FloatArray
    area_ranges: Mapping[str, tuple[float, float]]
    max_dets: tuple[int, ...]

    @property
    def precision(self) -> FloatArray:
        """(T, R, K, A, M) interpolated precision, NaN where undefined."""
        raise NotImplementedError

    @property
    def scores(self) -> FloatArray:
        """(T, R, K, A, M) score at each recall level, NaN where undefined."""
        raise NotImplementedError

    @property
    def recall(self) -> FloatArray:
        """(T, K, A, M) largest recall, NaN where undefined."""
        raise NotImplementedError

    def ap(
        self,
        iou_thr: Optional[float] = None,
        area: str = 'all',
        label: Optional[int] = None,
    ) -> float:
        """Average precision at the largest cap.

        Args:
            iou_thr: One threshold; None averages over all.
            area: Name of a size range.
            label: One class; None averages over the classes that have
                ground truth in the range.

        Returns:
            A fraction, or NaN where no class has ground truth.

        Raises:
            KeyError: If the threshold or the size range was not evaluated.
        """
        raise NotImplementedError

    def ar(
        self,
        max_det: Optional[int] = None,
        iou_thr: Optional[float] = None,
        area: str = 'all',
        label: Optional[int] = None,
    ) -> float:
        """Average recall at a cap (None: the largest); else as :meth:`ap`."""
        raise NotImplementedError

    def ap_per_class(
        self, iou_thr: Optional[float] = None, area: str = 'all'
    ) -> FloatArray:
        """(K,) :meth:`ap` of each class, NaN where undefined."""
        raise NotImplementedError

    def ar_per_class(
        self,
        max_det: Optional[int] = None,
        iou_thr: Optional[float] = None,
        area: str = 'all',
    ) -> FloatArray:
        """(K,) :meth:`ar` of each class, NaN where undefined."""
        raise NotImplementedError

    def summary(self) -> dict[str, float]:
        """COCO's headline numbers by name, NaN where undefined.

        ``AP``; ``AP50`` and ``AP75`` where those thresholds were evaluated;
        ``APs``, ``APm``, ``APl`` for the size ranges small, medium, large
        (``AP_<name>`` for others); ``AR@<cap>`` for every cap; ``ARs``,
        ``ARm``, ``ARl`` at the largest cap.
        """
        raise NotImplementedError

    def decisions(self, iou_thr: float = 0.5, area: str = 'all') -> Decisions:
        """What became of every detection and every object.

        Args:
            iou_thr: One of the evaluated thresholds.
            area: Name of a size range.

        Raises:
            KeyError: If the threshold or the size range was not evaluated.
        """
        raise NotImplementedError


def evaluate(
    ground_truths: GroundTruths,
    detections: Detections,
    *,
    similarity: Optional[Similarity] = None,
    iou_thrs: Sequence[float] = IOU_THRS,
    area_ranges: Mapping[str, tuple[float, float]] = AREA_RANGES,
    max_dets: Sequence[int] = MAX_DETS,
) -> Evaluation:
    """Match detections to ground truths as COCO does.

    Equal to pycocotools 2.0.11 (`COCO evaluation
    <https://cocodataset.org/#detection-eval>`_).

    Args:
        ground_truths: G objects.
        detections: N detections on the same images and classes.
        similarity: Scores candidate pairs; None means
            :class:`~mmdet_cppe5.core.similarity.BoxIoU`.
        iou_thrs: Thresholds in (0, 1].
        area_ranges: name -> (low, high) in square pixels, both included.
        max_dets: Caps on detections per image and class.

    Returns:
        An :class:`Evaluation`.

    Raises:
        ValueError: If the two sides disagree on the number of images or
            classes, or a setting is out of its range.
    """
    raise NotImplementedError
