"""Which of several detectors is better, and which cannot be told apart.

All detectors are resampled with the same images, so what an easy or a hard
image does to all of them cancels in the differences.

The test is a paired permutation test: the two detectors' detections are
exchanged on images picked at random, and the difference observed is compared
with what comes out. What it assumes and what it does not say stands in
:mod:`mmdet_cppe5.core.permutation`.

With many pairs some differ by chance; Holm's correction (A Simple Sequentially
Rejective Multiple Test Procedure, 1979) keeps the chance of any false claim
at ``alpha``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import NamedTuple, Optional

import numpy as np

from mmdet_cppe5.core.arrays import FloatArray
from mmdet_cppe5.core.compared_number import reduced, settings_behind
from mmdet_cppe5.core.evaluation import Evaluation
from mmdet_cppe5.core.intervals import Interval, interval
from mmdet_cppe5.core.permutation import permutation_test
from mmdet_cppe5.core.settings import listed
from mmdet_cppe5.core.spread import enough_resamples, spread
from mmdet_cppe5.names import did_you_mean


@dataclass(frozen=True, eq=False)
class PairedDifference:
    """One detector against another on the same images.

    Attributes:
        first: Name of the one.
        second: Name of the other.
        difference: first minus second, with its interval over resampled
            images.
        p_value: Two-sided, of the paired permutation test.
        p_adjusted: The same after Holm's correction over all pairs.
        significant: Whether ``p_adjusted`` is at most ``alpha``.
    """

    first: str
    second: str
    difference: Interval
    p_value: float
    p_adjusted: float
    significant: bool


@dataclass(frozen=True, eq=False)
class Comparison:
    """The result of :func:`compare`.

    Attributes:
        metric: The number compared, e.g. ``'AP'``.
        names: Detectors, best first.
        estimates: name -> value with interval.
        pairs: Every pair once, ``first`` being the better one.
        groups: Largest sets of detectors of which no two differ
            significantly, best group first. They may overlap: a detector
            between two others may differ from neither.
        ranks: name -> (best, worst) rank that the significant differences
            allow, counted from 1.
        alpha: Family-wise error rate.
    """

    metric: str
    names: tuple[str, ...]
    estimates: Mapping[str, Interval]
    pairs: tuple[PairedDifference, ...]
    groups: tuple[tuple[str, ...], ...]
    ranks: Mapping[str, tuple[int, int]]
    alpha: float


def compare(
    evaluations: Mapping[str, Evaluation],
    metric: str = 'AP',
    *,
    num_resamples: Optional[int] = None,
    num_permutations: int = 10000,
    seed: int = 0,
    confidence: float = 0.95,
    alpha: float = 0.05,
) -> Comparison:
    """Compare two or more detectors on the same ground truths.

    Args:
        evaluations: name -> evaluation, all of the same ground truths and
            settings.
        metric: A name of :func:`~mmdet_cppe5.core.bootstrap.bootstrap`'s
            intervals: ``'AP'``, ``'AP50'``, ..., or ``'dAP_Cls'``, ...
        num_resamples: Balanced resamples behind the intervals; None takes
            as many as the number of images needs.
        num_permutations: Most random exchanges for the test of a pair, which
            ends earlier where it clearly finds nothing. No p-value can be
            below ``1 / (num_permutations + 1)``, before the correction.
        seed: Seed of the random generator.
        confidence: Coverage of the intervals.
        alpha: Family-wise error rate of the groups.

    Raises:
        ValueError: If there is no such metric, fewer than two are given,
            they differ in their ground truths or settings, there is no
            image, or the permutations are too few for any pair to be
            significant.
    """
    num_images = _check(evaluations, metric, num_permutations, alpha)
    if num_resamples is None:
        num_resamples = enough_resamples(num_images)
    found = {
        name: _number(evaluation, metric, num_resamples, seed)
        for name, evaluation in evaluations.items()
    }
    # NaN (undefined) comes last.
    names = tuple(sorted(found, key=lambda name: _descending(found[name])))
    with_interval = partial(_interval, metric=metric, confidence=confidence)

    test = partial(
        permutation_test, num_permutations=num_permutations, seed=seed
    )
    both = list(combinations(names, 2))
    p_values = np.array(
        [
            test(evaluations[first], evaluations[second], metric)
            for first, second in both
        ]
    )
    adjusted = holm(p_values)
    pairs = tuple(
        PairedDifference(
            first=first,
            second=second,
            difference=with_interval(found[first], minus=found[second]),
            p_value=float(p_values[n]),
            p_adjusted=float(adjusted[n]),
            significant=bool(adjusted[n] <= alpha),
        )
        for n, (first, second) in enumerate(both)
    )
    return Comparison(
        metric=metric,
        names=names,
        estimates={name: with_interval(found[name]) for name in names},
        pairs=pairs,
        groups=_groups(names, pairs),
        ranks=_ranks(names, pairs),
        alpha=alpha,
    )


def holm(p_values: FloatArray) -> FloatArray:
    """Holm's correction of (n,) p-values of one family; NaN stays NaN."""
    adjusted = np.full(len(p_values), np.nan)
    tested = np.flatnonzero(~np.isnan(p_values))
    order = tested[np.argsort(p_values[tested], kind='stable')]
    factors = np.arange(len(order), 0, -1)
    scaled = np.minimum(p_values[order] * factors, 1)
    adjusted[order] = np.maximum.accumulate(scaled)
    return adjusted


class _Number(NamedTuple):
    """One detector's number and how it varies with the I images.

    Attributes:
        estimate: The number.
        bias: By how much it is too high.
        deviations: (I,) share of each image in the error.
        support: Images with objects of the number.
    """

    estimate: float
    bias: float
    deviations: FloatArray
    support: int


def _number(
    evaluation: Evaluation, metric: str, num_resamples: int, seed: int
) -> _Number:
    tide = metric.startswith('dAP_')
    found = spread(reduced(evaluation, metric), tide, num_resamples, seed)
    n = found.names.index(metric if tide else 'AP')
    return _Number(
        float(found.estimates[n]),
        float(found.bias[n]),
        found.deviations[:, n],
        int(found.support[n]),
    )


def _descending(number: _Number) -> tuple[bool, float]:
    return np.isnan(number.estimate), -number.estimate


def _interval(
    number: _Number,
    metric: str,
    confidence: float,
    minus: Optional[_Number] = None,
) -> Interval:
    """Interval of a number, or of what it has over another."""
    lowest = 0 if metric.startswith('AP') and minus is None else -1
    if minus is not None:
        number = _Number(
            number.estimate - minus.estimate,
            number.bias - minus.bias,
            number.deviations - minus.deviations,
            number.support,
        )
        if number.estimate == 0 and not number.deviations.any():
            return Interval(0.0, 0.0, 0.0, 'the two do not differ anywhere')
    return interval(
        *number[:3],
        support=number.support,
        confidence=confidence,
        lowest=lowest,
    )


def _groups(
    names: tuple[str, ...], pairs: tuple[PairedDifference, ...]
) -> tuple[tuple[str, ...], ...]:
    """Largest sets without a significant pair.

    Every significant pair splits the sets that hold both; sets inside other
    sets go (Piepho: An Algorithm for a Letter-Based Representation of
    All-Pairwise Comparisons, JCGS 2004).
    """
    groups = [frozenset(names)]
    for pair in pairs:
        if not pair.significant:
            continue
        split: list[frozenset[str]] = []
        for group in groups:
            if {pair.first, pair.second} <= group:
                split += [group - {pair.first}, group - {pair.second}]
            else:
                split.append(group)
        unique = list(dict.fromkeys(split))
        groups = [g for g in unique if not any(g < other for other in unique)]
    place = {name: n for n, name in enumerate(names)}
    ordered = [tuple(sorted(group, key=place.__getitem__)) for group in groups]
    return tuple(sorted(ordered, key=lambda g: [place[name] for name in g]))


def _ranks(
    names: tuple[str, ...], pairs: tuple[PairedDifference, ...]
) -> dict[str, tuple[int, int]]:
    """Best and worst rank of each name."""
    better = dict.fromkeys(names, 0)
    worse = dict.fromkeys(names, 0)
    for pair in pairs:
        if pair.significant:
            better[pair.second] += 1
            worse[pair.first] += 1
    return {
        name: (1 + better[name], len(names) - worse[name]) for name in names
    }


def _check(
    evaluations: Mapping[str, Evaluation],
    metric: str,
    num_permutations: int,
    alpha: float,
) -> int:
    """Return the number of images, or say what is wrong."""
    if len(evaluations) < 2:
        raise ValueError(
            f'Expected at least two evaluations, but got {len(evaluations)}.'
        )
    (first_name, first), *others = evaluations.items()
    for name, other in others:
        differing = _difference(first, other)
        if differing:
            raise ValueError(
                f'Expected evaluations of the same ground truths and '
                f'settings, but {first_name!r} and {name!r} differ in '
                f'{differing}.'
            )
    known = list(settings_behind(first))
    if metric not in known:
        raise ValueError(
            f'Expected metric to be one of {listed(known)}, but got '
            f'{metric!r}{did_you_mean(metric, known) or "."}'
        )
    num_pairs = len(evaluations) * (len(evaluations) - 1) // 2
    if num_pairs > alpha * (num_permutations + 1):
        raise ValueError(
            f'Expected at least {int(num_pairs / alpha)} permutations for '
            f'{num_pairs} pairs at alpha {alpha}, but got {num_permutations}.'
        )
    if first.ground_truths.num_images < 1:
        raise ValueError('Expected at least one image to compare on.')
    return first.ground_truths.num_images


def _difference(first: Evaluation, second: Evaluation) -> str:
    """Name of something in which two evaluations differ, or ''."""
    gt, other = first.ground_truths, second.ground_truths
    columns = ('image', 'label', 'bbox', 'area', 'crowd', 'ignore')
    for name in ('num_images', 'num_classes', *columns):
        if not np.array_equal(getattr(gt, name), getattr(other, name)):
            return f'ground truth {name}'
    for name in ('iou_thrs', 'max_dets'):
        if not np.array_equal(getattr(first, name), getattr(second, name)):
            return name
    if first.area_ranges != second.area_ranges:
        return 'area_ranges'
    return ''
