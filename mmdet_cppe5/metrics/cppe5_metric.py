"""COCO's evaluation of CPPE-5 as an MMDetection metric."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Optional, Union

from mmdet.registry import METRICS
from mmengine.evaluator import BaseMetric
from mmengine.logging import print_log

from mmdet_cppe5.annotation_file import (
    AnnotationFile,
    read_annotation_file,
)
from mmdet_cppe5.coco import (
    CocoGroundTruth,
    parse_categories,
    parse_ground_truth,
    parse_results,
)
from mmdet_cppe5.coco.conversion import (
    AREA_SOURCES,
    Problem,
    check_choice,
    ground_truths,
    to_core,
)
from mmdet_cppe5.coco.masks import check_masks
from mmdet_cppe5.core import AREA_RANGES, MAX_DETS, BoxIoU
from mmdet_cppe5.files import write_json
from mmdet_cppe5.metrics.coco_arguments import caps, iou_types
from mmdet_cppe5.metrics.sample_metric import SampleMetric
from mmdet_cppe5.samples import (
    SampleDetections,
    detections_of_results,
    instances_to_coco,
    read_sample,
    result_entries,
    segm_entries,
)
from mmdet_cppe5.scores.assessment import (
    ENGINES,
    Settings,
    as_arguments,
    assess,
)
from mmdet_cppe5.scores.documents import (
    describe_file,
    describe_settings,
    evaluation_document,
)
from mmdet_cppe5.scores.formats import write_parts
from mmdet_cppe5.scores.summary import flat_scores
from mmdet_cppe5.scores.tables import assessment_parts

_ENTRIES = {'bbox': result_entries, 'segm': segm_entries}


@METRICS.register_module()
class CPPE5Metric(SampleMetric[SampleDetections]):
    """AP, AR, TIDE and intervals of boxes and masks, as COCO defines them.

    Works with any data set whose ``metainfo`` names its classes. Scores are
    points, 0 to 100, at full precision, under keys such as
    ``cppe5/AP``, ``AP50``, ``AP75``, ``APs``, ``APm``, ``APl``, ``AR1``,
    ``AR10``, ``AR100``, ``ARs``, ``ARm``, ``ARl`` and ``AP_<class>``,
    ``AP50_<class>``, ... ``AP`` is the mean over the classes that have
    ground truth. What has no ground truth is undefined and left out (``null``
    in the JSON, a dash in the log); without any detection scores are 0.

    Args:
        ann_file: COCO annotation file with the ground truth. None takes it
            from the ``instances`` of the data samples.
        metric: ``'bbox'``, ``'segm'`` or a list of both. With ``'segm'``,
            the masks in ``pred_instances`` are scored under ``segm_AP``,
            ``segm_AP50``, ...
        iou_thrs: IoU thresholds instead of COCO's 0.5, 0.55, ..., 0.95; each
            is then a score of its own, such as ``AP80``.
        max_dets: caps on detections per image and class. AP is taken at the
            largest; if that is not 100, also under ``AP@<cap>``. Recall is
            ``AR<cap>`` for each.
        area_ranges: name -> (low, high) in square pixels, both included;
            None means COCO's small, medium and large.
        area_source: what decides an object's size range: its
            ``'annotation'``'s area, or ``'bbox'``, its width × height.
        engine: ``'core'``, or ``'pycocotools'`` to audit it: the same keys.
        tide: True, or ``dict(pos_thr=0.5, bg_thr=0.1)``, for
            ``dAP_Cls``, ``dAP_Loc``, ``dAP_Both``, ``dAP_Dupe``,
            ``dAP_Bkg``, ``dAP_Miss``, ``dAP_FalsePos``, ``dAP_FalseNeg``.
        ci: True, or arguments of :func:`mmdet_cppe5.core.bootstrap` such as
            ``dict(num_resamples=1000, seed=0)``, for ``AP_ci_low``,
            ``AP_ci_high``, ``AP_<class>_ci_low``, ...
        format_only: only write the results; needs ``outfile_prefix``.
        outfile_prefix: writes ``<prefix>.bbox.json``, the detections in
            COCO's result form at original image coordinates, and
            ``<prefix>.scores.json``, the scores with settings and versions
            (:func:`mmdet_cppe5.scores.documents.evaluation_document`). Masks
            go to ``<prefix>.segm.json`` and ``<prefix>.segm.scores.json``.
        collect_device: as in ``BaseMetric``.
        prefix: as in ``BaseMetric``.
        collect_dir: as in ``BaseMetric``.
        backend_args: how MMEngine fetches an ``ann_file`` that does not lie
            on the disk, as for the data set.
        **coco_arguments: what MMDetection's CocoMetric takes as well:
            ``proposal_nums`` is its name for ``max_dets``; ``classwise``,
            ``sort_categories`` and ``use_mp_eval`` change nothing.

    Raises:
        FileNotFoundError: if there is no ``ann_file``.
        TypeError: if an argument is neither ours nor one of those.
        ValueError: if a setting is none of its choices, or a result cannot
            be judged; the sentence names the image id.
    """

    default_prefix = 'cppe5'

    def __init__(
        self,
        ann_file: Optional[str] = None,
        *,
        metric: Union[str, Sequence[str]] = 'bbox',
        iou_thrs: Union[float, Sequence[float], None] = None,
        max_dets: Sequence[int] = MAX_DETS,
        area_ranges: Optional[Mapping[str, Sequence[float]]] = None,
        area_source: str = 'annotation',
        engine: str = 'core',
        tide: Union[bool, Mapping[str, float]] = False,
        ci: Union[bool, Mapping[str, Any]] = False,
        format_only: bool = False,
        outfile_prefix: Optional[str] = None,
        collect_device: str = 'cpu',
        prefix: Optional[str] = None,
        collect_dir: Optional[str] = None,
        backend_args: Optional[Mapping[str, Any]] = None,
        **coco_arguments: Any,
    ) -> None:
        super().__init__(collect_device, prefix, collect_dir)
        check_choice('area_source', area_source, AREA_SOURCES)
        check_choice('engine', engine, ENGINES)
        if format_only and outfile_prefix is None:
            raise ValueError(
                'Expected `outfile_prefix` to say where the results go, '
                'since `format_only` is True, but it is None.'
            )
        self.ann_file = ann_file
        self.backend_args = backend_args
        self.iou_types = iou_types(metric)
        if engine == 'pycocotools' and 'segm' in self.iou_types:
            raise ValueError(
                "Expected engine='core' for masks, but got 'pycocotools', "
                'which audits boxes.'
            )
        self.area_source = area_source
        self.format_only = format_only
        self.outfile_prefix = outfile_prefix
        self.settings = Settings(
            iou_thrs=iou_thrs,
            area_ranges=AREA_RANGES if area_ranges is None else area_ranges,
            max_dets=caps(max_dets, coco_arguments),
            tide=as_arguments(tide),
            ci=as_arguments(ci),
            engine=engine,
        )
        self._file: Optional[AnnotationFile] = None
        self._truth: Optional[CocoGroundTruth] = None

    @BaseMetric.dataset_meta.setter
    def dataset_meta(self, dataset_meta: Mapping[str, Any]) -> None:
        """Set the meta information, and check ``ann_file`` against it.

        A loop does this when it is built, so that a wrong path or class
        name ends a training before it begins.
        """
        BaseMetric.dataset_meta.fset(self, dataset_meta)
        self._file = self._truth = None
        if self.ann_file is None:
            return
        self._file = read_annotation_file(
            self.ann_file, self.backend_args, not self.format_only
        )
        if not self.format_only:
            self._truth = parse_ground_truth(
                self._file.data,
                self._file.path,
                self.class_names,
                need_boxes='bbox' in self.iou_types,
            )
            if 'segm' in self.iou_types:
                check_masks(self._truth)
            self._warn(self._truth.notices)

    def keep(self, sample: Mapping[str, Any]) -> SampleDetections:
        """Return boxes, and masks and ``instances`` where they are needed."""
        instances = self.ann_file is None and not self.format_only
        return read_sample(
            sample, self.class_names, instances, 'segm' in self.iou_types
        )

    def score(self, results: Sequence[SampleDetections]) -> dict[str, float]:
        """Evaluate and write; no score with ``format_only``."""
        if self.outfile_prefix is not None:
            self._write_results(results)
        if self.format_only:
            return {}
        truth = self._ground_truth(results)
        self._warn(_oddities(truth, results))
        scores: dict[str, float] = {}
        for iou_type in self.iou_types:
            problem = self._problem(results, truth, iou_type)
            summary = self._assess(problem, truth.class_names, iou_type)
            start = '' if iou_type == 'bbox' else f'{iou_type}_'
            named = flat_scores(summary).items()
            scores.update({f'{start}{key}': value for key, value in named})
        return scores

    def _problem(
        self,
        results: Sequence[SampleDetections],
        truth: CocoGroundTruth,
        iou_type: str,
    ) -> Problem:
        """Hand boxes or masks over to the core."""
        if iou_type == 'segm':
            entries = segm_entries(results, truth.category_ids)
            rows = parse_results(entries, 'the predictions', truth)
            return to_core(truth, rows, iou_type, area_source=self.area_source)
        objects = ground_truths(truth, self.area_source)
        detections = detections_of_results(results, truth)
        return Problem(objects, detections, BoxIoU(objects, detections))

    def _assess(
        self, problem: Problem, class_names: Sequence[str], iou_type: str
    ) -> Mapping[str, Any]:
        """Evaluate one kind of overlap, log its table, write its scores."""
        assessment = assess(
            problem.ground_truths,
            problem.detections,
            class_names,
            self.settings,
            problem.similarity,
        )
        title = {'bbox': '', 'segm': 'Masks:\n'}[iou_type]
        tables = write_parts(assessment_parts(assessment))
        print_log(f'\n{title}{tables}', logger='current')
        if self.outfile_prefix is not None:
            self._write_scores(assessment.summary, iou_type)
        return assessment.summary

    def _ground_truth(
        self, results: Sequence[SampleDetections]
    ) -> CocoGroundTruth:
        if self._truth is not None:
            return self._truth
        data = instances_to_coco(
            results, self.class_names, self.area_source == 'annotation'
        )
        truth = parse_ground_truth(data, 'the data samples', self.class_names)
        self._warn(truth.notices)
        return truth

    def _write_results(self, results: Sequence[SampleDetections]) -> None:
        classes = self.class_names
        category_ids: Sequence[Any] = range(1, len(classes) + 1)
        if self._file is not None:
            _, category_ids = parse_categories(
                self._file.data, self._file.path, classes
            )
        for iou_type in self.iou_types:
            path = Path(f'{self.outfile_prefix}.{iou_type}.json')
            write_json(path, _ENTRIES[iou_type](results, category_ids))
            print_log(f'Wrote the detections to {path}.', logger='current')

    def _write_scores(self, summary: Mapping[str, Any], iou_type: str) -> None:
        file, results = self._file, f'{self.outfile_prefix}.{iou_type}.json'
        inputs = {
            'ground_truth': file
            and {'path': file.path, 'sha256': file.sha256},
            'results': describe_file(results),
        }
        settings = describe_settings(
            self.settings,
            iou_type=iou_type,
            classes=list(self.class_names),
            area_source=self.area_source,
        )
        document = evaluation_document(summary, inputs, settings, [])
        middle = '' if iou_type == 'bbox' else f'.{iou_type}'
        path = f'{self.outfile_prefix}{middle}.scores.json'
        write_json(path, document, 1)

    def _warn(self, sentences: Sequence[str]) -> None:
        for sentence in sentences:
            print_log(f'CPPE5Metric: {sentence}', 'current', logging.WARNING)


def _oddities(
    truth: CocoGroundTruth, results: Sequence[SampleDetections]
) -> list[str]:
    """Say what a score should not be read without."""
    sentences = []
    if not any(len(result.scores) for result in results):
        sentences.append('there is not a single detection; scores are 0.')
    unseen = len(truth.image_ids) - len(results)
    if unseen > 0:
        sentences.append(
            f'{unseen} of the {len(truth.image_ids)} images of '
            f'{truth.source} were not tested; their objects count as missed.'
        )
    return sentences
