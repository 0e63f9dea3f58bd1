"""Text tables of a summary, for the terminal and the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional

import numpy as np

from mmdet_cppe5.core import MAIN_ERRORS, SPECIAL_ERRORS, Comparison
from mmdet_cppe5.core.settings import same_threshold
from mmdet_cppe5.scores.assessment import Assessment
from mmdet_cppe5.scores.groups import group_letters, letters
from mmdet_cppe5.scores.summary import (
    HEADLINE_THRESHOLDS,
    Scores,
    interval_points,
    threshold_name,
)

UNDEFINED = '-'


def number(value: Optional[float], digits: int = 1) -> str:
    """Return a rounded number, a dash for None."""
    if value is None:
        return UNDEFINED
    return f'{round(value, digits) + 0.0:.{digits}f}'  # no -0.0


def format_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    title: Optional[str] = None,
) -> str:
    """Align columns: the first to the left, the others to the right.

    Args:
        header: one name per column.
        rows: cells, as many per row as the header has.
        title: a line above the table.
    """
    widths = [max(map(len, column)) for column in zip(header, *rows)]
    rule = '  '.join('-' * width for width in widths)
    lines = [_aligned(header, widths), rule]
    lines += [_aligned(row, widths) for row in rows]
    return '\n'.join(([title] if title else []) + lines)


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


def class_table(summary: Mapping[str, Any]) -> str:
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
    return format_table(['class', 'objects', 'detections', *columns], rows)


def tide_tables(tide: Mapping[str, Any]) -> str:
    """Return TIDE's tables: main and special errors, and each threshold."""
    at = threshold_name(tide['pos_thr'])
    return '\n\n'.join(
        [
            _error_table(tide, MAIN_ERRORS, f'TIDE: main errors @ {at}'),
            _error_table(tide, SPECIAL_ERRORS, f'TIDE: special errors @ {at}'),
            _tide_class_table(tide, f'TIDE: dAP by class @ {at}'),
            _threshold_table(tide['thresholds']),
        ]
    )


def interval_table(intervals: Mapping[str, Any]) -> str:
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
    return format_table(['score', 'value', 'low', 'high'], rows, title)


def assessment_tables(assessment: Assessment) -> str:
    """Return everything an assessment holds as text."""
    summary = assessment.summary
    parts = [coco_lines(assessment.scores), class_table(summary)]
    if summary.get('tide'):
        parts.append(tide_tables(summary['tide']))
    if summary.get('intervals'):
        parts.append(interval_table(summary['intervals']))
    return '\n\n'.join(parts)


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    first = f'{cells[0]:<{widths[0]}}'
    others = [f'{c:>{w}}' for c, w in zip(cells[1:], widths[1:])]
    return '  '.join([first, *others]).rstrip()


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
) -> str:
    rows = [
        ['dAP', *(number(tide['delta_ap'][error], 2) for error in errors)],
        ['count', *(str(tide['counts'][error]) for error in errors)],
    ]
    return format_table(['Type', *errors], rows, title)


def _tide_class_table(tide: Mapping[str, Any], title: str) -> str:
    errors = (*MAIN_ERRORS, *SPECIAL_ERRORS)
    rows = [
        [
            name,
            number(values['ap'], 2),
            *(number(values['delta_ap'][error], 2) for error in errors),
        ]
        for name, values in tide['classes'].items()
    ]
    return format_table(['class', 'AP', *errors], rows, title)


def _threshold_table(thresholds: Sequence[Mapping[str, Any]]) -> str:
    rows = [['AP', *(number(each['ap'], 2) for each in thresholds)]]
    rows += [
        [error, *(number(each['delta_ap'][error], 2) for each in thresholds)]
        for error in (*MAIN_ERRORS, *SPECIAL_ERRORS)
    ]
    header = [threshold_name(each['pos_thr']) for each in thresholds]
    title = 'TIDE: AP and dAP at each threshold'
    return format_table(['Thresh', *header], rows, title)


def comparison_tables(comparison: Comparison, confidence: float) -> str:
    """Return the ranking, all pairs, and the sentence about the groups."""
    percent = f'{100 * confidence:g} %'
    groups = [
        f'  {letter}: {", ".join(group)}'
        for letter, group in zip(letters(), comparison.groups)
    ]
    total = len(comparison.groups)
    sentence = (
        f'{len(comparison.names)} models, {total} '
        f'group{"" if total == 1 else "s"} that cannot be told apart '
        f'({len(comparison.pairs)} pairs, Holm, alpha {comparison.alpha:g})'
    )
    return '\n\n'.join(
        [
            _ranking_table(comparison, percent),
            _pair_table(comparison, percent),
            '\n'.join([sentence, *groups]),
        ]
    )


def _ranking_table(comparison: Comparison, percent: str) -> str:
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
    return format_table(header, rows, f'{percent} intervals, best first')


def _pair_table(comparison: Comparison, percent: str) -> str:
    rows = []
    for pair in comparison.pairs:
        interval = interval_points(pair.difference)
        rows.append(
            [
                f'{pair.first} - {pair.second}',
                number(interval['estimate'], 2),
                number(interval['low'], 2),
                number(interval['high'], 2),
                f'{pair.p_value:.4f}',
                f'{pair.p_adjusted:.4f}',
                '*' if pair.significant else '',
            ]
        )
    header = ['pair', 'difference', 'low', 'high', 'p', 'p (Holm)', '']
    title = f'paired differences of {comparison.metric}, {percent} intervals'
    return format_table(header, rows, title)
