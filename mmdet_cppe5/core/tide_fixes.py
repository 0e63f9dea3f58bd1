"""The curves that result if all errors of one kind are fixed.

They are the curves of the repaired detections and ground truths; no new
matching is needed to draw them.
"""

import numpy as np
from numpy.typing import NDArray

from mmdet_cppe5.core.arrays import BoolArray, IntArray
from mmdet_cppe5.core.curves import Curves, Layers
from mmdet_cppe5.core.evaluation import Evaluation
from mmdet_cppe5.core.tide_errors import (
    BKG,
    BOTH,
    CLS,
    DUPE,
    LOC,
    MAIN_ERRORS,
    SPECIAL_ERRORS,
    Errors,
    Stage,
)

#: What can be fixed; nothing comes first.
FIXES = ('', *MAIN_ERRORS, *SPECIAL_ERRORS)
# Layers of events: nothing fixed, the five kinds of false positives, and
# only hits left. The last two do without the base.
_LAYER_OF_FIX = np.array([0, 1, 2, 3, 4, 5, 0, 6, 0])
_HAS_BASE = _LAYER_OF_FIX < 5


def fixed_curves(
    evaluation: Evaluation, stage: Stage, errors: Errors
) -> Curves:
    """Curves of every fix and class.

    Returns:
        ``len(FIXES) * K`` curves, in this order. The base is that of the
        evaluation; the events are the active detections, in their own class
        and, where fixing Cls moves them, in their new one too.
    """
    ranking, labels = evaluation.ranking, evaluation.ground_truths.label
    moved = np.flatnonzero((errors.kind == CLS) & errors.fixed)
    new_label = labels[errors.gt[moved]]
    place = np.concatenate([stage.place, stage.place[moved]])
    label = np.concatenate([stage.label, new_label])
    keys = ranking.class_key(label, ranking.score_rank[place])
    end = np.concatenate(
        [
            stage.place + 1,
            np.searchsorted(ranking.class_keys, keys[len(stage.place) :]),
        ]
    )
    order = np.argsort(keys, kind='stable')
    hits = _hits_after_fixes(errors, len(moved))[:, order]
    fix, event = np.nonzero(hits)
    label = label[order]
    num_classes = len(ranking.class_start) - 1
    curve = fix * num_classes + label[event]
    per_curve = np.bincount(curve, minlength=len(FIXES) * num_classes)
    return Curves(
        per_curve=per_curve,
        positives=_positives(evaluation, errors, per_curve),
        base=evaluation.curves.base,
        base_layer=np.where(_HAS_BASE, 0, -1)[fix],
        events=Layers(_changes(stage, errors, len(moved))[:, order]),
        event_layer=_LAYER_OF_FIX[fix],
        event=event,
        event_place=place[order],
        event_label=label,
        event_end=end[order],
        class_start=ranking.class_start[:-1],
    )


def _hits_after_fixes(errors: Errors, num_moved: int) -> BoolArray:
    """(len(FIXES), E) hits among active detections, then moved ones."""
    num_active = len(errors.hit)
    hits = np.zeros((len(FIXES), num_active + num_moved), np.bool_)
    hits[:, :num_active] = errors.hit
    hits[FIXES.index('Cls'), num_active:] = True
    located = (errors.kind == LOC) & errors.fixed
    hits[FIXES.index('Loc'), :num_active] |= located
    return hits


def _changes(stage: Stage, errors: Errors, num_moved: int) -> NDArray[np.int8]:
    """(7, E) how active, then moved detections change the base."""
    num_active = len(errors.hit)
    changes = np.zeros((7, num_active + num_moved), np.int8)
    active = changes[:, :num_active]
    active[:6] = errors.counted
    for kind in (CLS, LOC, BOTH, DUPE, BKG):
        active[1 + kind] -= errors.kind == kind
    active[1 + LOC] += (errors.kind == LOC) & errors.fixed
    active[:5] -= stage.inside
    active[6] = errors.hit
    changes[1 + CLS, num_active:] = 1
    return changes


def _positives(
    evaluation: Evaluation, errors: Errors, per_curve: IntArray
) -> IntArray:
    """(len(FIXES) * K,) ground truths left after each fix."""
    counted = evaluation.positives[0]
    labels = evaluation.ground_truths.label
    positives = np.tile(counted, (len(FIXES), 1))
    positives[FIXES.index('Miss')] -= np.bincount(
        labels[errors.missed], minlength=len(counted)
    )
    positives[FIXES.index('FalseNeg')] = per_curve[: len(counted)]
    return positives.ravel()
