"""The part of a report that ranks what to fix."""

from __future__ import annotations

import numpy as np

from mmdet_cppe5.core import MAIN_ERRORS
from mmdet_cppe5.figures.style import percent
from mmdet_cppe5.reports.cells import count, points, span, word
from mmdet_cppe5.reports.findings import FEWEST, SHOWN, mean_costs
from mmdet_cppe5.reports.page import Cell, Column, Row, Section, Table
from mmdet_cppe5.reports.sections_accuracy import ends
from mmdet_cppe5.reports.study import HIT_IOU, DataSet, Study

_NAMES = {
    'Cls': 'Wrong class',
    'Loc': 'Poorly localised',
    'Both': 'Wrong class, poorly localised',
    'Dupe': 'Duplicate',
    'Bkg': 'Background',
    'Miss': 'Missed object',
}
_HELP = {
    'Cls': 'more examples of the confused classes; check their annotations',
    'Loc': 'a stricter box loss or more refinement; consistent annotations; '
    'a larger input size',
    'Both': 'better features for these classes: more or more varied examples',
    'Dupe': 'a lower IoU threshold of the non-maximum suppression',
    'Bkg': 'images without objects in training; check for objects that '
    'nobody annotated',
    'Miss': 'a larger input size for small objects; a lower score threshold; '
    'more examples of what is missed',
}


def fix_section(data: DataSet, study: Study) -> Section:
    """Return the kinds of errors by the AP that fixing them would gain."""
    costs = mean_costs(study)
    ranked = sorted(MAIN_ERRORS, key=lambda name: -costs[name])
    rows = [
        _row(data, study, name, costs[name])
        for name in ranked
        if costs[name] >= SHOWN
    ]
    text = (
        'Gain: AP points if all errors of the kind were fixed, the mean over '
        f'the IoU thresholds, and at IoU {HIT_IOU:.2f}'
        + (' with its interval' if study.intervals else '')
        + f'. Class: the one that would gain most, of those with {FEWEST} '
        'objects or more. Gains do not add up.'
    )
    columns = [
        Column('Error', False),
        Column('Gain'),
        Column(f'At IoU {HIT_IOU:.2f}'),
        Column('Errors', hint=f'number at IoU {HIT_IOU:.2f}'),
        Column('Class', False),
        Column('What usually helps', False),
    ]
    texts = [] if rows else ['No kind of error costs AP.']
    tables = [Table('fix-table', 'By gain', columns, rows, text)]
    return Section('fix', 'What to fix', texts, tables=tables if rows else [])


def _row(data: DataSet, study: Study, name: str, cost: float) -> Row:
    interval = None
    if study.intervals is not None:
        interval = ends(study.intervals.intervals.get(f'dAP_{name}'))
    at_hit = study.tide.delta_ap[name]
    return Row(
        [
            word(_NAMES[name]),
            points(cost),
            Cell(percent(at_hit), at_hit, span(interval)),
            count(study.tide.counts[name]),
            _class(data, study, name),
            word(_HELP[name]),
        ],
        show={'errors': [name]},
    )


def _class(data: DataSet, study: Study, name: str) -> Cell:
    """Return the class that would gain most, with its gain."""
    gains = np.mean(
        [each.delta_ap_per_class[name] for each in study.tides], axis=0
    )
    gains = np.where(data.counts() >= FEWEST, np.nan_to_num(gains), 0)
    best = int(np.argmax(gains))
    if gains[best] < SHOWN:
        return Cell('–')
    return Cell(
        data.class_names[best], data.class_names[best], percent(gains[best])
    )
