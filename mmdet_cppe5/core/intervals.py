"""Confidence intervals from the values of resamples.

Three methods; all need the value on the data as they are, the values of
bootstrap resamples and the values with one image left out:

``'t'``
    ``value - bias ± t * error`` with the bias that the resamples have over
    the value, the jackknife's standard error, and Student's t (Efron and
    Tibshirani: An Introduction to the Bootstrap, 1993, chapters 10 and 11).
``'bca'``
    Quantiles of the resamples, corrected for bias and for a spread that
    changes with the value (Efron: Better Bootstrap Confidence Intervals, JASA
    1987).
``'percentile'``
    Quantiles of the resamples as they are (Efron 1979).

Average precision of few images is too high: its interpolation takes the best
of every chance, and images drawn twice make it higher still. Percentiles
therefore miss the truth, which BCa mends in part. How often the interval of
95 % held the value of all 4000 drawn images, from 150 samples of 29 images
(on average their AP was 0.029 too high) and 120 samples of 100 (0.012), with
500 resamples each:

===  ==========  ====  ====  ====  ====  ====  ====  =======  =======
n    method      AP    AP50  AP75  APs   APm   APl   dAP_Cls  dAP_Loc
===  ==========  ====  ====  ====  ====  ====  ====  =======  =======
29   t           0.93  0.89  0.95  0.88  0.90  0.86  0.91     0.89
29   bca         0.82  0.88  0.85  0.75  0.81  0.79  0.90     0.89
29   percentile  0.63  0.72  0.75  0.53  0.61  0.53  0.90     0.86
100  t           0.93  0.95  0.93  0.93  0.94  0.88  0.98     0.91
100  bca         0.86  0.93  0.89  0.90  0.90  0.82  0.95     0.88
100  percentile  0.68  0.82  0.79  0.64  0.65  0.58  0.95     0.90
===  ==========  ====  ====  ====  ====  ====  ====  =======  =======

No method sees errors that happen to be absent from the sample.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from mmdet_cppe5.core.arrays import FloatArray

METHODS = ('t', 'bca', 'percentile')


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
    method: str = 't',
    lowest: float = 0.0,
) -> Interval:
    """Interval from the values of resamples; see the module.

    Args:
        estimate: Value on the data as they are.
        samples: (B,) values of the resamples; NaN are left out.
        left_out: (J,) values with one of J parts of the images left out; NaN
            are left out.
        confidence: Coverage aimed at.
        method: One of :data:`METHODS`.
        lowest: Least possible value; the largest is 1.

    Returns:
        The interval; its ends are NaN where the estimate is, or where there
        is too little to compute them from.

    Raises:
        ValueError: If there is no such method.
    """
    samples = samples[~np.isnan(samples)]
    left_out = left_out[~np.isnan(left_out)]
    ends = np.full(2, np.nan)
    if method not in METHODS:
        raise ValueError(
            f'Expected method to be one of {METHODS}, but got {method!r}.'
        )
    if not np.isnan(estimate) and len(samples) and len(left_out) > 1:
        levels = np.array([0.5 - confidence / 2, 0.5 + confidence / 2])
        if method == 't':
            ends = _t_ends(estimate, samples, left_out, levels)
        else:
            if method == 'bca':
                levels = _bca_levels(estimate, samples, left_out, levels)
            ends = np.quantile(samples, levels)
    low, high = np.clip(ends, lowest, 1)
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


def _t_ends(
    estimate: float,
    samples: FloatArray,
    left_out: FloatArray,
    levels: FloatArray,
) -> FloatArray:
    parts = len(left_out)
    bias = float(samples.mean()) - estimate
    error = math.sqrt((parts - 1) * float(left_out.var()))
    quantile = t_quantile(float(levels[1]), parts - 1)
    return estimate - bias + error * quantile * np.array([-1.0, 1.0])


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
    change = left_out.mean() - left_out
    spread = float((change**2).sum()) ** 1.5
    skew = float((change**3).sum()) / (6 * spread) if spread > 0 else 0.0
    corrected = []
    for level in levels:
        shifted = bias + normal.inv_cdf(float(level))
        corrected.append(normal.cdf(bias + shifted / (1 - skew * shifted)))
    return np.array(corrected)
