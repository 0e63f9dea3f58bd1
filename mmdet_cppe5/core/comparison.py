"""Which of several detectors is better, and which cannot be told apart."""

from collections.abc import Mapping
from dataclasses import dataclass

from mmdet_cppe5.core.evaluation import Evaluation
from mmdet_cppe5.core.intervals import Interval


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
        groups: Detectors that cannot be told apart, best group first.
            Groups may overlap: a detector between two others may differ from
            neither.
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
    num_resamples: int = 1000,
    num_permutations: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
    alpha: float = 0.05,
) -> Comparison:
    """Compare two or more detectors on the same ground truths.

    Args:
        evaluations: name -> evaluation, all of the same ground truths and
            settings.
        metric: A name of :meth:`Evaluation.summary` that starts with ``AP``.
        num_resamples: Bootstrap resamples for the intervals.
        num_permutations: Random swaps for the test.
        seed: Seed of the random generator.
        confidence: Coverage of the intervals.
        alpha: Family-wise error rate of the groups.

    Raises:
        ValueError: If fewer than two are given or they differ in their ground
            truths or settings.
    """
    raise NotImplementedError
