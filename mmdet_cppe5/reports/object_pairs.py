"""Two detectors object by object: who finds what, and whose false alarms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mmdet_cppe5.reports.framing import box_iou
from mmdet_cppe5.reports.sections_scores import working_score
from mmdet_cppe5.reports.study import HIT_IOU, DataSet, Study

#: What can become of an object, or of a false positive, from A to B.
OBJECT_OUTCOMES = ('fixed', 'broken', 'missed by both', 'found by both')
ALARM_OUTCOMES = ('gone', 'new', 'in both')


@dataclass(frozen=True, eq=False)
class ObjectPair:
    """What changes from detector A to detector B.

    Each detector is taken at the score of its own best F1.

    Attributes:
        first: detector A.
        second: detector B.
        scores: lowest score that counts, of A and of B.
        objects: outcome -> rows of the objects, ints.
        alarms: outcome -> rows of the false positives: A's for ``gone`` and
            ``in both``, B's for ``new``.
    """

    first: Study
    second: Study
    scores: tuple[float, float]
    objects: dict[str, np.ndarray]
    alarms: dict[str, np.ndarray]


def object_pair(data: DataSet, first: Study, second: Study) -> ObjectPair:
    """Compare two detectors at IoU 0.5, each at its best score threshold."""
    scores = (
        working_score(first.evaluation),
        working_score(second.evaluation),
    )
    counted = ~data.ground_truths.ignore
    found = [
        finders(study, score) >= 0
        for study, score in zip((first, second), scores)
    ]
    a, b = found
    objects = [~a & b, a & ~b, ~a & ~b, a & b]
    alarms = [_alarms(*each) for each in zip((first, second), scores)]
    gone, new, both = _matched(first, second, *alarms)
    return ObjectPair(
        first,
        second,
        scores,
        {
            name: np.flatnonzero(counted & rows)
            for name, rows in zip(OBJECT_OUTCOMES, objects)
        },
        dict(zip(ALARM_OUTCOMES, (gone, new, both))),
    )


def finders(study: Study, score: float) -> np.ndarray:
    """Return the detection that finds each object, -1 for none, ``(G,)``.

    Args:
        study: the detector.
        score: detections below it find nothing.
    """
    matched = study.decisions.matched_dt
    scores = np.append(study.evaluation.detections.score, -np.inf)
    return np.where(scores[matched] >= score, matched, -1)


def _alarms(study: Study, score: float) -> np.ndarray:
    """Return the false positives from a score on, highest scores first."""
    found = study.evaluation.detections
    rows = np.flatnonzero(
        study.decisions.false_positive & (found.score >= score)
    )
    return rows[np.argsort(-found.score[rows], kind='stable')]


def _matched(
    first: Study, second: Study, mine: np.ndarray, theirs: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Match false positives of one image and class at IoU 0.5, greedily."""
    ours, others = first.evaluation.detections, second.evaluation.detections
    places: dict[tuple[int, int], list[int]] = {}
    for row in theirs.tolist():
        key = int(others.image[row]), int(others.label[row])
        places.setdefault(key, []).append(row)
    gone, both = [], []
    for row in mine.tolist():
        near = places.get((int(ours.image[row]), int(ours.label[row])), [])
        overlaps = box_iou(ours.bbox[row], others.bbox[near])
        if len(near) and overlaps.max() >= HIT_IOU:
            near.pop(int(overlaps.argmax()))
            both.append(row)
        else:
            gone.append(row)
    new = sorted(row for rows in places.values() for row in rows)
    return tuple(np.array(rows, int) for rows in (gone, new, both))
