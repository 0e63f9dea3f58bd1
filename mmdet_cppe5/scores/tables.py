"""The tables of a summary, as data, and what is said beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

import numpy as np

from mmdet_cppe5.coco.records import counted
from mmdet_cppe5.core import (
    MAIN_ERRORS,
    SPECIAL_ERRORS,
    Comparison,
    PairedDifference,
)
from mmdet_cppe5.core.settings import same_threshold
from mmdet_cppe5.scores.assessment import Assessment
from mmdet_cppe5.scores.caveats import (
    COVERAGE,
    FALSE_ALARMS,
    comparison_reasons,
    reason_lines,
)
from mmdet_cppe5.scores.formats import UNDEFINED, Table
from mmdet_cppe5.scores.groups import group_letters, letters
from mmdet_cppe5.scores.summary import (
    HEADLINE_THRESHOLDS,
    Scores,
    interval_points,
    threshold_name,
)


def number(value: Optional[float], digits: int = 1) -> str:
    """Return a rounded number, a dash for None."""
    if value is None:
        return UNDEFINED
    return f'{round(value, digits) + 0.0:.{digits}f}'  # no -0.0


def coco_lines(scores: Scores) -> str:
    """Return COCO's summary in the layout that cocoeval prints.

    Fractions 0..1, three digits; a dash where pycocotools prints -1.
    Lines of thresholds and size ranges that were not evaluated are left out.
    """
    first, *others = scores.area_ranges
    cap = max(scores.max_dets)
    thresholds = [None, *_evaluated(scores, HEADLINE_THRESHOLDS)]
    lines = [
        _coco_line(scores, 'AP', threshold, first, cap)
        for threshold in thresholds
    ]
    lines += [_coco_line(scores, 'AP', None, area, cap) for area in others]
    if len(scores.max_dets) > 1:
        lines += [
            _coco_line(scores, 'AR', None, first, each)
            for each in scores.max_dets
        ]
    else:  # one cap, as for keypoints: recall at the thresholds instead
        lines += [
            _coco_line(scores, 'AR', threshold, first, cap)
            for threshold in thresholds
        ]
    lines += [_coco_line(scores, 'AR', None, area, cap) for area in others]
    return '\n'.join(lines)


def score_table(scores: Mapping[str, Optional[float]]) -> Table:
    """Return the scores over all classes, one per row."""
    rows = [[name, number(value)] for name, value in scores.items()]
    return Table(['score', 'value'], rows)


def class_table(summary: Mapping[str, Any]) -> Table:
    """Return the scores of every class with its number of objects."""
    columns = list(next(iter(summary['classes'].values()), {}))
    rows = [
        [
            name,
            str(summary['counts'][name]['ground_truths']),
            str(summary['counts'][name]['detections']),
            *(number(scores[column]) for column in columns),
        ]
        for name, scores in summary['classes'].items()
    ]
    counts = summary['counts'].values()
    averaged = sum(count['ground_truths'] > 0 for count in counts)
    rows.append(
        [
            f'mean of {averaged}',
            str(sum(count['ground_truths'] for count in counts)),
            str(sum(count['detections'] for count in counts)),
            *(number(summary['overall'][column]) for column in columns),
        ]
    )
    header = ['class', 'objects', 'detections', *columns]
    return Table(header, rows)


def tide_tables(tide: Mapping[str, Any]) -> list[Table]:
    """Return TIDE's tables: main and special errors, and each threshold."""
    at = threshold_name(tide['pos_thr'])
    return [
        _error_table(tide, MAIN_ERRORS, f'TIDE: main errors @ {at}'),
        _error_table(tide, SPECIAL_ERRORS, f'TIDE: special errors @ {at}'),
        _tide_class_table(tide, f'TIDE: dAP by class @ {at}'),
        _threshold_table(tide['thresholds']),
    ]


def interval_table(intervals: Mapping[str, Any]) -> Table:
    """Return the bootstrap intervals of the scores and the classes' AP."""
    named = list(intervals['overall'].items())
    named += [(f'AP {k}', v) for k, v in intervals['classes'].items()]
    percent = f'{100 * intervals["confidence"]:g} %'
    rows = [
        [
            name,
            number(interval['estimate']),
            number(interval['low']),
            number(interval['high']),
        ]
        for name, interval in named
    ]
    title = (
        f'{percent} intervals over resampled images '
        f'({intervals["num_resamples"]} resamples, {intervals["method"]}, '
        f'seed {intervals["seed"]})'
    )
    header = ['score', 'value', 'low', 'high']
    notes = reason_lines(
        (name, each.get('reason') or '') for name, each in named
    )
    if any(_outside(interval) for _, interval in named):
        notes.append(
            'An interval need not lie around its value: AP of few images '
            'tends to be too high, and the interval corrects for that.'
        )
    return Table(header, rows, title, notes)


def _outside(interval: Mapping[str, Any]) -> bool:
    """Tell whether a value lies outside its own interval."""
    low, high = interval['low'], interval['high']
    return low is not None and not low <= interval['estimate'] <= high


def assessment_tables(assessment: Assessment) -> list[Table]:
    """Return all that an assessment holds, for every form but text."""
    summary = assessment.summary
    tables = [score_table(summary['overall']), class_table(summary)]
    if summary.get('tide'):
        tables += tide_tables(summary['tide'])
    if summary.get('intervals'):
        tables.append(interval_table(summary['intervals']))
    return tables


def assessment_parts(assessment: Assessment) -> list[Union[Table, str]]:
    """Return all that an assessment holds as people know it: COCO's lines."""
    _, *tables = assessment_tables(assessment)
    return [coco_lines(assessment.scores), *tables]


def _evaluated(scores: Scores, wanted: Sequence[float]) -> list[float]:
    """Return the evaluated thresholds that are the wanted ones."""
    thresholds = np.asarray(scores.iou_thrs)
    near = [same_threshold(thresholds, threshold) for threshold in wanted]
    return thresholds[np.any(near, axis=0)].tolist()


def _coco_line(
    scores: Scores, kind: str, threshold: Optional[float], area: str, cap: int
) -> str:
    if kind == 'AP':
        title = 'Average Precision'
        value = scores.ap(threshold, area)
    else:
        title = 'Average Recall'
        value = scores.ar(cap, threshold, area)
    low, high = scores.iou_thrs[0], scores.iou_thrs[-1]
    overlap = (
        f'{low:.2f}:{high:.2f}' if threshold is None else (f'{threshold:.2f}')
    )
    shown = UNDEFINED if np.isnan(value) else f'{value:.3f}'
    return (
        f' {title:<18} ({kind}) @[ IoU={overlap:<9} | area={area:>6} | '
        f'maxDets={cap:>3} ] = {shown}'
    )


def _error_table(
    tide: Mapping[str, Any], errors: Sequence[str], title: str
) -> Table:
    rows = [
        ['dAP', *(number(tide['delta_ap'][error], 2) for error in errors)],
        ['count', *(str(tide['counts'][error]) for error in errors)],
    ]
    return Table(['Type', *errors], rows, title)


def _tide_class_table(tide: Mapping[str, Any], title: str) -> Table:
    errors = (*MAIN_ERRORS, *SPECIAL_ERRORS)
    rows = [
        [
            name,
            number(values['ap'], 2),
            *(number(values['delta_ap'][error], 2) for error in errors),
        ]
        for name, values in tide['classes'].items()
    ]
    return Table(['class', 'AP', *errors], rows, title)


def _threshold_table(thresholds: Sequence[Mapping[str, Any]]) -> Table:
    rows = [['AP', *(number(each['ap'], 2) for each in thresholds)]]
    rows += [
        [error, *(number(each['delta_ap'][error], 2) for each in thresholds)]
        for error in (*MAIN_ERRORS, *SPECIAL_ERRORS)
    ]
    header = [threshold_name(each['pos_thr']) for each in thresholds]
    title = 'TIDE: AP and dAP at each threshold'
    return Table(['Thresh', *header], rows, title)


def comparison_parts(
    comparison: Comparison, confidence: float
) -> list[Union[Table, str]]:
    """Return the ranking, all pairs, the groups and what to beware of.

    Args:
        comparison: the models.
        confidence: coverage of the intervals.
    """
    percent = f'{100 * confidence:g} %'
    groups = [
        f'  {letter}: {", ".join(group)}'
        for letter, group in zip(letters(comparison.names), comparison.groups)
    ]
    pairs = counted(len(comparison.pairs), 'pair')
    test = f'{pairs}, Holm, alpha {comparison.alpha:g}'
    if all(len(group) == 1 for group in comparison.groups):
        sentence, groups = f'All models differ significantly ({test}).', []
    else:
        sentence = (
            'Models that share a letter are not significantly different '
            f'({test})'
        )
    notes = [*comparison_reasons(comparison), FALSE_ALARMS, COVERAGE]
    return [
        _ranking_table(comparison, percent),
        _pair_table(comparison, percent),
        '\n'.join([sentence, *groups]),
        '\n'.join(notes),
    ]


def _ranking_table(comparison: Comparison, percent: str) -> Table:
    rows = []
    members = group_letters(comparison.names, comparison.groups)
    for name, member in zip(comparison.names, members):
        interval = interval_points(comparison.estimates[name])
        best, worst = comparison.ranks[name]
        rows.append(
            [
                name,
                number(interval['estimate']),
                number(interval['low']),
                number(interval['high']),
                str(best) if best == worst else f'{best}-{worst}',
                member,
            ]
        )
    header = ['model', comparison.metric, 'low', 'high', 'rank', 'group']
    return Table(header, rows, f'{percent} intervals, best first')


def class_comparison_table(
    classes: Mapping[str, Sequence[PairedDifference]],
    metric: str,
    confidence: float,
) -> Table:
    """Return every class's pairs, and why an interval is unusual.

    Args:
        classes: class name -> its pairs.
        metric: what was compared.
        confidence: coverage of the intervals.
    """
    named = [(k, pair) for k, pairs in classes.items() for pair in pairs]
    reasons = [
        (f'{name} {pair.first} - {pair.second}', pair.difference.reason)
        for name, pair in named
    ]
    return Table(
        ['class', *_PAIR_HEADER],
        [[name, *_pair_row(pair)] for name, pair in named],
        f'paired differences of {metric} by class, {100 * confidence:g} % '
        'intervals; Holm over all classes and pairs',
        reason_lines(reasons),
    )


def _pair_row(pair: PairedDifference) -> list[str]:
    interval = interval_points(pair.difference)
    return [
        f'{pair.first} - {pair.second}',
        number(interval['estimate'], 2),
        number(interval['low'], 2),
        number(interval['high'], 2),
        *(
            UNDEFINED if np.isnan(p) else f'{p:.4f}'
            for p in (pair.p_value, pair.p_adjusted)
        ),
        '*' if pair.significant else '',
    ]


_PAIR_HEADER = ['pair', 'difference', 'low', 'high', 'p', 'p (Holm)', '']


def _pair_table(comparison: Comparison, percent: str) -> Table:
    rows = [_pair_row(pair) for pair in comparison.pairs]
    title = f'paired differences of {comparison.metric}, {percent} intervals'
    return Table(_PAIR_HEADER, rows, title)
