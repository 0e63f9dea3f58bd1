"""The headline numbers of resampled images."""

from typing import Union

import numpy as np
from numpy.typing import NDArray

from mmdet_cppe5.core.arrays import BoolArray, FloatArray, IntArray
from mmdet_cppe5.core.evaluation import Evaluation, size_suffix
from mmdet_cppe5.core.resampling import ResampledCurves
from mmdet_cppe5.core.tide_errors import find_errors, prepare
from mmdet_cppe5.core.tide_fixes import FIXES, fixed_curves, quiet_term

# Numbers worked on at once: their arrays stay in the processor's cache.
_AT_ONCE = 1 << 18
_JACKKNIFE_GROUPS = 200


def draw_images(
    num_images: int, num_resamples: int, seed: int
) -> NDArray[np.int32]:
    """(B, I) copies of each image in each resample."""
    generator = np.random.default_rng(seed)
    share = np.full(num_images, 1 / num_images)
    drawn = generator.multinomial(num_images, share, num_resamples)  # (B, I)
    return drawn.astype(np.int32)


def leave_out(num_images: int, seed: int) -> NDArray[np.int32]:
    """(J, I) copies with one image left out at a time.

    With more than 200 images, they are parted at random into 200 groups, and
    one group is left out at a time.
    """
    groups = min(num_images, _JACKKNIFE_GROUPS)
    member = np.random.default_rng(seed).permutation(num_images) % groups
    kept: BoolArray = member != np.arange(groups)[:, None]
    return kept.astype(np.int32)


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
        columns = np.arange(evaluation.positives.size)
        counted = [
            _count_per_image(evaluation, ~ignored)
            for ignored in evaluation.gt_ignored
        ]
        self._curves = ResampledCurves(
            evaluation,
            evaluation.curves,
            np.hstack(counted),
            np.tile(columns, len(evaluation.iou_thrs)),
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
        self._tide = _resampled_fixes(evaluation) if tide else None
        if tide:
            self.names += [f'dAP_{name}' for name in FIXES[1:]]
        self._num_classes = gt.num_classes

    def resample(self, weights: NDArray[np.int32]) -> FloatArray:
        """(B, numbers) values for (B, I) copies of the images."""
        cost = self._curves.cost + (self._tide.cost if self._tide else 0)
        step = max(1, _AT_ONCE // max(cost, 1))
        return np.concatenate(
            [
                self._numbers(weights[begin : begin + step])
                for begin in range(0, len(weights), step)
            ]
        )

    def _numbers(self, weights: NDArray[np.int32]) -> FloatArray:
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
        if self._tide:
            columns += self._deltas(weights)
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


def mean_of_defined(
    values: FloatArray, axis: Union[int, tuple[int, ...]]
) -> FloatArray:
    """Mean of what is not NaN along an axis; NaN if all is."""
    defined = ~np.isnan(values)  # as values
    count = defined.sum(axis=axis)
    total = np.where(defined, values, 0).sum(axis=axis)
    mean = np.full(count.shape, np.nan)
    np.divide(total, count, out=mean, where=count > 0)
    return mean


def _resampled_fixes(evaluation: Evaluation) -> ResampledCurves:
    """TIDE's curves at the lowest threshold."""
    bg_thr = min(0.1, float(evaluation.iou_thrs[0]) / 2)
    stage = prepare(evaluation, bg_thr)
    errors = find_errors(evaluation, stage, 0)
    counted = _count_per_image(evaluation, ~evaluation.gt_ignored[0])
    missed = _count_per_image(evaluation, errors.missed)
    unmatched = _count_per_image(evaluation, errors.false_negative)
    # Kinds of curves: all objects, without Miss, without FalseNeg.
    kind = np.zeros(len(FIXES), np.int64)
    kind[FIXES.index('Miss')], kind[FIXES.index('FalseNeg')] = 1, 2
    num_classes = counted.shape[1]
    return ResampledCurves(
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
