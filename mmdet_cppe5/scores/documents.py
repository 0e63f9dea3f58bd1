"""The JSON that ``evaluate --json`` and ``compare --json`` write.

Documented in the functions here; the version in ``schema`` grows whenever a
key changes its meaning.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Optional

import numpy as np

from mmdet_cppe5 import __version__
from mmdet_cppe5.core import Comparison, PairedDifference
from mmdet_cppe5.files import PathLike, file_digest
from mmdet_cppe5.scores.assessment import Settings
from mmdet_cppe5.scores.summary import interval_points, points

EVALUATION_SCHEMA = 'mmdet-cppe5/evaluation/1'
COMPARISON_SCHEMA = 'mmdet-cppe5/comparison/1'
UNIT = 'points, 0 to 100; null where undefined'


def evaluation_document(
    summary: Mapping[str, Any],
    inputs: Mapping[str, Any],
    settings: Mapping[str, Any],
    notices: Sequence[str],
    card: Optional[Sequence[float]] = None,
) -> dict[str, Any]:
    """Return one evaluation with everything that it depends on.

    Keys: ``schema``, ``unit``, ``versions``, ``inputs`` (``ground_truth``
    and ``results``, each with ``path``, ``sha256`` and counts),
    ``settings``, ``notices``; ``counts``, ``overall``, ``classes``, ``tide``
    and ``intervals`` (null where switched off) as in
    :mod:`mmdet_cppe5.scores.summary`; ``card_recall`` with
    ``average_recall`` and ``by_threshold`` (null where not computed).

    Args:
        summary: scores, TIDE and intervals.
        inputs: descriptions of the files, see :func:`describe_file`.
        settings: see :func:`describe_settings`.
        notices: what was unusual about the input.
        card: fractions ``(T,)`` of
            :func:`mmdet_cppe5.scores.card_recall.card_recall`.
    """
    document = {
        'schema': EVALUATION_SCHEMA,
        'unit': UNIT,
        'versions': versions(),
        'inputs': dict(inputs),
        'settings': dict(settings),
        'notices': list(notices),
        **summary,
    }
    document.setdefault('tide', None)
    document.setdefault('intervals', None)
    document['card_recall'] = card and {
        'average_recall': points(np.mean(card)),
        'by_threshold': [points(value) for value in card],
    }
    return document


def comparison_document(
    comparison: Comparison,
    inputs: Mapping[str, Any],
    settings: Mapping[str, Any],
    notices: Sequence[str],
    classes: Optional[Mapping[str, Sequence[PairedDifference]]] = None,
) -> dict[str, Any]:
    """Return a comparison with everything that it depends on.

    Keys: ``schema``, ``unit``, ``versions``, ``inputs`` (``ground_truth``,
    and ``results`` by model name), ``settings``, ``notices``; ``metric``,
    ``models`` (best first: ``name``, ``estimate``, ``low``, ``high``,
    ``rank`` as [best, worst]), ``pairs`` (``first``, ``second``,
    ``difference`` with interval, ``p_value``, ``p_adjusted``,
    ``significant``), ``groups`` (lists of names), ``alpha``, and
    ``classes`` (class name -> its ``pairs``, null where not asked for).
    """
    return {
        'schema': COMPARISON_SCHEMA,
        'unit': UNIT,
        'versions': versions(),
        'inputs': dict(inputs),
        'settings': dict(settings),
        'notices': list(notices),
        'metric': comparison.metric,
        'models': [
            {
                'name': name,
                **interval_points(comparison.estimates[name]),
                'rank': list(comparison.ranks[name]),
            }
            for name in comparison.names
        ],
        'pairs': [_described_pair(pair) for pair in comparison.pairs],
        'groups': [list(group) for group in comparison.groups],
        'alpha': comparison.alpha,
        'classes': classes
        and {
            name: [_described_pair(pair) for pair in pairs]
            for name, pairs in classes.items()
        },
    }


def _described_pair(pair: PairedDifference) -> dict[str, Any]:
    return {
        'first': pair.first,
        'second': pair.second,
        'difference': interval_points(pair.difference),
        'p_value': _defined(pair.p_value),
        'p_adjusted': _defined(pair.p_adjusted),
        'significant': bool(pair.significant),
    }


def _defined(value: float) -> Optional[float]:
    return None if np.isnan(value) else float(value)


def describe_file(path: PathLike, **counts: int) -> dict[str, Any]:
    """Return a file's path, digest, and what was counted in it."""
    return {'path': str(Path(path)), 'sha256': file_digest(path), **counts}


def describe_settings(settings: Settings, **others: Any) -> dict[str, Any]:
    """Return every setting, defaults filled in, as plain JSON values."""
    arguments = settings.arguments()
    return {
        **others,
        'iou_thrs': list(arguments['iou_thrs']),
        'area_ranges': {
            name: list(edges)
            for name, edges in arguments['area_ranges'].items()
        },
        'max_dets': list(arguments['max_dets']),
        'engine': settings.engine,
    }


def versions() -> dict[str, str]:
    """Return the versions of what took part in the numbers."""
    found = {
        'mmdet_cppe5': __version__,
        'numpy': np.__version__,
        'python': platform.python_version(),
    }
    if 'pycocotools' in sys.modules:
        from importlib.metadata import version

        found['pycocotools'] = version('pycocotools')
    return found
