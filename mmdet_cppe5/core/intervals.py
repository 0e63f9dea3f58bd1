"""Confidence intervals from the values of resamples."""

from dataclasses import dataclass
from statistics import NormalDist
from typing import Optional

import numpy as np

from mmdet_cppe5.core.arrays import FloatArray


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
