"""How sure a number is: resampling the images."""

from collections.abc import Mapping
from dataclasses import dataclass

from mmdet_cppe5.core.arrays import FloatArray
from mmdet_cppe5.core.evaluation import Evaluation


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
        samples: name -> (B,) values of the resamples; classes as
            ``class_samples`` (B, K).
        class_samples: (B, K) AP of each class in each resample.
        num_resamples: B.
        confidence: Coverage aimed at, e.g. 0.95.
        method: ``'bca'`` or ``'percentile'``.
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
    method: str = 'percentile',
    tide: bool = True,
) -> BootstrapResult:
    """Resample the images with replacement and tell how the numbers spread.

    Args:
        evaluation: Its matching is reused exactly.
        num_resamples: Number of resamples.
        seed: Seed of the random generator.
        confidence: Coverage of the intervals, in (0, 1).
        method: ``'percentile'`` or ``'bca'``.
        tide: Whether to resample TIDE's numbers too.

    Raises:
        ValueError: If a setting is out of its range, or there is no image.
    """
    raise NotImplementedError
