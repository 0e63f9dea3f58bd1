"""What AP would be if all errors of one kind were fixed.

Every number here is what COCO's AP of the repaired detections and ground
truths is, computed from counts instead of from a new evaluation.
"""

from dataclasses import dataclass

import numpy as np

from mmdet_cppe5.core.arrays import BoolArray, FloatArray, IntArray
from mmdet_cppe5.core.evaluation import Evaluation
from mmdet_cppe5.core.precision_recall import precision_at_recall
from mmdet_cppe5.core.tide_errors import (
    BKG,
    BOTH,
    CLS,
    DUPE,
    LOC,
    Errors,
    Stage,
)


@dataclass(frozen=True, eq=False)
class _Curves:
    """Hits of all classes in ranking order, and the objects to be found.

    Attributes:
        label: (H,) class of each hit, ascending.
        counted: (H,) counted detections of the class up to and with it.
        positives: (K,) counted ground truths.
    """

    label: IntArray
    counted: IntArray
    positives: IntArray


def fixed_aps(
    evaluation: Evaluation, stage: Stage, errors: Errors
) -> dict[str, FloatArray]:
    """(K,) AP of each class after each fix; ``''`` is the AP before.

    NaN where a class has no counted ground truth (left).
    """
    curves = _all_fixes(evaluation, stage, errors)
    offset = 0
    ids = []
    for curve in curves.values():
        ids.append(curve.label + offset)
        offset += len(curve.positives)
    precision = precision_at_recall(
        np.concatenate(ids),
        np.concatenate([curve.counted for curve in curves.values()]),
        np.concatenate([curve.positives for curve in curves.values()]),
    )
    aps = precision.mean(axis=1).reshape(len(curves), -1)
    return dict(zip(curves, aps))


def _all_fixes(
    evaluation: Evaluation, stage: Stage, errors: Errors
) -> dict[str, _Curves]:
    counts = _Counts(evaluation, stage, errors)
    positives = evaluation.positives[0]
    labels = evaluation.ground_truths.label
    num_classes = len(positives)
    hits = np.flatnonzero(errors.hit)
    label = counts.label[hits]
    counted = counts.at(hits)
    per_class = np.bincount(label, minlength=num_classes)
    missed = np.bincount(labels[errors.missed], minlength=num_classes)
    found = np.arange(1, len(hits) + 1)
    found -= (np.cumsum(per_class) - per_class)[label]

    def without(kind: int) -> _Curves:
        return _Curves(label, counted - counts.errors(kind, hits), positives)

    return {
        '': _Curves(label, counted, positives),
        'Cls': _fix_class(evaluation, counts, hits),
        'Loc': _fix_location(counts, positives),
        'Both': without(BOTH),
        'Dupe': without(DUPE),
        'Bkg': without(BKG),
        'Miss': _Curves(label, counted, positives - missed),
        'FalsePos': _Curves(label, found, positives),
        'FalseNeg': _Curves(label, counted, per_class),
    }


class _Counts:
    """How many detections of a class stand before a place.

    Args:
        evaluation: The evaluation.
        stage: Its Q active detections.
        errors: Their errors.
    """

    def __init__(
        self, evaluation: Evaluation, stage: Stage, errors: Errors
    ) -> None:
        self.stage, self.errors_found = stage, errors
        self.label = evaluation.detections.label[stage.row]
        start = evaluation.ranking.class_start[:-1]
        self._first = np.searchsorted(stage.place, start)
        self._quiet_start = stage.quiet_before[start]
        self._counted = _count_before(errors.counted)

    def at(self, active: IntArray) -> IntArray:
        """Counted detections of its class up to and with each active one."""
        label = self.label[active]
        quiet = self.stage.quiet_before[self.stage.place[active]]
        quiet = quiet - self._quiet_start[label]
        first = self._counted[self._first[label]]
        return quiet + self._counted[active + 1] - first

    def before(self, place: IntArray, label: IntArray) -> IntArray:
        """Counted detections of a class before a place."""
        active = np.searchsorted(self.stage.place, place)
        quiet = self.stage.quiet_before[place] - self._quiet_start[label]
        first = self._counted[self._first[label]]
        return quiet + self._counted[active] - first

    def among(self, flags: BoolArray, active: IntArray) -> IntArray:
        """Flagged active detections of its class up to each active one."""
        before = _count_before(flags)
        return before[active + 1] - before[self._first[self.label[active]]]

    def errors(self, kind: int, active: IntArray) -> IntArray:
        """Errors of a kind in its class up to each active detection."""
        count = self.among(self.errors_found.kind == kind, active)
        if kind == BKG:
            quiet = self.stage.quiet_before[self.stage.place[active]]
            count = count + quiet - self._quiet_start[self.label[active]]
        return count


def _fix_location(counts: _Counts, positives: IntArray) -> _Curves:
    """Best error of each free object becomes a hit, the others go."""
    errors = counts.errors_found
    is_loc = errors.kind == LOC
    hits = np.flatnonzero(errors.hit | (is_loc & errors.fixed))
    gone = counts.among(is_loc & ~errors.fixed, hits)
    return _Curves(counts.label[hits], counts.at(hits) - gone, positives)


def _fix_class(
    evaluation: Evaluation, counts: _Counts, hits: IntArray
) -> _Curves:
    """Best error of each free object moves to its class, the others go."""
    errors, stage = counts.errors_found, counts.stage
    ranking = evaluation.ranking
    is_cls = errors.kind == CLS
    moved = np.flatnonzero(is_cls & errors.fixed)
    new_label = evaluation.ground_truths.label[errors.gt[moved]]
    score_rank = ranking.score_rank[stage.place[moved]]
    # Detections of the new class that stand before it.
    keys = ranking.class_keys()
    place = np.searchsorted(keys, new_label * ranking.key_span + score_rank)
    gone = _count_before(is_cls)
    first = counts._first[new_label]
    active = np.searchsorted(stage.place, place)
    moved_counted = counts.before(place, new_label) + 1
    moved_counted -= gone[active] - gone[first]

    label = np.concatenate([counts.label[hits], new_label])
    counted = np.concatenate(
        [counts.at(hits) - counts.among(is_cls, hits), moved_counted]
    )
    rank = np.concatenate([ranking.score_rank[stage.place[hits]], score_rank])
    is_moved = np.arange(len(label)) >= len(hits)
    order = np.argsort(label * ranking.key_span + rank)
    label, counted, is_moved = label[order], counted[order], is_moved[order]
    # Each moved detection counts for all that come after it in its class.
    arrived = _count_before(is_moved)
    start = np.searchsorted(label, np.arange(evaluation.positives.shape[1]))
    counted += arrived[1:] - arrived[start][label] - is_moved
    return _Curves(label, counted, evaluation.positives[0])


def _count_before(flags: BoolArray) -> IntArray:
    """(n + 1,) number of flags before each index, and in all."""
    total = np.zeros(len(flags) + 1, np.int64)
    np.cumsum(flags, out=total[1:])
    return total
