"""Whether two detectors differ: a paired permutation test.

If two detectors are equally good, it does not matter which of the two gave
which detections of an image. So their detections are exchanged on images
picked at random, each with chance 1/2, and the difference observed is
compared with the differences that come out (approximate randomisation;
Noreen: Computer-Intensive Methods for Testing Hypotheses, 1989). Every
difference is the one that evaluating the exchanged result files gives.

What the test assumes, and what it does not say:

- The null hypothesis is that what the two detectors gave for an image could
  be exchanged, for each image by itself. Under it the p-value is exact: the
  chance of ``p <= x`` is at most ``x``, for any number of images. Two
  detectors of equal average precision that get it in different ways (one
  better on many images, the other on few) do not satisfy it strictly.
- How much that matters was simulated with drawn detectors of equal AP over
  3000 images, judged on 29 of them, 191 pairs of each kind. At the level of
  5 % the test called different: 6 % of those that are alike, 6 % of loose
  boxes at high recall against tight ones at low recall (AP of few images is
  too high for both, by 1.5 points more for the one), 6 % of many against few
  false positives, 5 % of good on small against good on large objects.
- What is exchanged are boxes with ranks, not scores
  (:mod:`mmdet_cppe5.core.permutation_pair`), so the hypothesis is about these.
  Ranks are taken once, over all images: a detector's rank on one image tells
  a little about its others, and to that extent the test is approximate.
- It speaks of these images as they are. How the difference would vary over
  other images is what the interval beside it tells.
- If boxes or ranks differ on ``m`` images only, at least a share of
  ``2 ** (1 - m)`` of the exchanges is as extreme as what was observed: few
  images prove nothing, however large the difference.

The observed assignment is one of the possible ones, hence the 1 in
``p = (1 + g) / (1 + n)`` for ``g`` of ``n`` random exchanges as extreme
(Phipson & Smyth: Permutation P-values Should Never Be Zero, SAGMB 2010).
Where many are as extreme, the test ends early: at the 100th it stops, and
``p = 100 / n`` for the ``n`` done by then, which is as valid a p-value
(Besag & Clifford: Sequential Monte Carlo p-values, Biometrika 1991).
"""

from collections.abc import Callable, Iterator

import numpy as np

from mmdet_cppe5.core.arrays import BoolArray, FloatArray
from mmdet_cppe5.core.evaluation import Evaluation
from mmdet_cppe5.core.permutation_ap import ExchangedDifferences
from mmdet_cppe5.core.permutation_pair import pair_up
from mmdet_cppe5.core.resampled_numbers import ResampledNumbers

#: The test ends when so many exchanges are as extreme as what was observed.
ENOUGH = 100
_DRAWN = 256  # at once

Differences = Callable[[BoolArray], FloatArray]


def permutation_test(
    first: Evaluation,
    second: Evaluation,
    metric: str = 'AP',
    *,
    num_permutations: int = 10000,
    seed: int = 0,
    enough: int = ENOUGH,
) -> float:
    """Two-sided p-value of the difference of two detectors.

    Args:
        first: One detector's evaluation.
        second: The other's, of the same ground truths and settings.
        metric: A name of :func:`~mmdet_cppe5.core.comparison.compare`.
        num_permutations: Most random exchanges to try.
        seed: Seed of the random generator. The exchanges depend on it and on
            the number of images only.
        enough: Number of exchanges as extreme as what was observed at which
            the test ends.

    Returns:
        The p-value, NaN if the difference is undefined.
    """
    num_images = first.ground_truths.num_images
    differences = exchanged_differences(first, second, metric)
    observed = differences(np.zeros((1, num_images), np.bool_))[0]
    if np.isnan(observed):
        return float('nan')
    # Equal values differ by rounding.
    limit = abs(observed) * (1 - 1e-9) - 1e-12
    done = as_extreme = 0
    for exchanged in _draw(num_images, num_permutations, seed):
        reached = np.abs(differences(exchanged)) >= limit
        total = as_extreme + np.cumsum(reached)
        if total[-1] >= enough:
            return float(enough / (done + 1 + np.searchsorted(total, enough)))
        done, as_extreme = done + len(exchanged), int(total[-1])
    return (1 + as_extreme) / (1 + num_permutations)


def exchanged_differences(
    first: Evaluation, second: Evaluation, metric: str
) -> Differences:
    """What gives first minus second after exchanging images.

    Returns:
        Function of (B, I) flags, whether the two exchange their detections of
        an image; its result is (B,) differences, NaN where undefined.
    """
    pair = pair_up(first, second, metric)
    if not pair.positives.any():
        return lambda exchanged: np.full(len(exchanged), np.nan)
    if metric.startswith('dAP_'):
        return _of_resampled(pair, metric)
    return ExchangedDifferences(pair).differences


def _of_resampled(pair: Evaluation, metric: str) -> Differences:
    """TIDE's numbers, many times slower than average precision.

    Fixing errors changes the number of objects, which
    :class:`ExchangedDifferences` takes for fixed.
    """
    numbers = ResampledNumbers(pair, tide=True)
    column = numbers.names.index(metric)

    def differences(exchanged: BoolArray) -> FloatArray:
        given = np.empty((len(exchanged), 2 * exchanged.shape[1]), np.int32)
        given[:, ::2], given[:, 1::2] = ~exchanged, exchanged
        values = numbers.resample(np.concatenate([given, 1 - given]))
        values = values[:, column]
        result: FloatArray = values[: len(given)] - values[len(given) :]
        return result

    return differences


def _draw(num_images: int, count: int, seed: int) -> Iterator[BoolArray]:
    """(n, I) flags, a part of all at a time."""
    generator = np.random.default_rng(seed)
    for begin in range(0, count, _DRAWN):
        size = (min(_DRAWN, count - begin), num_images)
        yield generator.integers(0, 2, size).astype(np.bool_)
