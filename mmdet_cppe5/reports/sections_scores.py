"""The part of a report on scores: thresholds, confusion, calibration."""

from __future__ import annotations

import numpy as np

from mmdet_cppe5 import figures
from mmdet_cppe5.core import Evaluation
from mmdet_cppe5.core.calibration import calibration
from mmdet_cppe5.core.confusion import confusion_matrix
from mmdet_cppe5.core.score_curves import ScoreCurve, score_curve
from mmdet_cppe5.reports.cells import count, points, word
from mmdet_cppe5.reports.page import Cell, Column, Row, Section, Table
from mmdet_cppe5.reports.study import HIT_IOU, DataSet, Study

STEPS = 200
BINS = 20
# Scores below it are the countless ones that nobody looks at.
CALIBRATED = 0.05


def working_score(evaluation: Evaluation) -> float:
    """Return the score threshold of the best F1 over all classes.

    0 where nothing was detected or nothing was to be found.
    """
    curve = score_curve(evaluation, HIT_IOU)
    return 0.0 if curve.best is None else float(curve.score[curve.best])


def score_section(data: DataSet, study: Study, score: float) -> Section:
    """Return the figures on scores and the table of thresholds.

    Args:
        data: the data set.
        study: the detector.
        score: the threshold of the confusion matrix.
    """
    evaluation, names = study.evaluation, data.class_names
    pooled = score_curve(evaluation, HIT_IOU)
    by_class = [
        score_curve(evaluation, HIT_IOU, label) for label in range(len(names))
    ]
    bests = [_best(curve) for curve in by_class]
    grid = _grid(pooled, [_best(pooled), *bests])
    best = None if pooled.best is None else pooled.score[pooled.best]
    sweep = figures.score_sweep(
        grid,
        *(
            at_thresholds(pooled, values, grid)
            for values in (pooled.precision, pooled.recall, pooled.f1)
        ),
        best,
        HIT_IOU,
    )
    f1 = np.array([at_thresholds(c, c.f1, grid) for c in by_class])
    drawings = [
        sweep,
        figures.class_curves(names, grid, f1.T, bests),
        figures.confusion_matrix(
            names,
            confusion_matrix(evaluation, score, HIT_IOU),
            score,
            HIT_IOU,
        ),
        _histogram(study),
    ]
    scores = evaluation.detections.score
    if not ((scores < 0) | (scores > 1)).any():
        result = calibration(evaluation, HIT_IOU, min_score=CALIBRATED)
        drawings.append(
            figures.reliability(
                result.mean_score,
                result.precision,
                result.count,
                result.expected_error,
                CALIBRATED,
            )
        )
    return Section(
        'scores',
        'Scores',
        [
            'Where to set the score threshold, which classes are confused '
            'above it, and whether scores are calibrated.'
        ],
        drawings,
        [_table(names, by_class, pooled)],
    )


def at_thresholds(
    curve: ScoreCurve, values: np.ndarray, grid: np.ndarray
) -> np.ndarray:
    """Return a curve's values if detections below a threshold are dropped.

    Args:
        curve: the curve.
        values: one of its arrays, ``(n,)``.
        grid: thresholds, ``(N,)``.

    Returns:
        float ``(N,)``; NaN above the highest score.
    """
    place = np.searchsorted(-curve.score, -grid, side='right') - 1
    result = np.full(len(grid), np.nan)
    some = place >= 0
    result[some] = values[place[some]]
    return result


def _grid(curve: ScoreCurve, bests: list[float]) -> np.ndarray:
    """Return thresholds that span all scores, with the best ones."""
    if not len(curve.score):
        return np.zeros(0)
    low, high = min(curve.score[-1], 0.0), max(curve.score[0], 1.0)
    steps = np.linspace(low, high, STEPS + 1)
    return np.union1d(steps, [best for best in bests if best == best])


def _best(curve: ScoreCurve) -> float:
    return float('nan') if curve.best is None else curve.score[curve.best]


def _histogram(study: Study) -> figures.Drawing:
    scores = study.evaluation.detections.score
    hits = scores[study.decisions.true_positive]
    alarms = scores[study.decisions.false_positive]
    low, high = min(scores.min(initial=0), 0), max(scores.max(initial=1), 1)
    edges = np.linspace(low, high, BINS + 1)
    return figures.score_histogram(
        edges,
        np.histogram(hits, edges)[0],
        np.histogram(alarms, edges)[0],
    )


def _table(
    names: tuple[str, ...], by_class: list[ScoreCurve], pooled: ScoreCurve
) -> Table:
    rows = [
        _row(name, curve)
        for name, curve in [*zip(names, by_class), ('all classes', pooled)]
    ]
    return Table(
        'threshold-table',
        'The best threshold of every class',
        [
            Column('Class', False),
            Column('Score ≥', hint='threshold of the highest F1'),
            Column('F1'),
            Column('Precision'),
            Column('Recall'),
            Column('Hits'),
            Column('False alarms'),
            Column('Missed'),
        ],
        rows,
        f'Each at the threshold of its own highest F1; hits at IoU ≥ '
        f'{HIT_IOU:.2f}.',
    )


def _row(name: str, curve: ScoreCurve) -> Row:
    best = curve.best
    if best is None:
        return Row([word(name), *(Cell('–') for _ in range(7))])
    score, hits = float(curve.score[best]), int(curve.hits[best])
    return Row(
        [
            word(name),
            Cell(f'{score:.3f}', score),
            points(curve.f1[best]),
            points(curve.precision[best]),
            points(curve.recall[best]),
            count(hits),
            count(curve.false_alarms[best]),
            count(curve.positives - hits),
        ]
    )
