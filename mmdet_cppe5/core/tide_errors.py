"""Which kind of error each false positive is, at one threshold."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mmdet_cppe5.core.arrays import BoolArray, FloatArray, IntArray
from mmdet_cppe5.core.evaluation import Evaluation

#: The six main errors, in TIDE's order.
MAIN_ERRORS = ('Cls', 'Loc', 'Both', 'Dupe', 'Bkg', 'Miss')
#: The two special errors.
SPECIAL_ERRORS = ('FalsePos', 'FalseNeg')
CLS, LOC, BOTH, DUPE, BKG = range(5)
NO_ERROR = -1


@dataclass(frozen=True, eq=False)
class Stage:
    """What TIDE needs to know at every threshold.

    A detection that has little in common with any ground truth and never
    matches is *quiet*: a background error at every threshold. The others are
    *active*, and only they need to be looked at again.

    Attributes:
        place: (Q,) place of each active detection in class order, ascending.
        row: (Q,) its row.
        label: (Q,) its class.
        quiet_before: (D + 1,) quiet counted detections before each place.
        same_gt: (Q,) most similar ground truth of its own class, -1 for none.
        same: (Q,) similarity to it.
        other_gt: (Q,) most similar ground truth of another class.
        other: (Q,) similarity to it.
        inside: (Q,) detection whose own area is inside the size range.
        candidate: (Q,) index into the evaluation's candidates, -1 for none.
    """

    place: IntArray
    row: IntArray
    label: IntArray
    quiet_before: IntArray
    same_gt: NDArray[np.int32]
    same: FloatArray
    other_gt: NDArray[np.int32]
    other: FloatArray
    inside: BoolArray
    candidate: IntArray


@dataclass(frozen=True, eq=False)
class Errors:
    """The errors at one threshold.

    Attributes:
        kind: (Q,) index into :data:`MAIN_ERRORS`, -1 for no error.
        gt: (Q,) ground truth behind a Cls, Loc or Dupe error, else -1.
        hit: (Q,) true positive.
        counted: (Q,) true or false positive.
        fixed: (Q,) Cls or Loc error that fixing turns into a hit.
        false_negative: (G,) counted ground truth without a match.
        missed: (G,) the same, and no Cls or Loc error could be its hit.
    """

    kind: NDArray[np.int8]
    gt: NDArray[np.int32]
    hit: BoolArray
    counted: BoolArray
    fixed: BoolArray
    false_negative: BoolArray
    missed: BoolArray


def prepare(evaluation: Evaluation, bg_thr: float) -> Stage:
    """Find the active detections and what they are similar to."""
    ranking, detections = evaluation.ranking, evaluation.detections
    same, other = evaluation.nearest_same, evaluation.nearest_other
    rows = ranking.rows
    active = (same.similarity >= bg_thr)[rows]
    active |= (other.similarity > bg_thr)[rows]
    candidate_place = ranking.place[evaluation.matches.dt]
    active[candidate_place] = True
    place = np.flatnonzero(active)
    row = rows[place]
    candidate = np.full(len(place), -1)
    candidate[np.searchsorted(place, candidate_place)] = np.arange(
        len(candidate_place)
    )
    low, high = next(iter(evaluation.area_ranges.values()))
    area = detections.area
    outside = (area < low) | (area > high)
    quiet = ~active
    if outside.any():
        quiet &= ~outside[rows]
    return Stage(
        place=place,
        row=row,
        label=detections.label[row],
        quiet_before=np.concatenate([[0], np.cumsum(quiet)]),
        same_gt=same.gt[row],
        same=same.similarity[row],
        other_gt=other.gt[row],
        other=other.similarity[row],
        inside=~outside[row],
        candidate=candidate,
    )


def find_errors(
    evaluation: Evaluation, stage: Stage, pos_thr: float, bg_thr: float
) -> Errors:
    """Sort the false positives and false negatives into TIDE's kinds."""
    hit, counted, used = _outcomes(evaluation, stage, pos_thr)
    kind = _classify(stage, counted & ~hit, pos_thr, bg_thr)
    gt = np.full(len(kind), -1, np.int32)
    is_cls = kind == CLS
    gt[is_cls] = stage.other_gt[is_cls]
    on_same = (kind == LOC) | (kind == DUPE)
    gt[on_same] = stage.same_gt[on_same]

    repairable = np.flatnonzero((is_cls | (kind == LOC)) & ~used[gt])
    rank = evaluation.ranking.score_rank[stage.place[repairable]]
    repairable = repairable[np.argsort(rank)]
    # The best-scored error of each object is written last, so it stays.
    first = np.full(len(used), -1)
    first[gt[repairable[::-1]]] = repairable[::-1]
    fixed = np.zeros(len(kind), np.bool_)
    fixed[first[first >= 0]] = True

    false_negative = ~evaluation.gt_ignored[0] & ~used
    return Errors(
        kind=kind,
        gt=gt,
        hit=hit,
        counted=counted,
        fixed=fixed,
        false_negative=false_negative,
        missed=false_negative & (first < 0),
    )


def _outcomes(
    evaluation: Evaluation, stage: Stage, pos_thr: float
) -> tuple[BoolArray, BoolArray, BoolArray]:
    """(Q,) hits, (Q,) counted detections, (G,) objects that are used."""
    t = evaluation.threshold_index(pos_thr)
    matches = evaluation.matches
    some = np.flatnonzero(stage.candidate >= 0)
    candidate = stage.candidate[some]
    chosen = matches.chosen[t, 0, candidate]
    ignored = matches.ignored[t, 0, candidate]
    matched = chosen >= 0
    hit = np.zeros(len(stage.place), np.bool_)
    hit[some] = matched & ~ignored
    counted = stage.inside.copy()
    counted[some[matched]] = ~ignored[matched]
    used = np.zeros(len(evaluation.ground_truths), np.bool_)
    used[matches.pairs.gt[chosen[matched]]] = True
    return hit, counted, used


def _classify(
    stage: Stage, false_positive: BoolArray, pos_thr: float, bg_thr: float
) -> NDArray[np.int8]:
    """(Q,) kind of each false positive, in the order of TIDE's tests."""
    pos_thr = min(pos_thr, 1 - 1e-10)
    kind = np.full(len(stage.place), BOTH, np.int8)
    kind[np.maximum(stage.same, stage.other) <= bg_thr] = BKG
    kind[stage.same >= pos_thr] = DUPE
    kind[stage.other >= pos_thr] = CLS
    kind[(stage.same >= bg_thr) & (stage.same < pos_thr)] = LOC
    kind[~false_positive] = NO_ERROR
    return kind
