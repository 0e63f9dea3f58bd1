"""The part of a report that compares several detectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Optional

import numpy as np

from mmdet_cppe5 import figures
from mmdet_cppe5.core import MAIN_ERRORS, Comparison
from mmdet_cppe5.reports.cells import points, word
from mmdet_cppe5.reports.page import Cell, Column, Row, Section, Table
from mmdet_cppe5.reports.sections_accuracy import ends
from mmdet_cppe5.reports.study import Study
from mmdet_cppe5.scores.caveats import FALSE_ALARMS, comparison_reasons
from mmdet_cppe5.scores.groups import group_letters


def model_section(
    studies: Sequence[Study],
    comparison: Comparison,
    milliseconds: Optional[Mapping[str, float]] = None,
) -> Section:
    """Return the figures and the table that compare detectors.

    Args:
        studies: the detectors, two or more.
        comparison: the paired comparison of the same detectors.
        milliseconds: time per image of some of them by name.
    """
    names, metric = comparison.names, comparison.metric
    letters = group_letters(names, comparison.groups)
    estimates = [comparison.estimates[name] for name in names]
    values = np.array([each.estimate for each in estimates])
    spread = np.array([ends(each) for each in estimates])
    differences, significant = _matrices(comparison)
    drawings = [
        figures.model_intervals(names, values, spread, letters, metric),
        figures.difference_matrix(
            names, differences, significant, letters, metric, comparison.alpha
        ),
    ]
    timed = [i for i, name in enumerate(names) if name in (milliseconds or {})]
    if timed:
        drawings.append(
            figures.speed_accuracy(
                [names[i] for i in timed],
                values[timed],
                np.array([milliseconds[names[i]] for i in timed]),
                spread[timed],
                metric,
            )
        )
    return Section(
        'models',
        'Models',
        [
            'All detectors on the same images. A paired permutation test, '
            'corrected for the number of pairs (Holm), decides which '
            'differences are significant; overlapping intervals do not.',
            FALSE_ALARMS,
            *comparison_reasons(comparison),
        ],
        drawings,
        [
            model_table(studies, comparison, letters, milliseconds),
            _pair_table(comparison),
        ],
    )


def _matrices(comparison: Comparison) -> tuple[np.ndarray, np.ndarray]:
    """Return the differences and their significance, ``(M, M)`` each."""
    place = {name: i for i, name in enumerate(comparison.names)}
    size = len(place)
    differences = np.full((size, size), np.nan)
    significant = np.zeros((size, size), dtype=bool)
    for pair in comparison.pairs:
        i, j = place[pair.first], place[pair.second]
        differences[i, j] = pair.difference.estimate
        differences[j, i] = -pair.difference.estimate
        significant[i, j] = significant[j, i] = pair.significant
    return differences, significant


def model_table(
    studies: Sequence[Study],
    comparison: Comparison,
    letters: Sequence[str],
    milliseconds: Optional[Mapping[str, float]] = None,
) -> Table:
    """Return one row per detector, best first."""
    by_name = {study.name: study for study in studies}
    scores = [
        key
        for key in studies[0].evaluation.summary()
        if key.startswith('AP') and key != comparison.metric
    ]
    columns = [
        Column('Detector', False),
        Column(comparison.metric),
        Column(
            'Group',
            False,
            'detectors that share a letter are not significantly different',
        ),
        Column('Rank', hint='ranks that the significant differences allow'),
        *(Column(key) for key in scores),
        *(Column(f'Δ{key}', hint=_HINTS[key]) for key in MAIN_ERRORS),
    ]
    if milliseconds:
        columns.append(Column('ms', hint='milliseconds per image'))
    rows = []
    for name, letter in zip(comparison.names, letters):
        study, (best, worst) = by_name[name], comparison.ranks[name]
        summary = study.evaluation.summary()
        estimate = comparison.estimates[name]
        cells = [
            word(name),
            points(estimate.estimate, ends(estimate)),
            word(letter),
            Cell(f'{best}' if best == worst else f'{best}–{worst}', best),
            *(points(summary[key]) for key in scores),
            *(
                points(study.tide.delta_ap[key], None, False)
                for key in MAIN_ERRORS
            ),
        ]
        if milliseconds:
            time = milliseconds.get(name)
            cells.append(
                Cell('–') if time is None else Cell(f'{time:.1f}', time)
            )
        rows.append(Row(cells))
    return Table(
        'model-table',
        'Every detector',
        columns,
        rows,
        'Best first. The columns with Δ are what each kind of error costs '
        'in AP points at IoU 0.50 (TIDE).',
    )


_GROUP_HINT = 'detectors that share a letter are not significantly different'
_HINTS = {
    'Cls': 'wrong class',
    'Loc': 'poorly localised',
    'Both': 'wrong class and poorly localised',
    'Dupe': 'duplicate',
    'Bkg': 'background',
    'Miss': 'missed object',
}


def _pair_table(comparison: Comparison) -> Table:
    rows = [
        Row(
            [
                word(f'{pair.first} − {pair.second}'),
                points(pair.difference.estimate, ends(pair.difference), False),
                _probability(pair.p_value),
                _probability(pair.p_adjusted),
                word('yes' if pair.significant else 'no'),
            ]
        )
        for pair in comparison.pairs
    ]
    return Table(
        'pair-table',
        'Every pair',
        [
            Column('Detectors', False),
            Column('Difference', hint='in points, with its interval'),
            Column('p', hint='of the paired permutation test'),
            Column('p, Holm', hint=f'corrected over {len(rows)} pairs'),
            Column('Significant', False),
        ],
        rows,
    )


def _probability(value: float) -> Cell:
    if not np.isfinite(value):
        return Cell('–')
    return Cell(f'{value:.4f}' if value >= 0.0001 else '< 0.0001', value)
