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

    A detection that never matches and has little in common with any ground
    truth is *quiet*: the same error, Bkg or Both, at every threshold. The
    others are *active*, and only they need to be looked at again.

    Attributes:
        place: (Q,) place of each active detection in class order, ascending.
        row: (Q,) its row.
        label: (Q,) its class.
        quiet: (D,) by place, BKG or BOTH for a quiet detection that counts,
            else -1.
        inside: (Q,) active detection inside the size range.
        same_gt: (Q,) most similar ground truth of its own class, -1 for none.
        same_reach: (Q,) number of thresholds that it reaches with it.
        other_gt: (Q,) most similar ground truth of another class.
        other_reach: (Q,) number of thresholds that it reaches with it.
        near: (Q,) at or over the background threshold with ``same_gt``.
        background: (Q,) BKG for active detections at or under the background
            threshold with both, else BOTH.
        candidate: (C,) active detection that each candidate is.
    """

    place: IntArray
    row: IntArray
    label: IntArray
    quiet: NDArray[np.int8]
    inside: BoolArray
    same_gt: NDArray[np.int32]
    same_reach: NDArray[np.int16]
    other_gt: NDArray[np.int32]
    other_reach: NDArray[np.int16]
    near: BoolArray
    background: NDArray[np.int8]
    candidate: IntArray


@dataclass(frozen=True, eq=False)
class Errors:
    """The errors at one threshold.

    Attributes:
        kind: (Q,) index into :data:`MAIN_ERRORS`, -1 for no error.
        hit: (Q,) true positive.
        counted: (Q,) true or false positive.
        fixed: (F,) active detections that are Cls or Loc errors and become
            hits by fixing, ascending.
        fixed_gt: (F,) what they hit then.
        false_negative: (G,) counted ground truth without a match.
        missed: (G,) the same, and no Cls or Loc error could be its hit.
    """

    kind: NDArray[np.int8]
    hit: BoolArray
    counted: BoolArray
    fixed: IntArray
    fixed_gt: IntArray
    false_negative: BoolArray
    missed: BoolArray

    def pointed_at(self, stage: Stage, active: IntArray) -> IntArray:
        """Ground truths behind Cls, Loc and Dupe errors, -1 for others."""
        kind = self.kind[active]
        gt = np.where(kind == CLS, stage.other_gt[active], -1)
        on_same = (kind == LOC) | (kind == DUPE)
        return np.where(on_same, stage.same_gt[active], gt).astype(np.int64)


def prepare(evaluation: Evaluation, bg_thr: float) -> Stage:
    """Find the active detections and what they are similar to."""
    ranking, detections = evaluation.ranking, evaluation.detections
    same, other = evaluation.nearest_same, evaluation.nearest_other
    thresholds = np.minimum(evaluation.iou_thrs, 1 - 1e-10)
    active = same.similarity >= bg_thr
    active |= other.similarity >= thresholds[0]
    active[evaluation.matches.dt] = True
    active = active[ranking.rows]
    inside = evaluation.curves.terms[0].flags[0] > 0
    most = np.maximum(same.similarity, other.similarity)
    far = (most <= bg_thr)[ranking.rows]
    background = np.where(far, np.int8(BKG), np.int8(BOTH))
    quiet = background.copy()
    np.copyto(quiet, NO_ERROR, where=active | ~inside)
    place = np.flatnonzero(active)
    row = ranking.rows[place]
    same_similarity = same.similarity[row]
    return Stage(
        place=place,
        row=row,
        label=detections.label[row],
        quiet=quiet,
        inside=inside[place],
        same_gt=same.gt[row],
        same_reach=_reach(same_similarity, thresholds),
        other_gt=other.gt[row],
        other_reach=_reach(other.similarity[row], thresholds),
        near=same_similarity >= bg_thr,
        background=background[place],
        candidate=np.searchsorted(place, ranking.place[evaluation.matches.dt]),
    )


def find_errors(evaluation: Evaluation, stage: Stage, t: int) -> Errors:
    """Sort the false positives and negatives at the t-th threshold."""
    matches = evaluation.matches
    taken = matches.code[t, 0] > 0
    is_hit = matches.hit[t, 0]
    hit = np.zeros(len(stage.place), np.bool_)
    hit[stage.candidate] = is_hit
    counted = stage.inside.copy()
    counted[stage.candidate[taken]] = is_hit[taken]
    kind = _classify(stage, counted & ~hit, t)

    free = ~evaluation.gt_ignored[0]
    free[matches.pairs.gt[matches.taken_pair(t, 0)[is_hit]]] = False
    fixed, fixed_gt = _find_fixable(evaluation, stage, kind, free)
    missed = free.copy()
    missed[fixed_gt] = False
    return Errors(
        kind=kind,
        hit=hit,
        counted=counted,
        fixed=fixed,
        fixed_gt=fixed_gt,
        false_negative=free,
        missed=missed,
    )


def _classify(
    stage: Stage, false_positive: BoolArray, t: int
) -> NDArray[np.int8]:
    """(Q,) kind of each false positive, in the order of TIDE's tests."""
    kind: NDArray[np.int8] = stage.background.copy()
    np.copyto(kind, DUPE, where=stage.same_reach > t)
    np.copyto(kind, CLS, where=stage.other_reach > t)
    np.copyto(kind, LOC, where=stage.near & (stage.same_reach <= t))
    np.copyto(kind, NO_ERROR, where=~false_positive)
    return kind


def _find_fixable(
    evaluation: Evaluation,
    stage: Stage,
    kind: NDArray[np.int8],
    free: BoolArray,
) -> tuple[IntArray, IntArray]:
    """The best-scored Cls or Loc error of each free ground truth.

    Returns:
        Active detections, ascending, and their ground truths.
    """
    error = np.flatnonzero((kind == CLS) | (kind == LOC))
    gt = np.where(
        kind[error] == CLS, stage.other_gt[error], stage.same_gt[error]
    )
    some = np.flatnonzero(free[gt])
    error, gt = error[some], gt[some]
    best_last = np.argsort(-evaluation.ranking.score_rank[stage.place[error]])
    best = np.full(len(free), -1)
    best[gt[best_last]] = error[best_last]
    pointed_at = np.flatnonzero(best >= 0)
    order = np.argsort(best[pointed_at])
    return best[pointed_at][order], pointed_at[order]


def _reach(
    similarity: FloatArray, thresholds: FloatArray
) -> NDArray[np.int16]:
    """How many ascending thresholds each similarity is at or over."""
    reach = np.zeros(len(similarity), np.int16)
    for threshold in thresholds:
        reach += similarity >= threshold
    return reach
