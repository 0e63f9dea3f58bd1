"""Which kind of error each false positive is, at several thresholds at once.

Thresholds are layers: arrays over detections and ground truths get a leading
axis of L thresholds, so that few images cost few calls.
"""

from collections.abc import Sequence
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
    """The errors at L thresholds.

    Attributes:
        kind: (L, Q) index into :data:`MAIN_ERRORS`, -1 for no error.
        hit: (L, Q) true positive.
        counted: (L, Q) true or false positive.
        fixed_layer: (F,) threshold of each Cls or Loc error that becomes a
            hit by fixing, ascending.
        fixed: (F,) the active detection, ascending inside a threshold.
        fixed_gt: (F,) what it hits then.
        false_negative: (L, G) counted ground truth without a match.
        missed: (L, G) the same, and no Cls or Loc error could be its hit.
    """

    kind: NDArray[np.int8]
    hit: BoolArray
    counted: BoolArray
    fixed_layer: IntArray
    fixed: IntArray
    fixed_gt: IntArray
    false_negative: BoolArray
    missed: BoolArray

    def pointed_at(self, stage: Stage, layer: int) -> IntArray:
        """(Q,) ground truths behind Cls, Loc and Dupe errors, else -1."""
        kind = self.kind[layer]
        gt = np.where(kind == CLS, stage.other_gt, -1)
        on_same = (kind == LOC) | (kind == DUPE)
        return np.where(on_same, stage.same_gt, gt).astype(np.int64)

    @property
    def fixed_kind(self) -> NDArray[np.int8]:
        """(F,) CLS or LOC."""
        kind: NDArray[np.int8] = self.kind[self.fixed_layer, self.fixed]
        return kind


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


def find_errors(
    evaluation: Evaluation, stage: Stage, thresholds: Sequence[int]
) -> Errors:
    """Sort the false positives and negatives.

    Args:
        evaluation: The evaluation.
        stage: Its active detections.
        thresholds: L indices of thresholds, the layers of the result.
    """
    matches = evaluation.matches
    code = matches.code[list(thresholds), 0]  # (L, C)
    is_hit = code >= matches.counted_bit
    hit = np.zeros((len(code), len(stage.place)), np.bool_)
    hit[:, stage.candidate] = is_hit
    counted = np.tile(stage.inside, (len(code), 1))
    counted[:, stage.candidate] = np.where(
        code > 0, is_hit, counted[:, stage.candidate]
    )
    kind = _classify(stage, counted & ~hit, thresholds)

    free = np.tile(~evaluation.gt_ignored[0], (len(code), 1))
    layer, candidate = np.nonzero(is_hit)
    slot = code[layer, candidate].astype(np.int64) - matches.counted_bit - 1
    free[layer, matches.pairs.gt[matches.first_pair[candidate] + slot]] = False
    layer, fixed, fixed_gt = _find_fixable(evaluation, stage, kind, free)
    missed = free.copy()
    missed[layer, fixed_gt] = False
    return Errors(
        kind=kind,
        hit=hit,
        counted=counted,
        fixed_layer=layer,
        fixed=fixed,
        fixed_gt=fixed_gt,
        false_negative=free,
        missed=missed,
    )


def _classify(
    stage: Stage, false_positive: BoolArray, thresholds: Sequence[int]
) -> NDArray[np.int8]:
    """(L, Q) kind of each false positive, in the order of TIDE's tests."""
    t = np.array(thresholds, np.int16)[:, None]  # (L, 1)
    kind = np.tile(stage.background, (len(t), 1))  # (L, Q)
    reached = stage.same_reach > t
    np.copyto(kind, DUPE, where=reached)
    np.copyto(kind, CLS, where=stage.other_reach > t)
    np.copyto(kind, LOC, where=stage.near & ~reached)
    np.copyto(kind, NO_ERROR, where=~false_positive)
    return kind


def _find_fixable(
    evaluation: Evaluation,
    stage: Stage,
    kind: NDArray[np.int8],
    free: BoolArray,
) -> tuple[IntArray, IntArray, IntArray]:
    """The best-scored Cls or Loc error of each free ground truth.

    Returns:
        Layers, active detections, ascending, and their ground truths.
    """
    layer, active = np.nonzero((kind == CLS) | (kind == LOC))
    gt = np.where(
        kind[layer, active] == CLS,
        stage.other_gt[active],
        stage.same_gt[active],
    )
    some = np.flatnonzero(free[layer, gt])
    layer, active, gt = layer[some], active[some], gt[some]
    place = stage.place[active]
    best_last = np.argsort(-evaluation.ranking.score_rank[place])
    best = np.full(free.shape, -1)
    best[layer[best_last], gt[best_last]] = best_last
    chosen = np.sort(best[best >= 0])
    return layer[chosen], active[chosen], gt[chosen].astype(np.int64)


def _reach(
    similarity: FloatArray, thresholds: FloatArray
) -> NDArray[np.int16]:
    """How many ascending thresholds each similarity is at or over."""
    reach = np.zeros(len(similarity), np.int16)
    for threshold in thresholds:
        reach += similarity >= threshold
    return reach
