"""TIDE: what each kind of error costs.

Bolya, Foley, Hays, Hoffman: TIDE: A General Toolbox for Identifying Object
Detection Errors, ECCV 2020, https://arxiv.org/abs/2008.08115.

A false positive is sorted by its most similar counted ground truths, in this
order (``s`` to its own class, ``o`` to any other class):

====  =======================================================================
Loc   ``bg_thr <= s < pos_thr``: right class, badly placed.
Cls   ``o >= pos_thr``: well placed, wrong class.
Dupe  ``s >= pos_thr``: the ground truth was taken by a better-scored one.
Bkg   ``max(s, o) <= bg_thr``: on background.
Both  the rest: wrong class and badly placed.
Miss  a ground truth without match that no Cls or Loc error points at.
====  =======================================================================

Fixing: of the Cls and Loc errors that point at an untaken ground truth the
best-scored one becomes its hit (in the ground truth's class), all other false
positives of the kind are removed; missed ground truths are taken out of the
count. FalsePos removes all false positives, FalseNeg takes all unmatched
ground truths out of the count. The number is AP after minus AP before, both
being COCO's AP of the (repaired) detections and ground truths: pycocotools on
the repaired files gives the same.

Where tidecv 1.0.1 does otherwise:

- The AP is COCO's: recall levels of linspace (tidecv: i/100), equal scores in
  stable order (tidecv: a fix puts errors before hits), the last of equally
  similar ground truths (tidecv: the first), the cap per image and class
  (tidecv: per image), crowd regions matched at ``>=`` (tidecv: ``>``).
- A class without ground truth is left out of the mean (tidecv: counts as 0).
  So is a class that a fix leaves without any: fixing Miss where the only
  object of a class is missed evaluates the other classes. Where no class is
  left, nothing is left to find, and the AP after the fix is taken as 1; the
  same goes for the number of a single class.
- Detections on crowd or ignored objects are neither hits nor errors (tidecv:
  may be counted as Bkg).
- A detection exactly at ``pos_thr`` on a taken ground truth is Dupe (tidecv:
  Loc). Both are removed, so only the name differs.
- A fix that lowers AP has a negative number (tidecv: cut at 0).
- The cap holds before the fix; nothing is cut after it.

As in tidecv an object met by both a Loc and a Cls error belongs to the better
scored one alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Optional

import numpy as np
from numpy.typing import NDArray

from mmdet_cppe5.core.arrays import BoolArray, FloatArray, IntArray
from mmdet_cppe5.core.curves import Term
from mmdet_cppe5.core.evaluation import Evaluation
from mmdet_cppe5.core.precision_recall import mean_of_defined
from mmdet_cppe5.core.settings import listed
from mmdet_cppe5.core.tide_errors import (
    BKG,
    BOTH,
    MAIN_ERRORS,
    SPECIAL_ERRORS,
    Errors,
    Stage,
    find_errors,
    prepare,
)
from mmdet_cppe5.core.tide_fixes import FIXES, fixed_curves, quiet_term

_ERRORS = FIXES[1:]
# Active detections worked on at once, over all thresholds: with few images
# one call serves all thresholds, with many the memory of one is enough.
_AT_ONCE = 1 << 17


@dataclass(frozen=True, eq=False)
class TideResult:
    """TIDE's analysis at one threshold; fractions 0..1, NaN for undefined.

    Attributes:
        pos_thr: Foreground threshold t_f.
        bg_thr: Background threshold t_b.
        ap: AP at ``pos_thr``, the one of :meth:`Evaluation.ap`.
        ap_per_class: (K,) the same for each class.
        delta_ap: error name -> AP gained if all errors of this kind were
            fixed; the six main errors, then the two special ones.
        delta_ap_per_class: error name -> (K,) the same for each class. Their
            mean is ``delta_ap`` unless a fix leaves a class without ground
            truth.
        counts: error name -> number of errors. FalsePos counts all false
            positives, FalseNeg all ground truths without a match.
        counts_per_class: error name -> (K,) the same, by the detection's
            class (Miss and FalseNeg: by the ground truth's).
        evaluation: What was analysed.
    """

    pos_thr: float
    bg_thr: float
    ap: float
    ap_per_class: FloatArray
    delta_ap: Mapping[str, float]
    delta_ap_per_class: Mapping[str, FloatArray]
    counts: Mapping[str, int]
    counts_per_class: Mapping[str, IntArray]
    evaluation: Evaluation = field(repr=False)
    _stage: Stage = field(repr=False)
    _errors: Errors = field(repr=False)
    _layer: int = field(repr=False)

    @cached_property
    def error(self) -> NDArray[np.int8]:
        """(N,) index into :data:`MAIN_ERRORS` of each detection.

        -1 for detections that are no error: hits, ignored ones, and those
        beyond the cap.
        """
        error = np.full(len(self.evaluation.detections), -1, np.int8)
        error[self.evaluation.ranking.rows] = self._stage.quiet
        error[self._stage.row] = self._errors.kind[self._layer]
        return error

    @cached_property
    def error_gt(self) -> IntArray:
        """(N,) ground truth behind a Cls, Loc or Dupe error, else -1."""
        error_gt = np.full(len(self.evaluation.detections), -1)
        error_gt[self._stage.row] = self._errors.pointed_at(
            self._stage, self._layer
        )
        return error_gt

    @cached_property
    def fixed(self) -> BoolArray:
        """(N,) Cls or Loc error that fixing turns into a hit.

        Fixing removes the others.
        """
        fixed = np.zeros(len(self.evaluation.detections), np.bool_)
        own = self._errors.fixed_layer == self._layer
        fixed[self._stage.row[self._errors.fixed[own]]] = True
        return fixed

    @property
    def missed(self) -> BoolArray:
        """(G,) ground truth that is a Miss."""
        missed: BoolArray = self._errors.missed[self._layer]
        return missed

    @property
    def false_negative(self) -> BoolArray:
        """(G,) counted ground truth without a match."""
        unmatched: BoolArray = self._errors.false_negative[self._layer]
        return unmatched

    def members(self, name: str) -> tuple[IntArray, IntArray]:
        """Rows of the detections and of the ground truths behind a number.

        Args:
            name: One of the eight error names.

        Returns:
            Rows of detections (none for Miss and FalseNeg), and rows of the
            ground truths they point at, -1 where there is none (for Miss and
            FalseNeg: the ground truths themselves).

        Raises:
            ValueError: If there is no such error.
        """
        none = np.zeros(0, np.int64)
        if name == 'Miss':
            return none, np.flatnonzero(self.missed)
        if name == 'FalseNeg':
            return none, np.flatnonzero(self.false_negative)
        if name == 'FalsePos':
            rows = np.flatnonzero(self.error >= 0)
        elif name in MAIN_ERRORS:
            rows = np.flatnonzero(self.error == MAIN_ERRORS.index(name))
        else:
            raise ValueError(
                f'Expected one of {listed((*MAIN_ERRORS, *SPECIAL_ERRORS))}, '
                f'but got {name!r}.'
            )
        return rows, self.error_gt[rows]


def tide(
    evaluation: Evaluation, pos_thr: float = 0.5, bg_thr: float = 0.1
) -> TideResult:
    """Tell which kinds of errors cost how much AP at one threshold.

    Args:
        evaluation: Its first size range and its largest cap count.
        pos_thr: One of the evaluated thresholds.
        bg_thr: At or below it a detection is on background.

    Raises:
        ValueError: If ``pos_thr`` was not evaluated, or not
            ``0 < bg_thr < pos_thr``.
    """
    return tide_range(evaluation, [pos_thr], bg_thr)[0]


def tide_range(
    evaluation: Evaluation,
    pos_thrs: Optional[Sequence[float]] = None,
    bg_thr: float = 0.1,
) -> tuple[TideResult, ...]:
    """Run :func:`tide` at several thresholds, sharing the work.

    Args:
        evaluation: As for :func:`tide`.
        pos_thrs: Some of the evaluated thresholds; None means all of them.
        bg_thr: At or below it a detection is on background.

    Returns:
        One result per threshold, in the order asked for.

    Raises:
        ValueError: If a threshold was not evaluated, or not ``0 < bg_thr``
            and below every threshold.
    """
    if pos_thrs is None:
        pos_thrs = evaluation.iou_thrs.tolist()
    indices = [evaluation.threshold_index(value) for value in pos_thrs]
    thresholds = evaluation.iou_thrs[indices]
    if not 0 < bg_thr < thresholds.min(initial=1):
        raise ValueError(
            f'Expected a background threshold above 0 and below every '
            f'foreground threshold, the lowest being '
            f'{thresholds.min(initial=1):g}, but got {bg_thr}.'
        )
    stage = prepare(evaluation, bg_thr)
    quiet = quiet_term(evaluation, stage)
    step = max(1, _AT_ONCE // max(len(stage.place), 1))
    return tuple(
        result
        for begin in range(0, len(indices), step)
        for result in _analyse(
            evaluation, stage, quiet, indices[begin : begin + step], bg_thr
        )
    )


def _analyse(
    evaluation: Evaluation,
    stage: Stage,
    quiet: Term,
    indices: Sequence[int],
    bg_thr: float,
) -> list[TideResult]:
    """Analyse L thresholds as layers of one set of curves."""
    errors = find_errors(evaluation, stage, indices)
    precision = fixed_curves(evaluation, stage, quiet, errors).precision
    aps = precision.mean(axis=1).reshape(len(FIXES), len(indices), -1)
    before, after = aps[0], aps[1:]  # (L, K), (F - 1, L, K)
    defined = ~np.isnan(before[0])
    ap = np.array([evaluation.ap(evaluation.iou_thrs[t]) for t in indices])
    # Nothing is left to find where no class has ground truth left.
    left = np.where(defined, np.nan_to_num(after, nan=1), np.nan)
    delta_per_class = left - before
    whole = mean_of_defined(np.where(defined, after, np.nan), 2)
    whole[np.isnan(whole) & defined.any()] = 1
    delta = whole - ap  # (F - 1, L)
    counts = _count_errors(evaluation, stage, errors, quiet)  # (F - 1, L, K)
    totals = counts.sum(axis=2).tolist()
    return [
        TideResult(
            pos_thr=float(evaluation.iou_thrs[t]),
            bg_thr=bg_thr,
            ap=float(ap[n]),
            ap_per_class=before[n],
            delta_ap=dict(zip(_ERRORS, delta[:, n].tolist())),
            delta_ap_per_class=dict(zip(_ERRORS, delta_per_class[:, n])),
            counts={name: count[n] for name, count in zip(_ERRORS, totals)},
            counts_per_class=dict(zip(_ERRORS, counts[:, n])),
            evaluation=evaluation,
            _stage=stage,
            _errors=errors,
            _layer=n,
        )
        for n, t in enumerate(indices)
    ]


def _count_errors(
    evaluation: Evaluation, stage: Stage, errors: Errors, quiet: Term
) -> IntArray:
    """(F - 1, L, K) number of errors of each kind, in the order of FIXES."""
    num_layers, num_classes = len(errors.kind), len(evaluation.positives[0])

    def count(flags: BoolArray, labels: IntArray) -> IntArray:
        layer, which = np.nonzero(flags)
        key = layer * num_classes + labels[which]
        counted: IntArray = np.bincount(
            key, minlength=num_layers * num_classes
        )
        return counted.reshape(num_layers, num_classes)

    # Of the quiet ones, layer 1 holds Bkg and layer 2 Both.
    always = np.zeros((5, num_classes), np.int64)
    always[[BKG, BOTH]] = np.diff(quiet.before[1:3, quiet.class_start])
    positive = np.stack(
        [
            count(errors.kind == kind, stage.label) + always[kind]
            for kind in range(5)
        ]
    )
    labels = evaluation.ground_truths.label
    missed = count(errors.missed, labels)
    unmatched = count(errors.false_negative, labels)
    return np.stack([*positive, missed, positive.sum(axis=0), unmatched])
