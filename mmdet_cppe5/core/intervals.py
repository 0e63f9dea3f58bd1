"""Confidence intervals from the values of resamples.

``value - bias ± t * error`` with the bias that bootstrap resamples have over
the value, the jackknife's standard error, and Student's t (Efron and
Tibshirani: An Introduction to the Bootstrap, 1993, chapters 10 and 11).

Average precision of few images is too high: its interpolation takes the best
of every chance, and images drawn twice make it higher still. Percentiles of
the resamples therefore miss the truth (at 29 images intervals of 95 % held it
in 63 % of the cases, and in 82 % with Efron's BCa correction), which is why
they are not offered. How often this interval of 95 % held the value of all
4000 drawn images, from 150 samples of 29 images (on average their AP was 0.029
too high) and 120 samples of 100 (0.012), with 500 resamples each:

===  ====  ====  ====  ====  ====  ====  =======  =======
n    AP    AP50  AP75  APs   APm   APl   dAP_Cls  dAP_Loc
===  ====  ====  ====  ====  ====  ====  =======  =======
29   0.93  0.89  0.95  0.88  0.90  0.86  0.91     0.89
100  0.93  0.95  0.93  0.93  0.94  0.88  0.98     0.91
===  ====  ====  ====  ====  ====  ====  =======  =======

It does not see errors that happen to be absent from the sample.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

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
    left_out: FloatArray,
    *,
    confidence: float = 0.95,
    lowest: float = 0.0,
) -> Interval:
    """Interval from the values of resamples; see the module.

    Args:
        estimate: Value on the data as they are.
        samples: (B,) values of the resamples; NaN are left out.
        left_out: (J,) values with one of J parts of the images left out; NaN
            are left out.
        confidence: Coverage aimed at.
        lowest: Least possible value; the largest is 1.

    Returns:
        The interval; its ends are NaN where the estimate is, or where there
        is too little to compute them from.
    """
    samples = samples[~np.isnan(samples)]
    left_out = left_out[~np.isnan(left_out)]
    parts = len(left_out)
    if np.isnan(estimate) or len(samples) == 0 or parts < 2:
        return Interval(float(estimate), float('nan'), float('nan'))
    centre = 2 * estimate - float(samples.mean())  # less the bias
    error = math.sqrt((parts - 1) * float(left_out.var()))
    margin = t_quantile(0.5 + confidence / 2, parts - 1) * error
    low, high = np.clip([centre - margin, centre + margin], lowest, 1)
    return Interval(float(estimate), float(low), float(high))


@lru_cache
def t_quantile(level: float, freedom: int) -> float:
    """Quantile of Student's t distribution.

    Args:
        level: Between 0 and 1.
        freedom: Degrees of freedom, at least 1.
    """
    # With x = sqrt(freedom) tan(a) the density becomes a power of a cosine.
    nodes, weights = np.polynomial.legendre.leggauss(100)
    scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)
    scale = math.exp(scale) / math.sqrt(math.pi)
    wanted = abs(level - 0.5)
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        cosines = np.cos(middle * (nodes + 1) / 2) ** (freedom - 1)
        area = scale * middle / 2 * float(cosines @ weights)
        low, high = (middle, high) if area < wanted else (low, middle)
    return math.copysign(math.sqrt(freedom) * math.tan(low), level - 0.5)
