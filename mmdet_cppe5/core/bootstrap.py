"""How sure a number is: resampling the images.

Images are drawn with replacement, as many as there are, and every number is
computed again (Efron 1979). The matching does not depend on which images are
drawn, so it is done once.

``'percentile'`` takes the interval's ends from the sorted values of the
resamples. ``'bca'`` corrects them for bias and for a spread that changes with
the value (Efron: Better Bootstrap Confidence Intervals, JASA 1987): the bias
from the share of resamples below the estimate, the change of the spread from
leaving out one image (with more than 200 images: one of 200 groups of
images) at a time.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Optional, Union

import numpy as np
from numpy.typing import NDArray

from mmdet_cppe5.core.arrays import BoolArray, FloatArray, IntArray
from mmdet_cppe5.core.evaluation import Evaluation, size_suffix
from mmdet_cppe5.core.resampling import ResampledCurves
from mmdet_cppe5.core.tide_errors import find_errors, prepare
from mmdet_cppe5.core.tide_fixes import FIXES, fixed_curves

METHODS = ('percentile', 'bca')
# Numbers held at once while resampling, about 100 MiB.
_AT_ONCE = 1 << 22
_JACKKNIFE_GROUPS = 200


@dataclass(frozen=True, eq=False)
class Interval:
    """An estimate with its confidence interval; NaN for undefined.

    Attributes:
        estimate: The value on the data as they are.
        low: Lower end.
        high: Upper end.
    """

    estimate: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class BootstrapResult:
    """The result of :func:`bootstrap`.

    Attributes:
        intervals: name -> interval. Names are those of
            :meth:`Evaluation.summary` that start with ``AP``, and
            ``dAP_<error>`` for TIDE's eight errors at the lowest threshold
            where asked for.
        class_intervals: (K,) AP of each class, over all thresholds.
        samples: name -> (B,) values of the resamples.
        class_samples: (B, K) AP of each class in each resample.
        num_resamples: B.
        confidence: Coverage aimed at, e.g. 0.95.
        method: ``'percentile'`` or ``'bca'``.
        seed: Seed of the generator.
    """

    intervals: Mapping[str, Interval]
    class_intervals: tuple[Interval, ...]
    samples: Mapping[str, FloatArray]
    class_samples: FloatArray
    num_resamples: int
    confidence: float
    method: str
    seed: int


def bootstrap(
    evaluation: Evaluation,
    num_resamples: int = 1000,
    *,
    seed: int = 0,
    confidence: float = 0.95,
    method: str = 'bca',
    tide: bool = True,
) -> BootstrapResult:
    """Resample the images with replacement and tell how the numbers spread.

    Every resample's numbers are those of evaluating it from scratch, with the
    copies of an image as different images that follow each other. Resamples
    in which a number is undefined are left out of its interval.

    Args:
        evaluation: Its matching is reused exactly.
        num_resamples: Number of resamples.
        seed: Seed of the random generator.
        confidence: Coverage of the intervals, in (0, 1).
        method: ``'bca'`` or ``'percentile'``.
        tide: Whether to resample TIDE's numbers too.

    Raises:
        ValueError: If a setting is out of its range, or there is no image.
    """
    num_images = evaluation.ground_truths.num_images
    _check(num_images, num_resamples, confidence, method)
    numbers = ResampledNumbers(evaluation, tide)
    samples = numbers.resample(draw_images(num_images, num_resamples, seed))
    estimates = numbers.resample(np.ones((1, num_images), np.int32))[0]
    left_out = None
    if method == 'bca':
        left_out = numbers.resample(_leave_out(num_images, seed))
    intervals = [
        interval(
            estimates[column],
            samples[:, column],
            confidence,
            None if left_out is None else left_out[:, column],
        )
        for column in range(samples.shape[1])
    ]
    names = numbers.names
    return BootstrapResult(
        intervals=dict(zip(names, intervals)),
        class_intervals=tuple(intervals[len(names) :]),
        samples={name: samples[:, n] for n, name in enumerate(names)},
        class_samples=samples[:, len(names) :],
        num_resamples=num_resamples,
        confidence=confidence,
        method=method,
        seed=seed,
    )


def draw_images(
    num_images: int, num_resamples: int, seed: int
) -> NDArray[np.int32]:
    """(B, I) copies of each image in each resample."""
    generator = np.random.default_rng(seed)
    share = np.full(num_images, 1 / num_images)
    drawn = generator.multinomial(num_images, share, num_resamples)
    return drawn.astype(np.int32)


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
        whole = aps[:, :, 0]
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
        before = mean_of_defined(aps[:, 0], 1)
        deltas = []
        for fix in range(1, len(FIXES)):
            after = mean_of_defined(aps[:, fix], 1)
            # Nothing is left to find: as in TideResult.
            after[np.isnan(after) & ~np.isnan(before)] = 1
            deltas.append(after - before)
        return deltas


def interval(
    estimate: float,
    samples: FloatArray,
    confidence: float,
    left_out: Optional[FloatArray] = None,
) -> Interval:
    """Interval from the values of the resamples.

    Args:
        estimate: Value on the data as they are.
        samples: (B,) values of the resamples; NaN are left out.
        confidence: Coverage aimed at.
        left_out: (J,) values with a part of the images left out, for BCa;
            None for percentiles.
    """
    samples = samples[~np.isnan(samples)]
    if np.isnan(estimate) or samples.size == 0:
        return Interval(float(estimate), float('nan'), float('nan'))
    levels = np.array([0.5 - confidence / 2, 0.5 + confidence / 2])
    if left_out is not None:
        levels = _bca_levels(estimate, samples, left_out, levels)
    low, high = np.quantile(samples, levels)
    return Interval(float(estimate), float(low), float(high))


def _bca_levels(
    estimate: float,
    samples: FloatArray,
    left_out: FloatArray,
    levels: FloatArray,
) -> FloatArray:
    """Levels of the quantiles after Efron's two corrections."""
    normal = NormalDist()
    # Ties count half: numbers of few objects take few values.
    below = np.mean(samples < estimate) + np.mean(samples == estimate) / 2
    if not 0 < below < 1:
        return levels
    bias = normal.inv_cdf(float(below))
    left_out = left_out[~np.isnan(left_out)]
    change = left_out.mean() - left_out if left_out.size else np.zeros(1)
    spread = float((change**2).sum()) ** 1.5
    skew = float((change**3).sum()) / (6 * spread) if spread > 0 else 0.0
    corrected = []
    for level in levels:
        shifted = bias + normal.inv_cdf(float(level))
        corrected.append(normal.cdf(bias + shifted / (1 - skew * shifted)))
    return np.array(corrected)


def mean_of_defined(
    values: FloatArray, axis: Union[int, tuple[int, ...]]
) -> FloatArray:
    """Mean of what is not NaN along an axis; NaN if all is."""
    defined = ~np.isnan(values)
    count = defined.sum(axis=axis)
    total = np.where(defined, values, 0).sum(axis=axis)
    mean = np.full(count.shape, np.nan)
    np.divide(total, count, out=mean, where=count > 0)
    return mean


def _resampled_fixes(evaluation: Evaluation) -> ResampledCurves:
    """TIDE's curves at the lowest threshold."""
    pos_thr = float(evaluation.iou_thrs[0])
    bg_thr = min(0.1, pos_thr / 2)
    stage = prepare(evaluation, bg_thr)
    errors = find_errors(evaluation, stage, pos_thr, bg_thr)
    counted = _count_per_image(evaluation, ~evaluation.gt_ignored[0])
    missed = _count_per_image(evaluation, errors.missed)
    unmatched = _count_per_image(evaluation, errors.false_negative)
    # Kinds of curves: all objects, without Miss, without FalseNeg.
    kind = np.zeros(len(FIXES), np.int64)
    kind[FIXES.index('Miss')], kind[FIXES.index('FalseNeg')] = 1, 2
    num_classes = counted.shape[1]
    return ResampledCurves(
        evaluation,
        fixed_curves(evaluation, stage, errors),
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


def _leave_out(num_images: int, seed: int) -> NDArray[np.int32]:
    """(J, I) copies with one image, or one group of images, left out."""
    groups = min(num_images, _JACKKNIFE_GROUPS)
    member = np.random.default_rng(seed).permutation(num_images) % groups
    kept: BoolArray = member != np.arange(groups)[:, None]
    return kept.astype(np.int32)


def _check(
    num_images: int, num_resamples: int, confidence: float, method: str
) -> None:
    if num_images < 1:
        raise ValueError('Expected at least one image to resample, but got 0.')
    if num_resamples < 1:
        raise ValueError(
            f'Expected num_resamples to be at least 1, but got '
            f'{num_resamples}.'
        )
    if not 0 < confidence < 1:
        raise ValueError(
            f'Expected confidence to be between 0 and 1, but got {confidence}.'
        )
    if method not in METHODS:
        raise ValueError(
            f'Expected method to be one of {METHODS}, but got {method!r}.'
        )
