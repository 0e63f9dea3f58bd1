"""How the headline numbers vary with the images: bias and deviations.

What intervals need, at about the price of one more evaluation:

- How much each image moves a number. Up to 100 images each is left out in turn
  (the jackknife); with more, influence values give the same
  (:mod:`mmdet_cppe5.core.influence`).
- By how much few images make average precision too high: its interpolation
  takes the best of every chance. Resampled images show it, drawn twice they
  are a smaller sample yet; the mean over few *balanced* resamples is enough.

The bootstrap sees half of that bias only. AP of 29 drawn images was 0.027 too
high on average, its resamples another 0.012; at 100 images 0.014 and 0.007, at
500 0.0044 and 0.0025. So twice of what the resamples show is taken off.
Recall takes the best of nothing, and is left as it is. So are TIDE's numbers,
differences of average precisions that are too high alike; but for FalsePos,
which leaves no chance to take the best of, so that it is too low by the bias
of AP.
"""

from dataclasses import dataclass

import numpy as np

from mmdet_cppe5.core.arrays import FloatArray, IntArray
from mmdet_cppe5.core.evaluation import Evaluation
from mmdet_cppe5.core.resampled_numbers import ResampledNumbers, draw_images

_MOST_LEFT_OUT = 100  # images left out one by one
_BIAS_SEEN = 0.5  # share of the bias that resamples show


@dataclass(frozen=True, eq=False)
class Spread:
    """N numbers and how they vary.

    Attributes:
        names: Names of the first numbers; those of the K classes' AP follow.
        estimates: (N,) values on the data as they are.
        bias: (N,) by how much they are too high.
        deviations: (I, N) share of each image in the error: the standard
            error is the root of their sum of squares. NaN where a number
            is undefined without the image.
        support: (N,) images that have counted objects of the number.
        samples: (B, N) values of the resamples; recall and TIDE's numbers
            are not computed, see
            :meth:`ResampledNumbers.resample
            <mmdet_cppe5.core.resampled_numbers.ResampledNumbers.resample>`.
    """

    names: tuple[str, ...]
    estimates: FloatArray
    bias: FloatArray
    deviations: FloatArray
    support: IntArray
    samples: FloatArray


def spread(
    evaluation: Evaluation, tide: bool, num_resamples: int, seed: int
) -> Spread:
    """Tell how the headline numbers vary.

    Args:
        evaluation: Its matching is reused exactly.
        tide: Whether TIDE's numbers are wanted.
        num_resamples: Number of balanced resamples.
        seed: Seed of the random generator.
    """
    num_images = evaluation.ground_truths.num_images
    numbers = ResampledNumbers(evaluation, tide)
    as_it_is = np.ones((1, num_images), np.int32)
    estimates = numbers.resample(as_it_is)[0]
    drawn = draw_images(num_images, num_resamples, seed)
    samples = numbers.resample(
        np.concatenate([as_it_is, drawn]), everything=False
    )
    if num_images <= _MOST_LEFT_OUT:
        left_out = numbers.resample(1 - np.eye(num_images, dtype=np.int32))
        deviations = _of_left_out(left_out)
    else:
        deviations = numbers.influence()
        deviations *= np.sqrt(num_images / (num_images - 1))
    return Spread(
        names=tuple(numbers.names),
        estimates=estimates,
        bias=_bias(samples[0], samples[1:]),
        deviations=deviations,
        support=numbers.support(),
        samples=samples[1:],
    )


def enough_resamples(num_images: int) -> int:
    """Balanced resamples after which the bias is known well enough.

    Its noise, as a share of the interval, falls with images and resamples
    alike: from 200 resamples of up to 40 images to 10 of 800 and more.
    """
    return int(np.clip(8000 // max(num_images, 1), 10, 200))


def _of_left_out(left_out: FloatArray) -> FloatArray:
    """(I, N) deviations from (I, N) values with one image left out."""
    defined = ~np.isnan(left_out)
    parts = np.maximum(defined.sum(axis=0), 1)  # (N,)
    mean = np.where(defined, left_out, 0).sum(axis=0) / parts
    deviations: FloatArray = (mean - left_out) * np.sqrt((parts - 1) / parts)
    return deviations


def _bias(values: FloatArray, samples: FloatArray) -> FloatArray:
    """(N,) by how much (N,) values are too high, from (B, N) resamples."""
    defined = ~np.isnan(samples)
    count = defined.sum(axis=0)
    total = np.where(defined, samples, 0).sum(axis=0)
    mean = np.full(len(values), np.nan)
    np.divide(total, count, out=mean, where=count > 0)
    bias: FloatArray = (mean - values) / _BIAS_SEEN
    return bias
