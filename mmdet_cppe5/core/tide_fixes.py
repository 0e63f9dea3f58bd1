"""The curves that result if all errors of one kind are fixed.

They are the curves of the repaired detections and ground truths; no new
matching is needed to draw them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmdet_cppe5.core.arrays import IntArray
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
# Layer of the active detections for each fix: as they are, without one of
# the five kinds of false positives, only hits.
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
    """Curves of every fix and class.

    Args:
        evaluation: The evaluation.
        stage: Its active detections.
        quiet: Its quiet detections, of :func:`quiet_term`.
        errors: The errors at one threshold.

    Returns:
        ``len(FIXES) * K`` curves, in this order.
    """
    classes = np.arange(len(evaluation.ranking.class_start))
    active = Term(
        _active_flags(stage, errors),
        stage.place,
        np.searchsorted(stage.label, classes),
    )
    moved, moved_hits = _move(evaluation, stage, errors)
    located = errors.hit.copy()
    located[errors.fixed[errors.kind[errors.fixed] == LOC]] = True
    plain = _hits_among_active(stage, np.flatnonzero(errors.hit))
    hits = [plain] * len(FIXES)
    hits[FIXES.index('Cls')] = _merge(evaluation, plain, moved_hits)
    hits[FIXES.index('Loc')] = _hits_among_active(
        stage, np.flatnonzero(located)
    )
    size = len(classes) - 1
    per_curve = np.concatenate(
        [np.bincount(each.label, minlength=size) for each in hits]
    )
    return Curves(
        per_curve=per_curve,
        positives=_positives(evaluation, errors, per_curve),
        place=np.concatenate([each.place for each in hits]),
        terms=(quiet, active, moved),
        layers=[
            np.repeat(layer, size)
            for layer in (_QUIET_LAYER, _ACTIVE_LAYER, _MOVED_LAYER)
        ],
        ends=[
            np.concatenate([each.ends[term] for each in hits])
            for term in range(3)
        ],
    )


class _Hits(NamedTuple):
    """Hits in ranking order.

    Attributes:
        place: (H,) place of the detection.
        label: (H,) class it hits, ascending.
        ends: (3, H) ends among quiet, active and moved detections.
    """

    place: IntArray
    label: IntArray
    ends: IntArray


def _hits_among_active(stage: Stage, hits: IntArray) -> _Hits:
    place = stage.place[hits]
    ends = np.stack([place + 1, hits + 1, np.zeros_like(hits)])
    return _Hits(place, stage.label[hits], ends)


def _move(
    evaluation: Evaluation, stage: Stage, errors: Errors
) -> tuple[Term, _Hits]:
    """Detections that fixing Cls moves to the class of what they hit."""
    ranking = evaluation.ranking
    is_cls = errors.kind[errors.fixed] == CLS
    place = stage.place[errors.fixed[is_cls]]
    label = evaluation.ground_truths.label[errors.fixed_gt[is_cls]]
    keys = ranking.class_key(label, ranking.score_rank[place])  # (m,)
    order = np.argsort(keys)
    place, label, keys = place[order], label[order], keys[order]
    # Where they would stand in class order, had they their new class.
    end = np.searchsorted(ranking.class_keys, keys)
    active_end = np.searchsorted(stage.place, end)
    own_end = np.arange(1, len(place) + 1)
    term = Term(
        np.ones((1, len(place)), np.int8),
        place,
        np.searchsorted(label, np.arange(len(ranking.class_start))),
    )
    return term, _Hits(place, label, np.stack([end, active_end, own_end]))


def _merge(evaluation: Evaluation, plain: _Hits, moved: _Hits) -> _Hits:
    """Both in ranking order."""
    ranking = evaluation.ranking
    place = np.concatenate([plain.place, moved.place])
    label = np.concatenate([plain.label, moved.label])
    keys = ranking.class_key(label, ranking.score_rank[place])
    order = np.argsort(keys, kind='stable')
    ends = np.hstack([plain.ends, moved.ends])[:, order]
    ends[2] = np.cumsum(order >= len(plain.place))
    return _Hits(place[order], label[order], ends)


def _active_flags(stage: Stage, errors: Errors) -> NDArray[np.int8]:
    """(7, Q) which active detections count; see ``_ACTIVE_LAYER``."""
    flags = np.empty((7, len(stage.place)), np.int8)  # (7, Q)
    flags[0] = errors.counted
    for kind in (CLS, LOC, BOTH, DUPE, BKG):
        np.greater(flags[0], errors.kind == kind, out=flags[1 + kind])
    flags[1 + LOC, errors.fixed[errors.kind[errors.fixed] == LOC]] = 1
    flags[6] = errors.hit
    return flags


def _positives(
    evaluation: Evaluation, errors: Errors, per_curve: IntArray
) -> IntArray:
    """(len(FIXES) * K,) ground truths left after each fix."""
    counted = evaluation.positives[0]
    labels = evaluation.ground_truths.label
    positives = np.tile(counted, (len(FIXES), 1))  # (F, K)
    positives[FIXES.index('Miss')] -= np.bincount(
        labels[errors.missed], minlength=len(counted)
    )
    positives[FIXES.index('FalseNeg')] = per_curve[: len(counted)]
    return positives.ravel()
