"""One matching pass, and everything COCO's evaluation reads off it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Optional

import numpy as np

from mmdet_cppe5.core.accumulation import (
    accumulate,
    count_positives,
    outside_ranges,
)
from mmdet_cppe5.core.arrays import (
    BoolArray,
    Detections,
    FloatArray,
    GroundTruths,
    IntArray,
)
from mmdet_cppe5.core.curves import Curves
from mmdet_cppe5.core.decisions import Decisions, decide
from mmdet_cppe5.core.lookup import (
    area_index,
    cap_index,
    size_suffix,
    threshold_index,
)
from mmdet_cppe5.core.matching import Matches, match
from mmdet_cppe5.core.nearest import Nearest, nearest
from mmdet_cppe5.core.ordering import Ranking, rank_detections
from mmdet_cppe5.core.pairs import PairFinder, Pairs
from mmdet_cppe5.core.precision_recall import hit_at_recall, largest_recall
from mmdet_cppe5.core.settings import (
    AREA_RANGES,
    IOU_THRS,
    MAX_DETS,
    check_caps,
    check_ranges,
    check_same_world,
    check_thresholds,
    same_threshold,
)
from mmdet_cppe5.core.similarity import BoxIoU, Similarity


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
        ranking: The order in which detections were looked at.
        pair_finder: Finds pairs of other classes too.
        pairs: Detections and ground truths of one image and class with any
            similarity, in group order.
        matches: What every candidate took; candidates in class order.
        gt_ignored: (A, G) objects not counted in each size range.
        positives: (A, K) number of counted objects.
    """

    ground_truths: GroundTruths
    detections: Detections
    similarity: Similarity
    iou_thrs: FloatArray
    area_ranges: Mapping[str, tuple[float, float]]
    max_dets: tuple[int, ...]
    ranking: Ranking = field(repr=False)
    pair_finder: PairFinder = field(repr=False)
    pairs: Pairs = field(repr=False)
    matches: Matches = field(repr=False)
    gt_ignored: BoolArray = field(repr=False)
    positives: IntArray = field(repr=False)

    @cached_property
    def precision(self) -> FloatArray:
        """(T, R, K, A, M) interpolated precision, NaN where undefined.

        pycocotools has -1 where this has NaN.
        """
        caps = [
            self._by_axes(self._accumulate(cap).precision)
            for cap in self.max_dets[:-1]
        ]
        largest = self._by_axes(self.curves.precision)
        return np.stack([*caps, largest], axis=-1)

    @cached_property
    def scores(self) -> FloatArray:
        """(T, R, K, A, M) score at each recall level, NaN where undefined.

        0 where the level is not reached. At recall 0 it is the largest score
        of the class, hit or not, as in pycocotools.
        """
        caps = [self._scores_at(cap) for cap in self.max_dets]
        return np.stack(caps, axis=-1)

    @cached_property
    def recall(self) -> FloatArray:
        """(T, K, A, M) largest recall, NaN where undefined."""
        curves = self.curves
        rank = self.ranking.rank[curves.place]
        num_curves = len(curves.per_curve)
        curve = np.repeat(np.arange(num_curves), curves.per_curve)
        recall = [
            largest_recall(
                np.bincount(curve[rank < cap], minlength=num_curves),
                curves.positives,
            )
            for cap in self.max_dets
        ]
        shape = (len(self.iou_thrs), *self.positives.shape, -1)
        by_curve = np.stack(recall, axis=-1).reshape(shape)
        by_axes: FloatArray = by_curve.swapaxes(1, 2)
        return by_axes

    @cached_property
    def curves(self) -> Curves:
        """The T * A * K curves at the largest cap."""
        return self._accumulate(self.max_dets[-1])

    def ap(
        self,
        iou_thr: Optional[float] = None,
        area: Optional[str] = None,
        label: Optional[int] = None,
    ) -> float:
        """Average precision at the largest cap.

        Args:
            iou_thr: One threshold; None averages over all.
            area: Name of a size range; None means the first.
            label: One class; None averages over the classes that have
                ground truth in the range.

        Returns:
            A fraction, or NaN where no class has ground truth.

        Raises:
            ValueError: If the threshold or the size range was not evaluated.
        """
        a = self.area_index(area)
        if label is not None:
            by_class = self._precision_by_class[a, label]  # (T, R)
            if iou_thr is not None:
                by_class = by_class[self.threshold_index(iou_thr)]
            return float(by_class.mean())
        precision = self._precision_by_area[a]  # (T, R, K)
        if iou_thr is not None:
            precision = precision[self.threshold_index(iou_thr)]
        some = self.positives[a] > 0
        if not some.any():
            return float('nan')
        if not some.all():
            precision = np.compress(some, precision, axis=-1)
        return float(precision.mean())

    def ar(
        self,
        max_det: Optional[int] = None,
        iou_thr: Optional[float] = None,
        area: Optional[str] = None,
        label: Optional[int] = None,
    ) -> float:
        """Average recall at a cap (None: the largest); else as :meth:`ap`."""
        cap = cap_index(self.max_dets, max_det)
        recall = self.recall[:, :, self.area_index(area), cap]
        if iou_thr is not None:
            recall = recall[self.threshold_index(iou_thr)]
        if label is not None:
            recall = recall[..., label]
        return _mean_of_defined(recall)

    def ap_per_class(
        self, iou_thr: Optional[float] = None, area: Optional[str] = None
    ) -> FloatArray:
        """(K,) :meth:`ap` of each class, NaN where undefined."""
        precision = self._precision_by_class[self.area_index(area)]
        if iou_thr is not None:
            precision = precision[:, [self.threshold_index(iou_thr)]]
        mean: FloatArray = _rows(precision).mean(axis=1)
        return mean

    def ar_per_class(
        self,
        max_det: Optional[int] = None,
        iou_thr: Optional[float] = None,
        area: Optional[str] = None,
    ) -> FloatArray:
        """(K,) :meth:`ar` of each class, NaN where undefined."""
        cap = cap_index(self.max_dets, max_det)
        recall = self.recall[:, :, self.area_index(area), cap].T  # (K, T)
        if iou_thr is not None:
            recall = recall[:, [self.threshold_index(iou_thr)]]
        mean: FloatArray = _rows(recall).mean(axis=1)
        return mean

    def summary(self) -> dict[str, float]:
        """COCO's headline numbers by name, NaN where undefined.

        ``AP``; ``AP50`` and ``AP75`` where those thresholds were evaluated;
        ``APs``, ``APm``, ``APl`` for the size ranges small, medium, large
        (``AP_<name>`` for others); ``AR<cap>`` for every cap; ``ARs``,
        ``ARm``, ``ARl`` at the largest cap.
        """
        sizes = list(self.area_ranges)[1:]
        numbers = {'AP': self.ap()}
        for percent in (50, 75):
            if self.has_threshold(percent / 100):
                numbers[f'AP{percent}'] = self.ap(percent / 100)
        for name in sizes:
            numbers[f'AP{size_suffix(name)}'] = self.ap(area=name)
        for cap in self.max_dets:
            numbers[f'AR{cap}'] = self.ar(cap)
        for name in sizes:
            numbers[f'AR{size_suffix(name)}'] = self.ar(area=name)
        return numbers

    def decisions(
        self, iou_thr: float = 0.5, area: Optional[str] = None
    ) -> Decisions:
        """What became of every detection and every object.

        Args:
            iou_thr: One of the evaluated thresholds.
            area: Name of a size range; None means the first.

        Raises:
            ValueError: If the threshold or the size range was not evaluated.
        """
        t, a = self.threshold_index(iou_thr), self.area_index(area)
        return decide(
            self.detections,
            self.ranking,
            self.matches,
            (t, a),
            list(self.area_ranges.values())[a],
            self.gt_ignored[a],
        )

    @cached_property
    def nearest_same(self) -> Nearest:
        """(N,) most similar counted ground truth of the same class."""
        return nearest([self.pairs], self.gt_ignored[0], len(self.detections))

    @cached_property
    def nearest_other(self) -> Nearest:
        """(N,) most similar counted ground truth of any other class."""
        pairs = self.pair_finder.other_class()
        return nearest(pairs, self.gt_ignored[0], len(self.detections))

    def threshold_index(self, iou_thr: float) -> int:
        """:func:`~mmdet_cppe5.core.lookup.threshold_index` of these."""
        return threshold_index(self.iou_thrs, iou_thr)

    def area_index(self, area: Optional[str] = None) -> int:
        """:func:`~mmdet_cppe5.core.lookup.area_index` of these."""
        return area_index(self.area_ranges, area)

    def has_threshold(self, iou_thr: float) -> bool:
        """Whether a threshold was evaluated, to within rounding."""
        return bool(same_threshold(self.iou_thrs, iou_thr).any())

    # Means are taken over contiguous arrays: numpy adds these up in the order
    # that pycocotools' numbers have to the last bit.
    @cached_property
    def _precision_by_area(self) -> FloatArray:
        """(A, T, R, K) at the largest cap."""
        by_axes = self._by_axes(self.curves.precision)
        return np.ascontiguousarray(by_axes.transpose(3, 0, 1, 2))

    @cached_property
    def _precision_by_class(self) -> FloatArray:
        """(A, K, T, R) at the largest cap."""
        by_axes = self._by_axes(self.curves.precision)
        return np.ascontiguousarray(by_axes.transpose(3, 2, 0, 1))

    def _accumulate(self, cap: int) -> Curves:
        return accumulate(
            self.matches,
            self.ranking,
            self.detections,
            np.array(list(self.area_ranges.values())),
            self.positives,
            cap,
        )

    def _by_axes(self, values: FloatArray) -> FloatArray:
        """(T * A * K, R) values as (T, R, K, A)."""
        shape = (len(self.iou_thrs), *self.positives.shape, -1)
        by_axes: FloatArray = values.reshape(shape).transpose(0, 3, 2, 1)
        return by_axes

    def _scores_at(self, cap: int) -> FloatArray:
        """(T, R, K, A) score at the recall levels."""
        curves = self._accumulate(cap)
        index, reached = hit_at_recall(curves.per_curve, curves.positives)
        by_place = self.detections.score[self.ranking.rows]
        of_hits = by_place[curves.place]
        scores = np.append(of_hits, 0)[index]
        scores[~reached] = 0
        scores = self._by_axes(scores)
        start = self.ranking.class_start
        some = start[1:] > start[:-1]
        scores[:, 0, some] = by_place[start[:-1][some]][:, None]
        undefined: BoolArray = self.positives.T == 0
        scores[:, :, undefined] = np.nan
        return scores


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
    check_same_world(ground_truths, detections)
    thresholds = check_thresholds(iou_thrs)
    ranges = check_ranges(area_ranges)
    caps = check_caps(max_dets)
    if similarity is None:
        similarity = BoxIoU(ground_truths, detections)
    ranking = rank_detections(detections, caps[-1])
    finder = PairFinder(ground_truths, detections, ranking, similarity)
    pairs = finder.same_class()
    gt_ignored = ground_truths.ignore | outside_ranges(
        ground_truths.area, ranges
    )
    dt = pairs.dt
    matches = match(
        pairs,
        detections.image[dt] * detections.num_classes + detections.label[dt],
        ground_truths,
        thresholds,
        gt_ignored,
        ranking.place,
    )
    return Evaluation(
        ground_truths=ground_truths,
        detections=detections,
        similarity=similarity,
        iou_thrs=thresholds,
        area_ranges=MappingProxyType(dict(area_ranges)),
        max_dets=caps,
        ranking=ranking,
        pair_finder=finder,
        pairs=pairs,
        matches=matches,
        gt_ignored=gt_ignored,
        positives=count_positives(ground_truths, gt_ignored),
    )


def _mean_of_defined(values: FloatArray) -> float:
    """Mean of what is not NaN; NaN if all is."""
    defined = values[~np.isnan(values)]
    return float(np.mean(defined)) if defined.size else float('nan')


def _rows(values: FloatArray) -> FloatArray:
    """(K, n) contiguous rows of values with K in front."""
    return np.ascontiguousarray(values).reshape(len(values), -1)
