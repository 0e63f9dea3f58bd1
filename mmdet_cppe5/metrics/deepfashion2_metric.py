"""DeepFashion2's boxes, masks and landmarks as an MMDetection metric."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

from mmdet.registry import METRICS
from mmengine.evaluator import BaseMetric
from mmengine.logging import print_log

from mmdet_cppe5.coco import CocoGroundTruth, parse_results
from mmdet_cppe5.coco.conversion import (
    Problem,
    check_choice,
    ground_truths,
    to_core,
)
from mmdet_cppe5.coco.masks import check_masks
from mmdet_cppe5.core import BoxIoU
from mmdet_cppe5.deepfashion2.evaluation import (
    TASKS,
    assess_task,
    read_truth,
    task_settings,
)
from mmdet_cppe5.deepfashion2.landmark_problem import landmark_problem
from mmdet_cppe5.deepfashion2.subsets import SUBSETS, flat_subsets
from mmdet_cppe5.files import write_json
from mmdet_cppe5.metrics.deepfashion2_samples import (
    FashionDetections,
    keypoint_entries,
    landmarks_of_results,
    read_fashion_sample,
)
from mmdet_cppe5.metrics.sample_metric import SampleMetric
from mmdet_cppe5.samples import (
    detections_of_results,
    result_entries,
    segm_entries,
)
from mmdet_cppe5.scores.assessment import Settings, as_arguments
from mmdet_cppe5.scores.documents import (
    describe_file,
    describe_settings,
    evaluation_document,
)
from mmdet_cppe5.scores.formats import write_parts
from mmdet_cppe5.scores.summary import flat_scores
from mmdet_cppe5.scores.tables import assessment_parts

_ENTRIES = {
    'bbox': result_entries,
    'segm': segm_entries,
    'keypoints': keypoint_entries,
}


@METRICS.register_module()
class DeepFashion2Metric(SampleMetric[FashionDetections]):
    """AP and AR of DeepFashion2's detection, segmentation and landmarks.

    Scores are points, 0 to 100, under keys such as ``deepfashion2/bbox_AP``,
    ``segm_AP50``, ``keypoints_AP75``, ``bbox_AP_trousers`` or
    ``bbox_AP_scale_small``; what has no ground truth is left out. See
    :func:`mmdet_cppe5.deepfashion2.evaluation.assess_task` for the rules.

    Args:
        ann_file: COCO-style annotation file, from this package's converter
            or the data set's own.
        tasks: some of ``'bbox'``, ``'segm'`` (needs
            ``pred_instances.masks``) and ``'keypoints'`` (needs
            ``pred_instances.keypoints``, ``(n, 294, 2 or more)`` x, y in
            pixels of the original image).
        only_visible: leave occluded landmarks out ("vis" in the data set's
            tables; else "vis && hide").
        as_reference: treat items without labelled landmarks as the
            reference code does.
        subsets: attributes among ``scale``, ``occlusion``, ``zoom_in``,
            ``viewpoint`` by whose values AP, AP50, AP75 are given as well.
        tide: True, or ``dict(pos_thr=0.5, bg_thr=0.1)``, as for
            ``CPPE5Metric``.
        ci: True, or arguments of :func:`mmdet_cppe5.core.bootstrap`.
        outfile_prefix: writes the results of each task in its official form
            to ``<prefix>.<task>.json``, the scores with settings, versions
            and digests to ``<prefix>.<task>.scores.json``.
        collect_device: as in ``BaseMetric``.
        prefix: as in ``BaseMetric``.
        collect_dir: as in ``BaseMetric``.

    Raises:
        FileNotFoundError: if there is no ``ann_file``.
        ValueError: if a setting is none of its choices, or a result cannot
            be judged.
    """

    default_prefix = 'deepfashion2'

    def __init__(
        self,
        ann_file: str,
        tasks: Sequence[str] = ('bbox',),
        *,
        only_visible: bool = False,
        as_reference: bool = False,
        subsets: Sequence[str] = (),
        tide: Union[bool, Mapping[str, float]] = False,
        ci: Union[bool, Mapping[str, Any]] = False,
        outfile_prefix: Optional[str] = None,
        collect_device: str = 'cpu',
        prefix: Optional[str] = None,
        collect_dir: Optional[str] = None,
    ) -> None:
        super().__init__(collect_device, prefix, collect_dir)
        self.tasks = (tasks,) if isinstance(tasks, str) else tuple(tasks)
        for task in self.tasks:
            check_choice('tasks', task, TASKS)
        for attribute in subsets:
            check_choice('subsets', attribute, list(SUBSETS))
        self.ann_file = ann_file
        self.only_visible = only_visible
        self.as_reference = as_reference
        self.outfile_prefix = outfile_prefix
        self.subsets = tuple(subsets)
        self.tide = as_arguments(tide)
        self.ci = as_arguments(ci)
        self._truth: Optional[CocoGroundTruth] = None

    @BaseMetric.dataset_meta.setter
    def dataset_meta(self, dataset_meta: Mapping[str, Any]) -> None:
        """Set the meta information, and read ``ann_file`` against it.

        A loop does this when it is built, so that a wrong path or class
        name ends a training before it begins.
        """
        BaseMetric.dataset_meta.fset(self, dataset_meta)
        self._truth = read_truth(
            self.ann_file,
            self.class_names,
            self.only_visible,
            need_boxes=self.tasks != ('segm',),
        )
        if 'segm' in self.tasks:
            check_masks(self._truth)
        for notice in self._truth.notices:
            text = f'DeepFashion2Metric: {notice}'
            print_log(text, 'current', logging.WARNING)

    def keep(self, sample: Mapping[str, Any]) -> FashionDetections:
        """Return boxes, and the masks and landmarks that the tasks need."""
        return read_fashion_sample(sample, self.class_names, self.tasks)

    def score(self, results: Sequence[FashionDetections]) -> dict[str, float]:
        """Evaluate each task; its name begins the names of its scores."""
        scores: dict[str, float] = {}
        for task in self.tasks:
            summary = self._assess(results, task)
            named = {**flat_scores(summary), **flat_subsets(summary)}
            scores.update({f'{task}_{k}': v for k, v in named.items()})
        return scores

    def _assess(
        self, results: Sequence[FashionDetections], task: str
    ) -> dict[str, Any]:
        """Evaluate one task, log its tables, write its files."""
        truth = self._truth
        problem = self._problem(results, task)
        settings = task_settings(task, self.tide, self.ci)
        summary, assessment = assess_task(
            truth, problem, task, settings, self.subsets
        )
        tables = write_parts(assessment_parts(assessment))
        print_log(f'\nDeepFashion2 {task}:\n{tables}', logger='current')
        if self.outfile_prefix is not None:
            entries = _ENTRIES[task](results, truth.category_ids)
            write_json(f'{self.outfile_prefix}.{task}.json', entries)
            self._write_scores(summary, task, settings)
        return summary

    def _write_scores(
        self, summary: Mapping[str, Any], task: str, settings: Settings
    ) -> None:
        results = f'{self.outfile_prefix}.{task}.json'
        document = evaluation_document(
            summary,
            {
                'ground_truth': describe_file(self.ann_file),
                'results': describe_file(results),
            },
            describe_settings(
                settings,
                task=task,
                visible_only=self.only_visible,
                as_reference=self.as_reference,
            ),
            [],
        )
        write_json(f'{self.outfile_prefix}.{task}.scores.json', document, 1)

    def _problem(
        self, results: Sequence[FashionDetections], task: str
    ) -> Problem:
        """Hand one task's results over to the core."""
        truth = self._truth
        if task == 'keypoints':
            found = landmarks_of_results(results, truth)
            return landmark_problem(truth, found, self.as_reference)
        if task == 'segm':
            entries = segm_entries(results, truth.category_ids)
            rows = parse_results(entries, 'the predictions', truth)
            return to_core(truth, rows, task)
        objects = ground_truths(truth)
        detections = detections_of_results(results, truth)
        return Problem(objects, detections, BoxIoU(objects, detections))
