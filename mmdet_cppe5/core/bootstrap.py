"""How sure a number is: resampling the images.

Images are drawn with replacement, as many as there are, and every number is
computed again (Efron 1979). The matching does not depend on which images are
drawn, so it is done once.

How an interval comes from the values of the resamples, and why not by their
percentiles, is told in :mod:`mmdet_cppe5.core.intervals`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mmdet_cppe5.core.arrays import FloatArray
from mmdet_cppe5.core.evaluation import Evaluation
from mmdet_cppe5.core.intervals import Interval, interval
from mmdet_cppe5.core.resampled_numbers import (
    ResampledNumbers,
    draw_images,
    leave_out,
)


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
        seed: Seed of the generator.
        method: How the ends are found; see
            :mod:`mmdet_cppe5.core.intervals`.
    """

    intervals: Mapping[str, Interval]
    class_intervals: tuple[Interval, ...]
    samples: Mapping[str, FloatArray]
    class_samples: FloatArray
    num_resamples: int
    confidence: float
    seed: int
    method: str = 't'


def bootstrap(
    evaluation: Evaluation,
    num_resamples: int = 1000,
    *,
    seed: int = 0,
    confidence: float = 0.95,
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
        tide: Whether to resample TIDE's numbers too.

    Raises:
        ValueError: If a setting is out of its range, or there is no image.
    """
    num_images = evaluation.ground_truths.num_images
    _check(num_images, num_resamples, confidence)
    numbers = ResampledNumbers(evaluation, tide)
    samples = numbers.resample(draw_images(num_images, num_resamples, seed))
    estimates = numbers.resample(np.ones((1, num_images), np.int32))[0]
    left_out = numbers.resample(leave_out(num_images, seed))
    names = numbers.names
    classes = ['AP'] * evaluation.ground_truths.num_classes
    intervals = [
        interval(
            estimates[column],
            samples[:, column],
            left_out[:, column],
            confidence=confidence,
            lowest=-1 if name.startswith('dAP') else 0,
        )
        for column, name in enumerate([*names, *classes])
    ]
    return BootstrapResult(
        intervals=dict(zip(names, intervals)),
        class_intervals=tuple(intervals[len(names) :]),
        samples={name: samples[:, n] for n, name in enumerate(names)},
        class_samples=samples[:, len(names) :],
        num_resamples=num_resamples,
        confidence=confidence,
        seed=seed,
    )


def _check(num_images: int, num_resamples: int, confidence: float) -> None:
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
