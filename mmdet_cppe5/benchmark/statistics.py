"""Summaries of timed iterations: percentiles, spread, outliers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Optional

import numpy as np

from mmdet_cppe5.core.intervals import t_quantile

# An iteration is an outlier beyond this many robust standard deviations
# above the median; 1.4826 x MAD estimates one for normal data.
OUTLIER_SIGMAS = 5.0


@dataclass(frozen=True)
class Durations:
    """Time per image over all kept iterations.

    Attributes:
        count: iterations that were kept.
        median, mean, p90, p99, min, max: milliseconds per image.
        outliers: iterations slower than the median by more than 5 robust
            standard deviations (1.4826 x the median absolute deviation).
            They are counted here and remain in every other number.
    """

    count: int
    median: float
    mean: float
    p90: float
    p99: float
    min: float
    max: float
    outliers: int

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as a plain dict for JSON."""
        return asdict(self)


def summarise(milliseconds: Sequence[float]) -> Durations:
    """Summarise per-image times.

    Args:
        milliseconds: (N,) one value an iteration: its duration divided by
            its number of images.

    Raises:
        ValueError: if there is no value.
    """
    times = np.asarray(milliseconds, dtype=float)
    if times.size == 0:
        raise ValueError(
            'Expected at least one timed iteration, but got none: lower '
            'num_warmup or give more images.'
        )
    median = float(np.median(times))
    spread = 1.4826 * float(np.median(np.abs(times - median)))
    p90, p99 = np.percentile(times, [90, 99])
    return Durations(
        count=times.size,
        median=median,
        mean=float(times.mean()),
        p90=float(p90),
        p99=float(p99),
        min=float(times.min()),
        max=float(times.max()),
        outliers=int((times > median + OUTLIER_SIGMAS * spread).sum()),
    )


def mean_interval(
    values: Sequence[float], level: float = 0.95
) -> Optional[tuple[float, float]]:
    """Student's t interval of the mean over repeats; None for one repeat."""
    if len(values) < 2:
        return None
    array = np.asarray(values, dtype=float)
    error = float(array.std(ddof=1)) / math.sqrt(array.size)
    margin = t_quantile((1 + level) / 2, array.size - 1) * error
    mean = float(array.mean())
    return mean - margin, mean + margin
