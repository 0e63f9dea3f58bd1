"""The parts of a report on accuracy and on the kinds of errors."""

from __future__ import annotations

from typing import Optional

import numpy as np

from mmdet_cppe5 import figures
from mmdet_cppe5.core import MAIN_ERRORS, SPECIAL_ERRORS, Interval
from mmdet_cppe5.core.lookup import size_suffix
from mmdet_cppe5.reports.cells import count, points, word
from mmdet_cppe5.reports.page import Column, Row, Section, Table
from mmdet_cppe5.reports.study import DataSet, Study
from mmdet_cppe5.scores.caveats import bootstrap_reasons


def ends(interval: Optional[Interval]) -> Optional[tuple[float, float]]:
    """Return an interval's low and high end."""
    return None if interval is None else (interval.low, interval.high)


def known_intervals(study: Study, names: list[str]) -> Optional[np.ndarray]:
    """Return low and high ends of named intervals, ``(n, 2)``, if known."""
    if study.intervals is None:
        return None
    found = study.intervals.intervals
    if not all(name in found for name in names):
        return None
    return np.array([ends(found[name]) for name in names])


def class_intervals(study: Study) -> Optional[np.ndarray]:
    """Return low and high ends of every class's AP, ``(K, 2)``, if known."""
    if study.intervals is None:
        return None
    return np.array(
        [ends(each) for each in study.intervals.class_intervals]
    ).reshape(-1, 2)


def accuracy_section(data: DataSet, study: Study) -> Section:
    """Return AP by class, IoU threshold and size."""
    evaluation = study.evaluation
    names, thresholds = data.class_names, evaluation.iou_thrs
    by_threshold = np.array(
        [evaluation.ap_per_class(float(t)) for t in thresholds]
    ).reshape(len(thresholds), len(names))
    level = study.intervals.confidence if study.intervals else 0.95
    drawings = [
        figures.class_ap(
            names,
            evaluation.ap_per_class(),
            class_intervals(study),
            data.counts(),
            evaluation.ap(),
            level,
        ),
        figures.ap_by_iou(names, thresholds, by_threshold),
    ]
    if len(evaluation.area_ranges) > 1:
        drawings.append(_sizes(data, study))
    precision = evaluation.precision[:, :, :, 0, -1]
    recall = np.linspace(0, 1, precision.shape[1])
    drawings += [
        figures.recall_curves(
            names, recall, precision[0], float(thresholds[0])
        ),
        figures.iou_curves(names, recall, thresholds, precision),
    ]
    return Section(
        'accuracy',
        'Accuracy',
        [
            'Average precision (AP) as COCO defines it, in points of 0 to '
            '100: the mean over the IoU thresholds 0.50 to 0.95 and over the '
            'classes that have objects.',
            *_reasons(data, study),
        ],
        drawings,
        [class_table(data, study)],
    )


def _reasons(data: DataSet, study: Study) -> list[str]:
    if study.intervals is None:
        return []
    return bootstrap_reasons(study.intervals, data.class_names)


def _sizes(data: DataSet, study: Study) -> figures.Drawing:
    evaluation, truth = study.evaluation, data.ground_truths
    sizes = list(evaluation.area_ranges)[1:]
    values = np.array([evaluation.ap_per_class(area=s) for s in sizes])
    counts = [
        int(np.sum(~truth.ignore & (truth.area >= low) & (truth.area <= high)))
        for low, high in (evaluation.area_ranges[s] for s in sizes)
    ]
    spread = known_intervals(study, [f'AP{size_suffix(s)}' for s in sizes])
    return figures.ap_by_size(sizes, data.class_names, values, counts, spread)


def class_table(data: DataSet, study: Study) -> Table:
    """Return the scores of every class as a table."""
    evaluation = study.evaluation
    thresholds = [t for t in (0.5, 0.75) if evaluation.has_threshold(t)]
    values = [evaluation.ap_per_class()]
    values += [evaluation.ap_per_class(t) for t in thresholds]
    values.append(evaluation.ar_per_class())
    found = np.bincount(
        evaluation.detections.label, minlength=len(data.class_names)
    )
    spread, counts = class_intervals(study), data.counts()
    rows = [
        Row(
            [
                word(name),
                count(counts[k]),
                count(found[k]),
                points(
                    values[0][k], None if spread is None else tuple(spread[k])
                ),
                *(points(column[k]) for column in values[1:]),
            ]
        )
        for k, name in enumerate(data.class_names)
    ]
    columns = [
        Column('Class', False),
        Column('Objects', hint='objects that count'),
        Column('Detections', hint='detections of the class, right or wrong'),
        Column('AP', hint='mean over the IoU thresholds'),
        *(Column(f'AP{round(100 * t)}') for t in thresholds),
        Column(f'AR{evaluation.max_dets[-1]}', hint='average recall'),
    ]
    return Table(
        'class-table',
        'Every class',
        columns,
        rows,
        'Small numbers: interval under resampling of the images.'
        if spread is not None
        else '',
    )


def error_section(data: DataSet, study: Study) -> Section:
    """Return TIDE's figures and table."""
    tide = study.tide
    spread = {}
    if study.intervals is not None:
        spread = {
            name.removeprefix('dAP_'): ends(interval)
            for name, interval in study.intervals.intervals.items()
            if name.startswith('dAP_') and np.isfinite(interval.low)
        }
    main = {name: tide.delta_ap[name] for name in MAIN_ERRORS}
    special = {name: tide.delta_ap[name] for name in SPECIAL_ERRORS}
    by_class = {name: tide.delta_ap_per_class[name] for name in MAIN_ERRORS}
    return Section(
        'errors',
        'Errors',
        [
            'Which kinds of errors cost how much (TIDE, Bolya et al. 2020), '
            'consistent with the AP above.'
        ],
        [
            figures.tide_summary(
                main, special, spread or None, tide.ap, tide.pos_thr
            ),
            figures.tide_by_class(data.class_names, by_class),
            figures.tide_by_threshold(
                np.array([each.pos_thr for each in study.tides]),
                {
                    name: np.array([t.delta_ap[name] for t in study.tides])
                    for name in MAIN_ERRORS
                },
                np.array([each.ap for each in study.tides]),
            ),
        ],
        [_error_table(data, study)],
    )


def _error_table(data: DataSet, study: Study) -> Table:
    errors = (*MAIN_ERRORS, *SPECIAL_ERRORS)
    tide = study.tide
    rows = [
        Row(
            [
                word(name),
                *(count(tide.counts_per_class[error][k]) for error in errors),
            ]
        )
        for k, name in enumerate(data.class_names)
    ]
    return Table(
        'error-table',
        'How many errors',
        [Column('Class', False), *(Column(error) for error in errors)],
        rows,
        'Errors of detections are counted under the class detected, misses '
        'under the class missed. Most false positives have such low '
        'scores that they cost little: judge by the ΔAP above.',
    )
