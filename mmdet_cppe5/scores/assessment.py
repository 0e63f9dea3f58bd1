"""One call from the core's input to a summary: scores, TIDE, intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional, Union

import numpy as np

from mmdet_cppe5.core import (
    AREA_RANGES,
    IOU_THRS,
    MAX_DETS,
    Detections,
    Evaluation,
    GroundTruths,
    Similarity,
    bootstrap,
    evaluate,
    tide_range,
)
from mmdet_cppe5.scores.summary import (
    THRESHOLD_TOLERANCE,
    Scores,
    interval_summary,
    score_summary,
    tide_summary,
)

DEFAULT_BACKGROUND = 0.1
ENGINES = ('core', 'pycocotools')


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


def assess(
    ground_truths: GroundTruths,
    detections: Detections,
    class_names: Sequence[str],
    settings: Settings,
    similarity: Optional[Similarity] = None,
) -> tuple[dict[str, Any], Scores]:
    """Evaluate and sum up.

    Args:
        ground_truths: the objects.
        detections: what was found.
        class_names: the classes in label order.
        settings: how to evaluate.
        similarity: how pairs are compared; None means box IoU.

    Returns:
        The summary (``counts``, ``overall``, ``classes``, ``tide``,
        ``intervals``; see :mod:`mmdet_cppe5.scores.summary`), and the
        scores behind it: the core's ``Evaluation``, or pycocotools' own.

    Raises:
        ValueError: if a setting is out of its range.
    """
    arguments = settings.arguments()
    evaluation = None
    if settings.engine == 'core' or settings.tide or settings.ci:
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
    summary = {
        'counts': count_rows(ground_truths, detections, class_names),
        **score_summary(scores, class_names, settings.iou_thrs is not None),
    }
    if settings.tide is not None:
        summary['tide'] = _tide(evaluation, class_names, settings.tide)
    if settings.ci is not None and ground_truths.num_images:
        summary['intervals'] = _intervals(
            evaluation, class_names, settings.ci, summary.get('tide')
        )
    return summary, scores


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
    evaluation: Evaluation,
    class_names: Sequence[str],
    asked: Mapping[str, float],
) -> dict[str, Any]:
    unknown = set(asked) - {'pos_thr', 'bg_thr'}
    if unknown:
        raise ValueError(
            'Expected `tide` to set pos_thr and bg_thr only, but got '
            f'{sorted(unknown)}.'
        )
    background = asked.get('bg_thr', DEFAULT_BACKGROUND)
    results = tide_range(evaluation, bg_thr=background)
    head = _position(evaluation.iou_thrs, asked.get('pos_thr'))
    return tide_summary(results, class_names, head)


def _position(thresholds: np.ndarray, asked: Optional[float]) -> int:
    """Return where TIDE's threshold stands among the evaluated ones."""
    wanted = 0.5 if asked is None else asked
    near = np.flatnonzero(np.abs(thresholds - wanted) < THRESHOLD_TOLERANCE)
    if near.size:
        return int(near[0])
    if asked is None:
        return 0
    raise ValueError(
        "Expected TIDE's `pos_thr` to be one of the evaluated IoU thresholds "
        f'{np.asarray(thresholds).tolist()}, but got {asked}.'
    )


def _intervals(
    evaluation: Evaluation,
    class_names: Sequence[str],
    asked: Mapping[str, Any],
    tide: Optional[Mapping[str, Any]],
) -> dict[str, Any]:
    """Resample; TIDE's numbers too where they are the ones shown."""
    lowest = float(np.min(evaluation.iou_thrs))
    with_tide = (
        tide is not None
        and tide['pos_thr'] == lowest
        and tide['bg_thr'] == DEFAULT_BACKGROUND
    )
    result = bootstrap(evaluation, **{'tide': with_tide, **asked})
    return interval_summary(result, class_names)
