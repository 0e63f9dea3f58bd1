"""The part of a report that tells on which objects and images AP is low."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

import numpy as np

from mmdet_cppe5.core import Evaluation, bootstrap, evaluate
from mmdet_cppe5.reports.cells import count, points, word
from mmdet_cppe5.reports.findings import FEWEST
from mmdet_cppe5.reports.page import Cell, Column, Row, Section, Table
from mmdet_cppe5.reports.sections_accuracy import ends
from mmdet_cppe5.reports.slices import Slice
from mmdet_cppe5.reports.study import DataSet, Study

# Resamples of a slice, and detections from which they take too long.
RESAMPLES, MOST_DETECTIONS = 200, 100_000
OTHERS = 3


def slice_section(
    data: DataSet, studies: Sequence[Study], parts: Sequence[Slice]
) -> Section:
    """Return AP and recall of each slice, and what other detectors gain.

    Args:
        data: the data set.
        studies: the detectors; the first is the one the page is about.
        parts: the slices.
    """
    study, others = studies[0], studies[1 : 1 + OTHERS]
    columns = [
        Column('Slice', False),
        Column('Objects'),
        Column('AP'),
        Column(f'AR{study.evaluation.max_dets[-1]}'),
        *(
            Column(f'ΔAP {each.name}', hint=f'minus the AP of {study.name}')
            for each in others
        ),
    ]
    text = (
        f'A slice with fewer than {FEWEST} objects has no scores. Objects '
        'outside a slice are ignored; false positives count in every slice '
        'of objects, and in that of their image.'
    )
    if study.intervals is not None:
        text += ' Small numbers: interval under resampling of the images.'
    rows = [_row(data, study, others, part) for part in parts]
    return Section(
        'slices',
        'Slices',
        ['How the scores depend on the objects and the images.'],
        tables=[Table('slice-table', 'Every slice', columns, rows, text)],
    )


def _row(
    data: DataSet, study: Study, others: Sequence[Study], part: Slice
) -> Row:
    number = int(part.counted(data.ground_truths).sum())
    cells = [word(f'{part.kind}: {part.value}'), count(number)]
    if number < FEWEST:
        return Row([*cells, *[Cell('–')] * (2 + len(others))])
    evaluation = _evaluated(data, study, part)
    ap = evaluation.ap()
    cells += [
        points(ap, _interval(study, evaluation)),
        points(evaluation.ar()),
    ]
    for each in others:
        gain = _evaluated(data, each, part).ap() - ap
        cells.append(
            Cell('–')
            if not np.isfinite(gain)
            else Cell(f'{gain * 100:+.1f}'.replace('-', '−'), gain)
        )
    return Row(cells)


def _evaluated(data: DataSet, study: Study, part: Slice) -> Evaluation:
    truth, found = part.problem(
        data.ground_truths, study.evaluation.detections
    )
    return evaluate(truth, found)


def _interval(
    study: Study, evaluation: Evaluation
) -> Optional[tuple[float, float]]:
    asked = study.intervals
    if asked is None or len(evaluation.detections) > MOST_DETECTIONS:
        return None
    result = bootstrap(
        evaluation,
        min(asked.num_resamples, RESAMPLES),
        seed=asked.seed,
        confidence=asked.confidence,
        tide=False,
    )
    return ends(result.intervals['AP'])
