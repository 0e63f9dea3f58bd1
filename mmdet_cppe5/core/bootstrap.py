"""How sure a number is: intervals over the images.

The matching does not depend on which images are drawn, so it is done once, and
every number is read off it again for other images. What an interval is made of
stands in :mod:`mmdet_cppe5.core.intervals` and :mod:`mmdet_cppe5.core.spread`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Optional

from mmdet_cppe5.core.arrays import FloatArray
from mmdet_cppe5.core.evaluation import Evaluation
from mmdet_cppe5.core.intervals import Interval, interval
from mmdet_cppe5.core.spread import enough_resamples, spread


@dataclass(frozen=True, eq=False)
class BootstrapResult:
    """The result of :func:`bootstrap`.

    Attributes:
        intervals: name -> interval. Names are those of
            :meth:`Evaluation.summary`, and ``dAP_<error>`` for TIDE's eight
            errors at the lowest threshold where asked for.
        class_intervals: (K,) AP of each class, over all thresholds.
        samples: name -> (B,) values of the resamples, of AP and the like.
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
    num_resamples: Optional[int] = None,
    *,
    seed: int = 0,
    confidence: float = 0.95,
    tide: bool = True,
) -> BootstrapResult:
    """Resample the images and tell how sure the numbers are.

    Every resample's numbers are those of evaluating it from scratch, with the
    copies of an image as different images that follow each other. Resamples
    in which a number is undefined are left out of its interval.

    Args:
        evaluation: Its matching is reused exactly.
        num_resamples: Number of balanced resamples, which tell the bias;
            None takes as many as the number of images needs.
        seed: Seed of the random generator.
        confidence: Coverage of the intervals, in (0, 1).
        tide: Whether to give intervals of TIDE's numbers too.

    Raises:
        ValueError: If a setting is out of its range, or there is no image.
    """
    num_images = evaluation.ground_truths.num_images
    if num_resamples is None:
        num_resamples = enough_resamples(num_images)
    _check(num_images, num_resamples, confidence)
    found = spread(evaluation, tide, num_resamples, seed)
    names, size = found.names, len(found.names)
    num_classes = evaluation.ground_truths.num_classes
    intervals = [
        interval(
            found.estimates[n],
            found.bias[n],
            found.deviations[:, n],
            support=int(found.support[n]),
            confidence=confidence,
            lowest=-1 if name.startswith('dAP') else 0,
        )
        for n, name in enumerate([*names, *['AP'] * num_classes])
    ]
    return BootstrapResult(
        intervals=dict(zip(names, intervals)),
        class_intervals=tuple(intervals[size:]),
        samples={
            name: found.samples[:, n]
            for n, name in enumerate(names)
            if name.startswith('AP')
        },
        class_samples=found.samples[:, size:],
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
