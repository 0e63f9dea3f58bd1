"""What stands out, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

import numpy as np

from mmdet_cppe5.core import MAIN_ERRORS, Comparison
from mmdet_cppe5.figures.style import percent
from mmdet_cppe5.report.cells import span
from mmdet_cppe5.report.gallery import Group
from mmdet_cppe5.report.sections_accuracy import ends
from mmdet_cppe5.report.study import DataSet, Study

_DEEDS = {
    'Cls': 'naming the class right',
    'Loc': 'placing boxes tightly',
    'Both': 'putting loose boxes of the wrong class right',
    'Dupe': 'removing duplicates',
    'Bkg': 'removing detections of nothing',
    'Miss': 'finding every missed object',
}


def findings(
    data: DataSet,
    study: Study,
    groups: Sequence[Group],
    comparison: Optional[Comparison] = None,
) -> list[str]:
    """Return sentences on a detector, the most important first.

    Args:
        data: the data set.
        study: the detector the report is about.
        groups: its gallery of errors.
        comparison: with other detectors.
    """
    sentences = [
        _uncertainty(data, study),
        _costliest(study),
        _classes(data, study),
        _placement(study),
        _suspects(groups),
        _place(study, comparison),
        _empty_classes(data),
    ]
    return [sentence for sentence in sentences if sentence]


def _uncertainty(data: DataSet, study: Study) -> str:
    if study.intervals is None or 'AP' not in study.intervals.intervals:
        return ''
    interval = study.intervals.intervals['AP']
    if not np.isfinite(interval.low):
        return ''
    return (
        f'AP is {percent(interval.estimate)}, with a '
        f'{study.intervals.confidence:.0%} interval from '
        f'{percent(interval.low)} to {percent(interval.high)}: '
        f'{len(data.image_names):,} images do not pin it down any further.'
    )


def _costliest(study: Study) -> str:
    costs = {
        name: cost
        for name in MAIN_ERRORS
        if (cost := study.tide.delta_ap[name]) > 0.0005
    }
    if not costs:
        return ''
    first, *rest = sorted(costs, key=costs.__getitem__, reverse=True)
    sentence = (
        f'Most is to be gained by {_DEEDS[first]}: '
        f'{percent(costs[first])} AP points at IoU 0.50'
    )
    if rest:
        sentence += f'; then by {_DEEDS[rest[0]]} ({percent(costs[rest[0]])})'
    return f'{sentence}.'


def _classes(data: DataSet, study: Study) -> str:
    ap, counts = study.evaluation.ap_per_class(), data.counts()
    known = np.flatnonzero(np.isfinite(ap))
    if len(known) < 2:
        return ''
    best, worst = (known[f(ap[known])] for f in (np.argmax, np.argmin))
    if ap[best] - ap[worst] < 0.01:
        return ''
    sentence = (
        f'{data.class_names[worst]} is the weakest class '
        f'(AP {percent(ap[worst])}'
    )
    if study.intervals is not None:
        interval = span(ends(study.intervals.class_intervals[worst]))
        sentence += f', interval {interval}' if interval else ''
    return (
        f'{sentence}, {counts[worst]} objects); {data.class_names[best]} is '
        f'the strongest ({percent(ap[best])}, {counts[best]} objects).'
    )


def _placement(study: Study) -> str:
    summary = study.evaluation.summary()
    loose, strict = summary.get('AP50', 0), summary.get('AP75', 0)
    if not loose > 0.05 or not np.isfinite(strict) or strict > 0.6 * loose:
        return ''
    return (
        f'Boxes are placed loosely: AP falls from {percent(loose)} at IoU '
        f'0.50 to {percent(strict)} at IoU 0.75.'
    )


def _suspects(groups: Sequence[Group]) -> str:
    suspects = [group for group in groups if group.id == 'Label']
    if not suspects or not suspects[0].total:
        return ''
    number = suspects[0].total
    return (
        f'{number:,} detection{"" if number == 1 else "s"} judged wrong '
        f'{"is" if number == 1 else "are"} surer than nine in ten hits: '
        'have a look whether the annotation is right.'
    )


def _place(study: Study, comparison: Optional[Comparison]) -> str:
    if comparison is None:
        return ''
    better = [
        p.first
        for p in comparison.pairs
        if p.significant and p.second == study.name
    ]
    worse = [
        p.second
        for p in comparison.pairs
        if p.significant and p.first == study.name
    ]
    others = [n for n in comparison.names if n != study.name]
    tied = [n for n in others if n not in better and n not in worse]
    parts = []
    if worse:
        parts.append(f'better than {_list(worse)}')
    if better:
        parts.append(f'worse than {_list(better)}')
    if tied:
        parts.append(f'not to be told apart from {_list(tied)}')
    return f'{study.name} is {", ".join(parts)} on these images.'


def _empty_classes(data: DataSet) -> str:
    empty = [n for n, c in zip(data.class_names, data.counts()) if not c]
    if not empty:
        return ''
    return (
        f'{_list(empty)} {"has" if len(empty) == 1 else "have"} no objects '
        'here and no say in any mean.'
    )


def _list(names: Sequence[str], limit: int = 5) -> str:
    shown = list(names[:limit])
    if len(names) > limit:
        shown.append(f'{len(names) - limit} more')
    if len(shown) == 1:
        return shown[0]
    return f'{", ".join(shown[:-1])} and {shown[-1]}'
