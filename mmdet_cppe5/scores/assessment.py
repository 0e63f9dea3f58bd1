"""One call from the core's input to all its scores: AP, TIDE, intervals."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Optional, Union

import numpy as np

from mmdet_cppe5.core import (
    AREA_RANGES,
    IOU_THRS,
    MAX_DETS,
    BootstrapResult,
    Detections,
    Evaluation,
    GroundTruths,
    Similarity,
    TideResult,
    bootstrap,
    evaluate,
    tide_range,
)
from mmdet_cppe5.core.settings import listed
from mmdet_cppe5.scores.summary import (
    Scores,
    interval_summary,
    score_summary,
    tide_summary,
)

DEFAULT_BACKGROUND = 0.1
ENGINES = ('core', 'pycocotools')
# Entered while something is being done, such as a progress display.
Phase = Callable[[str], AbstractContextManager[Any]]


@dataclass(frozen=True)
class Settings:
    """How to evaluate.

    Attributes:
        iou_thrs: IoU thresholds in (0, 1]; None means COCO's ten.
        area_ranges: name -> (low, high) in square pixels, both included;
            a range ``all`` is put in front where it is missing.
        max_dets: caps on detections per image and class.
        tide: None for no TIDE, or ``pos_thr`` (default 0.5, or the lowest
            threshold where 0.5 is not evaluated) and ``bg_thr`` (0.1).
        ci: None for no intervals, or arguments of
            :func:`mmdet_cppe5.core.bootstrap`. Without images there are
            none either.
        engine: ``'core'``, or ``'pycocotools'`` for AP and AR by
            pycocotools (boxes only); TIDE and intervals come from the core.
    """

    iou_thrs: Optional[Sequence[float]] = None
    area_ranges: Mapping[str, tuple[float, float]] = field(
        default_factory=lambda: dict(AREA_RANGES)
    )
    max_dets: Sequence[int] = MAX_DETS
    tide: Optional[Mapping[str, float]] = None
    ci: Optional[Mapping[str, Any]] = None
    engine: str = 'core'

    def arguments(self) -> dict[str, Any]:
        """Return what :func:`mmdet_cppe5.core.evaluate` takes."""
        ranges = {
            name: (float(low), float(high))
            for name, (low, high) in self.area_ranges.items()
        }
        everything = {'all': ranges.pop('all', AREA_RANGES['all'])}
        thresholds = IOU_THRS if self.iou_thrs is None else self.iou_thrs
        return {
            'iou_thrs': tuple(np.sort(np.ravel(thresholds)).tolist()),
            'area_ranges': {**everything, **ranges},
            'max_dets': tuple(sorted(self.max_dets)),
        }


def as_arguments(
    switch: Union[bool, Mapping[str, Any]],
) -> Optional[Mapping[str, Any]]:
    """Turn a switch into arguments: False -> None, True -> none given."""
    if isinstance(switch, Mapping):
        return switch
    return {} if switch else None


@dataclass(frozen=True, eq=False)
class Assessment:
    """A detector's scores on a data set, and what is behind them.

    Attributes:
        ground_truths: the objects.
        detections: what was found.
        class_names: the classes in label order.
        settings: how it was evaluated.
        scores: AP and AR: the evaluation below, or pycocotools' own.
        evaluation: the core's evaluation; None where pycocotools alone was
            asked.
        tides: TIDE's errors at each threshold; empty where not asked for.
        tide: those of the threshold asked for, one of ``tides``.
        bootstrap: the intervals; None where not asked for.
    """

    ground_truths: GroundTruths
    detections: Detections
    class_names: tuple[str, ...]
    settings: Settings
    scores: Scores
    evaluation: Optional[Evaluation]
    tides: tuple[TideResult, ...] = ()
    tide: Optional[TideResult] = None
    bootstrap: Optional[BootstrapResult] = None

    @cached_property
    def summary(self) -> Mapping[str, Any]:
        """The numbers as plain values, in points.

        ``counts``, ``overall``, ``classes``; ``tide`` and ``intervals``
        where asked for. See :mod:`mmdet_cppe5.scores.summary`.
        """
        every_threshold = self.settings.iou_thrs is not None
        summary = {
            'counts': count_rows(
                self.ground_truths, self.detections, self.class_names
            ),
            **score_summary(self.scores, self.class_names, every_threshold),
        }
        if self.tide is not None:
            summary['tide'] = tide_summary(
                self.tides, self.class_names, self.tide
            )
        if self.bootstrap is not None:
            summary['intervals'] = interval_summary(
                self.bootstrap, self.class_names
            )
        return summary


def assess(
    ground_truths: GroundTruths,
    detections: Detections,
    class_names: Sequence[str],
    settings: Settings,
    similarity: Optional[Similarity] = None,
    phase: Phase = contextlib.nullcontext,
) -> Assessment:
    """Evaluate, with TIDE and intervals where asked for.

    Args:
        ground_truths: the objects.
        detections: what was found.
        class_names: the classes in label order.
        settings: how to evaluate.
        similarity: how pairs are compared; None means box IoU.
        phase: called with what is being done, entered while it is.

    Raises:
        ValueError: if a setting is out of its range.
    """
    arguments = settings.arguments()
    evaluation = None
    if settings.engine == 'core' or (settings.tide, settings.ci) != (
        None,
        None,
    ):
        with phase('Evaluating'):
            evaluation = evaluate(
                ground_truths, detections, similarity=similarity, **arguments
            )
    scores: Scores = evaluation
    if settings.engine == 'pycocotools':
        from mmdet_cppe5.coco.pycocotools_engine import (
            evaluate_with_pycocotools,
        )

        scores = evaluate_with_pycocotools(
            ground_truths, detections, **arguments
        )
    tides, tide, intervals = (), None, None
    if settings.tide is not None:
        with phase('Analysing errors'):
            tides, tide = _tide(evaluation, settings.tide)
    if settings.ci is not None and ground_truths.num_images:
        with phase('Resampling images'):
            intervals = _intervals(evaluation, settings.ci, tide)
    return Assessment(
        ground_truths,
        detections,
        tuple(class_names),
        settings,
        scores,
        evaluation,
        tides,
        tide,
        intervals,
    )


def count_rows(
    ground_truths: GroundTruths,
    detections: Detections,
    class_names: Sequence[str],
) -> dict[str, dict[str, int]]:
    """Return how many objects, ignored objects and detections a class has."""
    size = len(class_names)
    ignored = ground_truths.ignore
    columns = {
        'ground_truths': np.bincount(
            ground_truths.label[~ignored], minlength=size
        ),
        'ignored': np.bincount(ground_truths.label[ignored], minlength=size),
        'detections': np.bincount(detections.label, minlength=size),
    }
    return {
        name: {key: int(column[k]) for key, column in columns.items()}
        for k, name in enumerate(class_names)
    }


def _tide(
    evaluation: Evaluation, asked: Mapping[str, float]
) -> tuple[tuple[TideResult, ...], TideResult]:
    """Return TIDE at each threshold, and at the one asked for."""
    unknown = set(asked) - {'pos_thr', 'bg_thr'}
    if unknown:
        raise ValueError(
            'Expected `tide` to set pos_thr and bg_thr only, but got '
            f'{listed(sorted(unknown))}.'
        )
    results = tide_range(
        evaluation, bg_thr=asked.get('bg_thr', DEFAULT_BACKGROUND)
    )
    wanted = asked.get('pos_thr', 0.5)
    if evaluation.has_threshold(wanted):
        index = evaluation.threshold_index(wanted)
    elif 'pos_thr' in asked:
        raise ValueError(
            "Expected TIDE's `pos_thr` to be one of the evaluated IoU "
            f'thresholds {listed(evaluation.iou_thrs.tolist())}, but got '
            f'{wanted}.'
        )
    else:
        index = 0
    return tuple(results), results[index]


def _intervals(
    evaluation: Evaluation,
    asked: Mapping[str, Any],
    tide: Optional[TideResult],
) -> BootstrapResult:
    """Resample; TIDE's numbers too where they are the ones shown."""
    with_tide = (
        tide is not None
        and tide.pos_thr == float(np.min(evaluation.iou_thrs))
        and tide.bg_thr == DEFAULT_BACKGROUND
    )
    return bootstrap(evaluation, **{'tide': with_tide, **asked})
