"""The headline numbers of resampled images."""

from functools import cached_property
from typing import NamedTuple, Optional

import numpy as np
from numpy.typing import NDArray

from mmdet_cppe5.core.arrays import FloatArray, IntArray
from mmdet_cppe5.core.curves import Curves
from mmdet_cppe5.core.evaluation import Evaluation
from mmdet_cppe5.core.influence import CurveInfluence
from mmdet_cppe5.core.lookup import size_suffix
from mmdet_cppe5.core.precision_recall import mean_of_defined
from mmdet_cppe5.core.resampled_recall import ResampledRecall
from mmdet_cppe5.core.resampling import ResampledCurves
from mmdet_cppe5.core.tide_errors import find_errors, prepare
from mmdet_cppe5.core.tide_fixes import FIXES, fixed_curves, quiet_term

# Numbers worked on at once: their arrays stay in the processor's cache.
_AT_ONCE = 1 << 18


def draw_images(
    num_images: int, num_resamples: int, seed: int
) -> NDArray[np.int32]:
    """(B, I) copies of each image in each resample.

    Every image is drawn ``B`` times in all (balanced resampling; Davison,
    Hinkley, Schechtman: Efficient Bootstrap Simulation, Biometrika 1986), so
    that the mean over few resamples is as steady as over many others.
    """
    generator = np.random.default_rng(seed)
    drawn = np.tile(np.arange(num_images), num_resamples)
    generator.shuffle(drawn)
    drawn += np.repeat(np.arange(num_resamples) * num_images, num_images)
    copies = np.bincount(drawn, minlength=num_resamples * num_images)
    return copies.reshape(num_resamples, num_images).astype(np.int32)


class _Set(NamedTuple):
    """Curves with the ground truths behind them.

    Attributes:
        evaluation: The evaluation they are of.
        curves: S curves.
        positives: (I, Q) counted ground truths of each image, for Q kinds of
            curves.
        kind: (S,) column of ``positives`` of each curve.
    """

    evaluation: Evaluation
    curves: Curves
    positives: IntArray
    kind: IntArray


class ResampledNumbers:
    """The headline numbers of any number of copies of the images.

    Args:
        evaluation: An evaluation of I images.
        tide: Whether TIDE's numbers are wanted.

    Attributes:
        names: Numbers before those of the K classes.
    """

    def __init__(self, evaluation: Evaluation, tide: bool) -> None:
        gt = evaluation.ground_truths
        self._shape = (len(evaluation.iou_thrs), *evaluation.positives.shape)
        counted = [
            _count_per_image(evaluation, ~ignored)
            for ignored in evaluation.gt_ignored
        ]
        self._set = _Set(
            evaluation,
            evaluation.curves,
            np.hstack(counted),
            np.tile(
                np.arange(evaluation.positives.size), len(evaluation.iou_thrs)
            ),
        )
        self._thresholds = {
            f'AP{percent}': evaluation.threshold_index(percent / 100)
            for percent in (50, 75)
            if evaluation.has_threshold(percent / 100)
        }
        sizes = list(evaluation.area_ranges)[1:]
        self.names = [
            'AP',
            *self._thresholds,
            *(f'AP{size_suffix(name)}' for name in sizes),
        ]
        self._areas = [0] * (len(self.names) - len(sizes))
        self._areas += range(1, len(sizes) + 1)
        by_image = self._set.positives.reshape(-1, *self._shape[1:])
        self._recall = ResampledRecall(evaluation, by_image)
        self.names += self._recall.names
        self._areas += self._recall.areas
        self._fixes = _fixes(evaluation) if tide else None
        if tide:
            deltas = [f'dAP_{name}' for name in FIXES[1:]]
            self.names += deltas
            self._areas += [0] * len(deltas)
        self._num_classes = gt.num_classes

    @cached_property
    def _curves(self) -> ResampledCurves:
        return ResampledCurves(*self._set)

    @cached_property
    def _tide(self) -> Optional[ResampledCurves]:
        return ResampledCurves(*self._fixes) if self._fixes else None

    def influence(self) -> FloatArray:
        """(I, numbers) derivative of each number in each image's weight."""
        curves = CurveInfluence(*self._set)
        index = np.arange(len(self._set.kind)).reshape(self._shape)
        by_class = curves.of_classes(index[:, 0])  # (I, K)
        columns = [mean_of_defined(by_class, 1)]
        chosen = [index[[t], 0] for t in self._thresholds.values()]
        chosen += [index[:, a] for a in range(1, self._shape[1])]
        columns += [
            mean_of_defined(curves.of_classes(each), 1) for each in chosen
        ]
        columns += list(self._recall.influence().T)
        if self._fixes:
            curves = CurveInfluence(*self._fixes)
            index = np.arange(len(self._fixes.kind)).reshape(len(FIXES), 1, -1)
            before, *after = (
                mean_of_defined(curves.of_classes(each), 1) for each in index
            )
            # Nothing is left to find: always 1.
            columns += [np.nan_to_num(each) - before for each in after]
        return np.column_stack([*columns, by_class])

    def support(self) -> IntArray:
        """(numbers,) images that have counted objects of each number."""
        some = self._set.positives.reshape(-1, *self._shape[1:]) > 0
        by_area = some.any(axis=2).sum(axis=0)  # (A,)
        by_class = some[:, 0].sum(axis=0)  # (K,)
        counts: IntArray = np.append(by_area[self._areas], by_class)
        return counts

    def resample(
        self, weights: NDArray[np.int32], everything: bool = True
    ) -> FloatArray:
        """Compute the numbers of resampled images.

        Args:
            weights: (B, I) copies of the images.
            everything: Whether to compute recall and TIDE's numbers. If
                not, what makes them too high or low stands in their place:
                minus AP at the lowest threshold for FalsePos, 0 for others.

        Returns:
            (B, numbers) values, NaN for undefined.
        """
        cost = self._curves.cost
        if everything and self._tide:
            cost += self._tide.cost
        step = max(1, _AT_ONCE // max(cost, 1))
        return np.concatenate(
            [
                self._numbers(weights[begin : begin + step], everything)
                for begin in range(0, len(weights), step)
            ]
        )

    def _numbers(
        self, weights: NDArray[np.int32], everything: bool
    ) -> FloatArray:
        aps = self._curves.average_precision(weights)
        aps = aps.reshape(len(weights), *self._shape)  # (B, T, A, K)
        whole = aps[:, :, 0]  # (B, T, K)
        columns = [mean_of_defined(whole, (1, 2))]
        columns += [
            mean_of_defined(whole[:, t], 1) for t in self._thresholds.values()
        ]
        columns += [
            mean_of_defined(aps[:, :, a], (1, 2))
            for a in range(1, self._shape[1])
        ]
        if everything:
            columns += list(self._recall.resample(weights).T)
        else:
            columns += list(np.zeros((len(self._recall.names), len(weights))))
        if self._fixes and everything:
            columns += self._deltas(weights)
        elif self._fixes:
            deltas = np.zeros((len(FIXES), len(weights)))
            deltas[FIXES.index('FalsePos')] = -mean_of_defined(whole[:, 0], 1)
            columns += list(deltas[1:])
        columns += list(mean_of_defined(whole, 1).T)
        return np.stack(columns, axis=1)

    def _deltas(self, weights: NDArray[np.int32]) -> list[FloatArray]:
        """TIDE's numbers, (B,) each."""
        if self._tide is None:
            return []
        aps = self._tide.average_precision(weights)
        aps = aps.reshape(len(weights), len(FIXES), self._num_classes)
        before = mean_of_defined(aps[:, 0], 1)  # (B,)
        deltas = []
        for fix in range(1, len(FIXES)):
            after = mean_of_defined(aps[:, fix], 1)  # (B,)
            # Nothing is left to find: as in TideResult.
            after[np.isnan(after) & ~np.isnan(before)] = 1
            deltas.append(after - before)
        return deltas


def _fixes(evaluation: Evaluation) -> _Set:
    """TIDE's curves at the lowest threshold."""
    bg_thr = min(0.1, float(evaluation.iou_thrs[0]) / 2)
    stage = prepare(evaluation, bg_thr)
    errors = find_errors(evaluation, stage, [0])
    counted = _count_per_image(evaluation, ~evaluation.gt_ignored[0])
    missed = _count_per_image(evaluation, errors.missed[0])
    unmatched = _count_per_image(evaluation, errors.false_negative[0])
    # Kinds of curves: all objects, without Miss, without FalseNeg.
    kind = np.zeros(len(FIXES), np.int64)
    kind[FIXES.index('Miss')], kind[FIXES.index('FalseNeg')] = 1, 2
    num_classes = counted.shape[1]
    return _Set(
        evaluation,
        fixed_curves(evaluation, stage, quiet_term(evaluation, stage), errors),
        np.hstack([counted, counted - missed, counted - unmatched]),
        (kind[:, None] * num_classes + np.arange(num_classes)).ravel(),
    )


def _count_per_image(
    evaluation: Evaluation, flags: NDArray[np.bool_]
) -> IntArray:
    """(I, K) flagged ground truths."""
    gt = evaluation.ground_truths
    keys = (gt.image * gt.num_classes + gt.label)[flags]
    size = gt.num_images * gt.num_classes
    count: IntArray = np.bincount(keys, minlength=size)
    return count.reshape(gt.num_images, gt.num_classes)
