"""DeepFashion2's detection, segmentation and landmark scores from files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Optional

import numpy as np

from mmdet_cppe5.coco import (
    CocoGroundTruth,
    CocoResults,
    parse_ground_truth,
)
from mmdet_cppe5.coco.conversion import (
    Problem,
    check_choice,
    default_settings,
    to_core,
)
from mmdet_cppe5.coco.loading import load_ground_truth_json
from mmdet_cppe5.deepfashion2.categories import category_named
from mmdet_cppe5.deepfashion2.class_names import with_class_names
from mmdet_cppe5.deepfashion2.landmark_problem import (
    detected_landmarks,
    landmark_problem,
)
from mmdet_cppe5.deepfashion2.landmarks import visible_only
from mmdet_cppe5.deepfashion2.subsets import (
    SUBSETS,
    attribute_values,
    restrict,
)
from mmdet_cppe5.files import PathLike
from mmdet_cppe5.scores.assessment import Assessment, Settings, assess
from mmdet_cppe5.scores.summary import points

TASKS = ('bbox', 'segm', 'keypoints')


def read_truth(
    path: PathLike,
    classes: Optional[Sequence[str]] = None,
    only_visible: bool = False,
    need_boxes: bool = True,
) -> CocoGroundTruth:
    """Read a COCO-style annotation file of DeepFashion2.

    Args:
        path: the file, with either of the two sets of category names.
        classes: class names in label order, of either set; None takes the
            file's categories by ascending id.
        only_visible: leave occluded landmarks out (see
            :func:`mmdet_cppe5.deepfashion2.landmarks.visible_only`).
        need_boxes: as for :func:`mmdet_cppe5.coco.read_ground_truth`.

    Raises:
        FileNotFoundError: if there is no such file.
        KeyError: if a class is none of DeepFashion2's.
        ValueError: if it is not such a file.
    """
    if classes is not None:
        classes = [category_named(name).name for name in classes]
    coco = with_class_names(load_ground_truth_json(path), str(path))
    if only_visible:
        coco = visible_only(coco, str(path))
    return parse_ground_truth(coco, str(path), classes, need_boxes)


def task_problem(
    truth: CocoGroundTruth,
    results: CocoResults,
    task: str,
    as_reference: bool = False,
) -> Problem:
    """Hand the records of one task over to the evaluation core.

    Args:
        truth: the annotations.
        results: detections in the task's official form, read against them.
        task: ``'bbox'``, ``'segm'`` or ``'keypoints'``.
        as_reference: treat items without labelled landmarks as the
            reference code does (see
            :func:`~mmdet_cppe5.deepfashion2.landmark_problem.landmark_problem`).

    Raises:
        ValueError: if the task is unknown, or a record lacks what it needs.
    """
    check_choice('task', task, TASKS)
    if task != 'segm' and np.isnan(truth.boxes).any():
        truth.records.boxes()  # says which item has none
    if task == 'keypoints':
        found = detected_landmarks(results)
        return landmark_problem(truth, found, as_reference)
    return to_core(truth, results, task)


def task_settings(
    task: str,
    tide: Optional[Mapping[str, float]] = None,
    ci: Optional[Mapping[str, Any]] = None,
) -> Settings:
    """Return how DeepFashion2 evaluates a task, which is as COCO does.

    Boxes and masks: at most 100 detections per image and class. Landmarks:
    at most 20, and no small size range.

    Args:
        task: ``'bbox'``, ``'segm'`` or ``'keypoints'``.
        tide: as for :class:`mmdet_cppe5.scores.assessment.Settings`.
        ci: likewise.
    """
    ranges, caps = default_settings(task)
    return Settings(area_ranges=ranges, max_dets=caps, tide=tide, ci=ci)


def assess_task(
    truth: CocoGroundTruth,
    problem: Problem,
    task: str,
    settings: Optional[Settings] = None,
    subsets: Sequence[str] = (),
) -> tuple[dict[str, Any], Assessment]:
    """Evaluate one task.

    Args:
        truth: the annotations.
        problem: what :func:`task_problem` made of them.
        task: ``'bbox'``, ``'segm'`` or ``'keypoints'``.
        settings: None means those of :func:`task_settings`.
        subsets: attributes by whose values scores are given as well (see
            :mod:`~mmdet_cppe5.deepfashion2.subsets`).

    Returns:
        The summary (see :mod:`mmdet_cppe5.scores.summary`; points, 0 to
        100), for landmarks with the ``AR50`` and ``AR75`` of COCO's ten
        numbers, and with ``subsets`` where asked for: attribute -> value ->
        ``items``, ``AP``, ``AP50``, ``AP75``; and the assessment behind it.

    Raises:
        ValueError: if an annotation lacks an attribute.
    """
    if settings is None:
        settings = task_settings(task)
    assessment = assess(
        problem.ground_truths,
        problem.detections,
        truth.class_names,
        settings,
        problem.similarity,
    )
    summary = {**assessment.summary}
    if task == 'keypoints':
        summary['overall'] = {**summary['overall']}
        for percent in (50, 75):
            recall = assessment.scores.ar(iou_thr=percent / 100)
            summary['overall'][f'AR{percent}'] = points(recall)
    if subsets:
        plain = replace(settings, area_ranges={}, tide=None, ci=None)
        summary['subsets'] = {
            name: _by_value(truth, problem, name, plain) for name in subsets
        }
    return summary, assessment


def _by_value(
    truth: CocoGroundTruth, problem: Problem, attribute: str, plain: Settings
) -> dict[str, dict[str, Any]]:
    """Evaluate the items of each value of one attribute."""
    values = attribute_values(truth, attribute)
    table = {}
    for value, name in enumerate(SUBSETS[attribute], 1):
        objects = restrict(problem.ground_truths, values == value)
        assessment = assess(
            objects,
            problem.detections,
            truth.class_names,
            plain,
            problem.similarity,
        )
        overall = assessment.summary['overall']
        table[name] = {
            'items': int((~objects.ignore).sum()),
            **{key: overall[key] for key in ('AP', 'AP50', 'AP75')},
        }
    return table
