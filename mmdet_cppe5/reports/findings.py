"""What stands out, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

import numpy as np

from mmdet_cppe5.coco.records import counted
from mmdet_cppe5.core import MAIN_ERRORS, Comparison
from mmdet_cppe5.figures.style import percent
from mmdet_cppe5.reports.cells import span
from mmdet_cppe5.reports.gallery import Group
from mmdet_cppe5.reports.sections_accuracy import ends
from mmdet_cppe5.reports.study import DataSet, Study

_DEEDS = {
    'Cls': 'classifying every box correctly',
    'Loc': 'localising boxes better',
    'Both': 'fixing poorly localised boxes of the wrong class',
    'Dupe': 'removing duplicates',
    'Bkg': 'removing detections on background',
    'Miss': 'finding the missed objects',
}
# A smaller difference does not show in points with one digit.
SHOWN = 0.0005
# A class with fewer objects is not said to be weak.
FEWEST = 10
OUTSIDE = (
    'The interval does not lie around AP because AP of few images tends to '
    'be too high, which the interval corrects.'
)


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
    ap, low, high = interval.estimate, interval.low, interval.high
    if not np.isfinite(low) or high - low < SHOWN:
        return ''
    text = (
        f'AP is {percent(ap)}. With {counted(len(data.image_names), "image")} '
        f'it could plausibly lie anywhere from {percent(low)} to '
        f'{percent(high)} ({study.intervals.confidence:.0%} interval).'
    )
    if not low <= ap <= high:
        text += f' {OUTSIDE}'
    return text


def _costliest(study: Study) -> str:
    costs = mean_costs(study)
    names = [name for name in costs if costs[name] >= SHOWN]
    if not names:
        return ''
    first, *rest = sorted(names, key=costs.__getitem__, reverse=True)
    sentence = (
        f'The largest gain would come from {_DEEDS[first]}: '
        f'{percent(costs[first])} AP points on average over the IoU '
        'thresholds'
    )
    if rest:
        sentence += f'; next, {_DEEDS[rest[0]]} ({percent(costs[rest[0]])})'
    return f'{sentence}.'


def _classes(data: DataSet, study: Study) -> str:
    """Name a weakest class only if its interval ends below all others."""
    if study.intervals is None:
        return ''
    counts = data.counts()
    known = [
        (interval, name, count)
        for interval, name, count in zip(
            study.intervals.class_intervals, data.class_names, counts
        )
        if np.isfinite(interval.low) and count >= FEWEST
    ]
    if len(known) < 2:
        return ''
    known.sort(key=lambda each: each[0].estimate)
    (weakest, name, count), *others = known
    if weakest.high >= min(each.low for each, _, _ in others):
        return ''
    return (
        f'{name} is the weakest class: AP {percent(weakest.estimate)}, '
        f'interval {span(ends(weakest))}, {count:,} objects.'
    )


def _placement(study: Study) -> str:
    summary = study.evaluation.summary()
    loose, strict = summary.get('AP50', 0), summary.get('AP75', 0)
    if not loose > 0.05 or not np.isfinite(strict) or strict > 0.6 * loose:
        return ''
    return (
        f'Boxes are poorly localised: AP falls from {percent(loose)} at IoU '
        f'0.50 to {percent(strict)} at IoU 0.75.'
    )


def _suspects(groups: Sequence[Group]) -> str:
    suspects = [group for group in groups if group.id == 'Label']
    if not suspects or not suspects[0].total:
        return ''
    number = suspects[0].total
    verb = 'scores' if number == 1 else 'score'
    return (
        f'{counted(number, "detection")} judged wrong {verb} higher than nine '
        'in ten true positives: check whether the annotations are right.'
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
        parts.append(f'significantly better than {_list(worse)}')
    if better:
        parts.append(f'significantly worse than {_list(better)}')
    if tied:
        parts.append(f'not significantly different from {_list(tied)}')
    return f'{study.name} is {", ".join(parts)} on these images.'


def _empty_classes(data: DataSet) -> str:
    empty = [n for n, c in zip(data.class_names, data.counts()) if not c]
    if not empty:
        return ''
    return (
        f'{_list(empty)} {"has" if len(empty) == 1 else "have"} no objects '
        f'here and {"is" if len(empty) == 1 else "are"} left out of the means.'
    )


def mean_costs(study: Study) -> dict[str, float]:
    """Return ΔAP of each main error, the mean over the IoU thresholds."""
    return {
        name: float(np.mean([each.delta_ap[name] for each in study.tides]))
        for name in MAIN_ERRORS
    }


def _list(names: Sequence[str], limit: int = 5) -> str:
    shown = list(names[:limit])
    if len(names) > limit:
        shown.append(f'{len(names) - limit} more')
    if len(shown) == 1:
        return shown[0]
    return f'{", ".join(shown[:-1])} and {shown[-1]}'
