"""An evaluation as one plain dict: what tables, JSON and metric keys show.

All scores are points, 0 to 100, at full precision; ``None`` (``null`` in
JSON) stands for a quantity without ground truth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Optional, Protocol

import numpy as np

from mmdet_cppe5.core import BootstrapResult, Interval, TideResult
from mmdet_cppe5.core.lookup import size_suffix
from mmdet_cppe5.core.settings import same_threshold

HEADLINE_THRESHOLDS = (0.5, 0.75)


class Scores(Protocol):
    """What a summary reads: the core's ``Evaluation`` has it, for one."""

    iou_thrs: np.ndarray
    area_ranges: Mapping[str, tuple[float, float]]
    max_dets: Sequence[int]

    def ap(
        self,
        iou_thr: Optional[float] = None,
        area: str = 'all',
        label: Optional[int] = None,
    ) -> float:
        """Return average precision, a fraction; NaN for undefined."""

    def ar(
        self,
        max_det: Optional[int] = None,
        iou_thr: Optional[float] = None,
        area: str = 'all',
        label: Optional[int] = None,
    ) -> float:
        """Return average recall, a fraction; NaN for undefined."""


def score_summary(
    scores: Scores,
    class_names: Sequence[str],
    every_threshold: bool = False,
) -> dict[str, Any]:
    """Return the overall and the per-class scores.

    Args:
        scores: an evaluation.
        class_names: the classes in label order.
        every_threshold: name an AP for each IoU threshold (``AP80``), not
            only AP50 and AP75.

    Returns:
        ``{'overall': {'AP': ..., 'AP50': ..., 'APs': ..., 'AR100': ...},
        'classes': {name: {'AP': ..., ...}}}``. ``AP`` is the mean over the
        classes that have ground truth, at the largest cap; where that cap
        is not 100 the same value also stands under ``AP@cap``.
    """
    quantities = _quantities(scores, every_threshold)
    overall = {
        key: points(getattr(scores, method)(**arguments))
        for key, (method, arguments) in quantities.items()
    }
    in_classes = {
        key: quantity
        for key, quantity in quantities.items()
        if _is_class_score(key, scores.max_dets)
    }
    return {
        'overall': overall,
        'classes': {
            name: {
                key: points(getattr(scores, method)(**arguments, label=label))
                for key, (method, arguments) in in_classes.items()
            }
            for label, name in enumerate(class_names)
        },
    }


def tide_summary(
    results: Sequence[TideResult],
    class_names: Sequence[str],
    chosen: TideResult,
) -> dict[str, Any]:
    """Return TIDE's numbers, those of one threshold in front.

    Args:
        results: one per threshold.
        class_names: the classes in label order.
        chosen: which of them gives the headline errors.

    Returns:
        ``{'pos_thr', 'bg_thr', 'ap', 'delta_ap', 'counts', 'classes',
        'thresholds'}``; ``classes`` has ``delta_ap`` and ``counts`` of each
        class, ``thresholds`` has ``pos_thr``, ``ap``, ``delta_ap`` and
        ``counts`` at each threshold.
    """
    return {
        **_tide_at(chosen),
        'bg_thr': chosen.bg_thr,
        'classes': {
            name: {
                'ap': points(chosen.ap_per_class[label]),
                'delta_ap': {
                    error: points(values[label])
                    for error, values in chosen.delta_ap_per_class.items()
                },
                'counts': {
                    error: int(values[label])
                    for error, values in chosen.counts_per_class.items()
                },
            }
            for label, name in enumerate(class_names)
        },
        'thresholds': [_tide_at(result) for result in results],
    }


def interval_summary(
    result: BootstrapResult, class_names: Sequence[str]
) -> dict[str, Any]:
    """Return the intervals of a bootstrap over images.

    Returns:
        ``{'confidence', 'method', 'num_resamples', 'seed', 'overall',
        'classes'}``, where ``overall`` maps a score's name and ``classes`` a
        class's name (for its AP) to ``{'estimate', 'low', 'high'}``.
    """
    return {
        'confidence': result.confidence,
        'method': result.method,
        'num_resamples': result.num_resamples,
        'seed': result.seed,
        'overall': {
            name: interval_points(interval)
            for name, interval in result.intervals.items()
        },
        'classes': {
            name: interval_points(interval)
            for name, interval in zip(class_names, result.class_intervals)
        },
    }


def flat_scores(summary: Mapping[str, Any]) -> dict[str, float]:
    """Return a summary as one level of names, undefined ones left out.

    ``AP`` ..., ``AP_<class>`` ..., ``dAP_<error>`` and ``AP_ci_low`` and
    ``AP_ci_high`` ... (``AP_<class>_ci_low`` for classes).

    Raises:
        ValueError: if two quantities would share a name, as a class and a
            size range of one name do.
    """
    pairs = list(summary['overall'].items())
    for name, scores in summary['classes'].items():
        pairs += [(f'{key}_{name}', value) for key, value in scores.items()]
    tide = summary.get('tide')
    if tide:
        pairs += [(f'dAP_{k}', v) for k, v in tide['delta_ap'].items()]
    intervals = summary.get('intervals')
    if intervals:
        named = list(intervals['overall'].items())
        named += [(f'AP_{k}', v) for k, v in intervals['classes'].items()]
        for name, interval in named:
            pairs.append((f'{name}_ci_low', interval['low']))
            pairs.append((f'{name}_ci_high', interval['high']))
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(
            f'Expected every score to have its own name, but {twice!r} '
            'stands for two: rename the class or the size range.'
        )
    return {name: value for name, value in pairs if value is not None}


def points(fraction: float) -> Optional[float]:
    """Return a fraction as points 0..100, None for NaN."""
    value = 100 * float(fraction)
    return None if math.isnan(value) else value


def interval_points(interval: Interval) -> dict[str, Any]:
    """Return an interval's three fractions as points, and its reason."""
    return {
        'estimate': points(interval.estimate),
        'low': points(interval.low),
        'high': points(interval.high),
        'reason': interval.reason or None,
    }


def threshold_name(threshold: float) -> str:
    """Return a threshold in percent, as in ``AP50`` or ``AP57.5``."""
    return f'{round(100 * threshold, 7):g}'


def _tide_at(result: TideResult) -> dict[str, Any]:
    return {
        'pos_thr': result.pos_thr,
        'ap': points(result.ap),
        'delta_ap': {k: points(v) for k, v in result.delta_ap.items()},
        'counts': {k: int(v) for k, v in result.counts.items()},
    }


def _quantities(
    scores: Scores, every_threshold: bool
) -> dict[str, tuple[str, dict[str, Any]]]:
    """Map each score's name to the method and arguments that give it."""
    first, *others = scores.area_ranges
    named: dict[str, tuple[str, dict[str, Any]]] = {}
    named['AP'] = ('ap', {'area': first})
    if max(scores.max_dets) != 100:
        named[f'AP@{max(scores.max_dets)}'] = named['AP']
    for index, threshold in enumerate(np.asarray(scores.iou_thrs).tolist()):
        headline = any(
            same_threshold(scores.iou_thrs, known)[index]
            for known in HEADLINE_THRESHOLDS
        )
        if headline or every_threshold:
            named[f'AP{threshold_name(threshold)}'] = (
                'ap',
                {'area': first, 'iou_thr': threshold},
            )
    for area in others:
        named[f'AP{size_suffix(area)}'] = ('ap', {'area': area})
    for cap in scores.max_dets:
        named[f'AR{cap}'] = ('ar', {'area': first, 'max_det': cap})
    for area in others:
        named[f'AR{size_suffix(area)}'] = ('ar', {'area': area})
    return named


def _is_class_score(key: str, max_dets: Sequence[int]) -> bool:
    """Leave recall at the smaller caps and per size out of class tables."""
    return (
        key.startswith('AP') and '@' not in key
    ) or key == f'AR{max(max_dets)}'
