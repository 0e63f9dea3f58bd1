"""The curves that result if all errors of one kind are fixed.

They are the curves of the repaired detections and ground truths; no new
matching is needed to draw them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmdet_cppe5.core.arrays import BoolArray, IntArray
from mmdet_cppe5.core.curves import Curves, Term
from mmdet_cppe5.core.evaluation import Evaluation
from mmdet_cppe5.core.tide_errors import (
    BKG,
    BOTH,
    CLS,
    DUPE,
    LOC,
    MAIN_ERRORS,
    NO_ERROR,
    SPECIAL_ERRORS,
    Errors,
    Stage,
)

#: What can be fixed; nothing comes first.
FIXES = ('', *MAIN_ERRORS, *SPECIAL_ERRORS)
# Layer of the active detections for each fix, of seven at every threshold: as
# they are, without one of the five kinds of false positives, only hits.
_ACTIVE_LAYER = np.array([0, 1, 2, 3, 4, 5, 0, 6, 0])
# Layer of the quiet detections: all, without Both, without Bkg.
_QUIET_LAYER = np.array([0, 0, 0, 1, 0, 2, 0, -1, 0])
# Detections that fixing Cls moves to another class.
_MOVED_LAYER = np.array([-1, 0, -1, -1, -1, -1, -1, -1, -1])


def quiet_term(evaluation: Evaluation, stage: Stage) -> Term:
    """What counts at every threshold and never matches."""
    flags = np.stack(
        [stage.quiet != NO_ERROR, stage.quiet == BKG, stage.quiet == BOTH]
    )
    return Term(
        flags.view(np.int8),
        evaluation.curves.terms[0].place,
        evaluation.ranking.class_start,
    )


def fixed_curves(
    evaluation: Evaluation, stage: Stage, quiet: Term, errors: Errors
) -> Curves:
    """Curves of every fix, threshold and class.

    Args:
        evaluation: The evaluation.
        stage: Its active detections.
        quiet: Its quiet detections, of :func:`quiet_term`.
        errors: The errors at L thresholds.

    Returns:
        ``len(FIXES) * L * K`` curves, in this order.
    """
    num_layers = len(errors.kind)
    size = num_layers * len(evaluation.positives[0])
    active = Term(
        _active_flags(stage, errors),
        stage.place,
        np.searchsorted(
            stage.label, np.arange(len(evaluation.ranking.class_start))
        ),
    )
    moved, moved_hits = _move(evaluation, stage, errors)
    located = errors.hit.copy()
    is_loc = errors.fixed_kind == LOC
    located[errors.fixed_layer[is_loc], errors.fixed[is_loc]] = True
    plain = _hits_among_active(evaluation, stage, errors.hit)
    hits = [plain] * len(FIXES)
    hits[FIXES.index('Cls')] = _merge(evaluation, plain, moved_hits)
    hits[FIXES.index('Loc')] = _hits_among_active(evaluation, stage, located)
    per_curve = np.concatenate(
        [np.bincount(each.key, minlength=size) for each in hits]
    )
    own_layer = np.repeat(np.arange(num_layers), size // num_layers)
    return Curves(
        per_curve=per_curve,
        positives=_positives(evaluation, errors, per_curve),
        place=np.concatenate([each.place for each in hits]),
        terms=(quiet, active, moved),
        layers=(
            np.repeat(_QUIET_LAYER, size),
            (_ACTIVE_LAYER[:, None] + 7 * own_layer).ravel(),
            np.repeat(_MOVED_LAYER, size),
        ),
        ends=[
            np.concatenate([each.ends[term] for each in hits])
            for term in range(3)
        ],
    )


class _Hits(NamedTuple):
    """Hits of L thresholds in ranking order.

    Attributes:
        place: (H,) place of the detection.
        key: (H,) ``threshold * K + class`` that it hits at, ascending.
        ends: (3, H) ends among quiet, active and moved detections.
    """

    place: IntArray
    key: IntArray
    ends: IntArray


def _hits_among_active(
    evaluation: Evaluation, stage: Stage, flags: BoolArray
) -> _Hits:
    """The flagged (L, Q) detections."""
    layer, hits = np.nonzero(flags)
    place = stage.place[hits]
    ends = np.stack([place + 1, hits + 1, np.zeros_like(hits)])
    num_classes = len(evaluation.positives[0])
    return _Hits(place, layer * num_classes + stage.label[hits], ends)


def _move(
    evaluation: Evaluation, stage: Stage, errors: Errors
) -> tuple[Term, _Hits]:
    """Detections that fixing Cls moves to the class of what they hit.

    The term's classes are those of the first threshold, then of the second,
    and so on: each threshold moves others.
    """
    ranking = evaluation.ranking
    is_cls = errors.fixed_kind == CLS
    place = stage.place[errors.fixed[is_cls]]
    label = evaluation.ground_truths.label[errors.fixed_gt[is_cls]]
    num_classes = len(evaluation.positives[0])
    key = errors.fixed_layer[is_cls] * num_classes + label  # (m,)
    order = np.argsort(ranking.class_key(key, ranking.score_rank[place]))
    place, label, key = place[order], label[order], key[order]
    # Where they would stand in class order, had they their new class.
    end = np.searchsorted(
        ranking.class_keys,
        ranking.class_key(label, ranking.score_rank[place]),
    )
    active_end = np.searchsorted(stage.place, end)
    own_end = np.arange(1, len(place) + 1)
    term = Term(
        np.ones((1, len(place)), np.int8),
        place,
        np.searchsorted(key, np.arange(len(errors.kind) * num_classes + 1)),
    )
    return term, _Hits(place, key, np.stack([end, active_end, own_end]))


def _merge(evaluation: Evaluation, plain: _Hits, moved: _Hits) -> _Hits:
    """Both in ranking order."""
    ranking = evaluation.ranking
    place = np.concatenate([plain.place, moved.place])
    key = np.concatenate([plain.key, moved.key])
    rank = ranking.class_key(key, ranking.score_rank[place])
    order = np.argsort(rank, kind='stable')
    ends = np.hstack([plain.ends, moved.ends])[:, order]
    ends[2] = np.cumsum(order >= len(plain.place))
    return _Hits(place[order], key[order], ends)


def _active_flags(stage: Stage, errors: Errors) -> NDArray[np.int8]:
    """(L * 7, Q) which active detections count; see ``_ACTIVE_LAYER``."""
    flags = np.empty((len(errors.kind), 7, len(stage.place)), np.int8)
    flags[:, 0] = errors.counted
    kinds = np.array([CLS, LOC, BOTH, DUPE, BKG])[:, None]
    flags[:, 1:6] = errors.counted[:, None] & (errors.kind[:, None] != kinds)
    is_loc = errors.fixed_kind == LOC
    flags[errors.fixed_layer[is_loc], 1 + LOC, errors.fixed[is_loc]] = 1
    flags[:, 6] = errors.hit
    return flags.reshape(7 * len(errors.kind), len(stage.place))


def _positives(
    evaluation: Evaluation, errors: Errors, per_curve: IntArray
) -> IntArray:
    """(F * L * K,) ground truths left after each fix."""
    counted = evaluation.positives[0]
    shape = (len(FIXES), len(errors.kind), len(counted))
    positives = np.tile(counted, (*shape[:2], 1))
    layer, gt = np.nonzero(errors.missed)
    key = layer * shape[2] + evaluation.ground_truths.label[gt]
    missed = np.bincount(key, minlength=shape[1] * shape[2])
    positives[FIXES.index('Miss')] -= missed.reshape(shape[1:])
    positives[FIXES.index('FalseNeg')] = per_curve[: missed.size].reshape(
        shape[1:]
    )
    return positives.ravel()
