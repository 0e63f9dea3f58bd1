"""``evaluate``, ``compare`` and ``report``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Optional, Union

from mmdet_cppe5 import core
from mmdet_cppe5.api.inputs import (
    DetectionsLike,
    GroundTruthLike,
    to_ground_truth,
    to_results,
)
from mmdet_cppe5.api.results import ComparisonResult, EvaluationResult
from mmdet_cppe5.coco.box_form import form_notices
from mmdet_cppe5.coco.conversion import default_settings, to_core
from mmdet_cppe5.files import PathLike
from mmdet_cppe5.scores.assessment import Settings, assess
from mmdet_cppe5.scores.groups import distinct_names

#: Several detectors: by name, or in a list (named after their files).
Detectors = Union[Mapping[str, DetectionsLike], Sequence[DetectionsLike]]


def evaluate(
    ground_truth: GroundTruthLike,
    detections: DetectionsLike,
    *,
    iou_type: str = 'bbox',
    classes: Optional[Sequence[str]] = None,
    iou_thrs: Optional[Sequence[float]] = None,
    max_dets: Optional[Sequence[int]] = None,
    sigmas: Optional[Sequence[float]] = None,
) -> EvaluationResult:
    """Evaluate a detector: AP and AR as COCO defines them, and TIDE.

    The numbers are those of ``mmdet-cppe5 evaluate``: equal to pycocotools,
    in points, 0 to 100; boxes are x, y, width, height in absolute pixels.

    Args:
        ground_truth: a path, the dict of a COCO annotation file, or a
            pycocotools ``COCO``.
        detections: a path, a list of COCO results, an ``(N, 7)`` array of
            image id, x, y, width, height, score, category id, or a
            pycocotools ``COCO`` as ``loadRes`` returns it.
        iou_type: ``'bbox'``, ``'segm'`` or ``'keypoints'``.
        classes: evaluate these only, in this order; None means all.
        iou_thrs: IoU thresholds instead of COCO's ten.
        max_dets: caps on detections per image and class.
        sigmas: for keypoints, one per keypoint; None means COCO's 17.

    Raises:
        FileNotFoundError: if a file is missing.
        TypeError: if an argument is none of the above.
        ValueError: if something cannot be judged; the sentence says where.
    """
    truth = to_ground_truth(ground_truth, classes, iou_type != 'segm')
    results = to_results(detections, truth)
    problem = to_core(truth, results, iou_type, sigmas=sigmas)
    notices = [*truth.notices, *results.notices]
    if iou_type == 'bbox':
        notices += form_notices(truth, results, problem.detections.bbox)
    ranges, caps = default_settings(iou_type)
    settings = Settings(
        iou_thrs=iou_thrs,
        area_ranges=ranges,
        max_dets=max_dets or caps,
        tide={},
    )
    assessment = assess(
        problem.ground_truths,
        problem.detections,
        truth.class_names,
        settings,
        problem.similarity,
    )
    return EvaluationResult(assessment, tuple(notices))


def compare(
    ground_truth: GroundTruthLike,
    detectors: Detectors,
    *,
    metric: str = 'AP',
    classes: Optional[Sequence[str]] = None,
    **options: Any,
) -> ComparisonResult:
    """Tell which detectors differ significantly.

    Args:
        ground_truth: as for :func:`evaluate`.
        detectors: name -> detections, as for :func:`evaluate`; or a list.
        metric: the number to compare, such as ``'AP'`` or ``'dAP_Loc'``.
        classes: evaluate these only; None means all.
        **options: of :func:`mmdet_cppe5.core.compare`, such as
            ``num_resamples``, ``num_permutations``, ``seed``, ``alpha``.

    Raises:
        ValueError: if there are fewer than two detectors, or something
            cannot be judged.
    """
    truth = to_ground_truth(ground_truth, classes)
    evaluations = {}
    for name, found in _named(detectors).items():
        problem = to_core(truth, to_results(found, truth))
        evaluations[name] = core.evaluate(
            problem.ground_truths, problem.detections
        )
    comparison = core.compare(evaluations, metric, **options)
    return ComparisonResult(comparison, options.get('confidence', 0.95))


def report(
    ground_truth: GroundTruthLike,
    detectors: Union[DetectionsLike, Detectors],
    out: PathLike = 'report.html',
    *,
    images: Optional[PathLike] = None,
    title: Optional[str] = None,
    classes: Optional[Sequence[str]] = None,
    resamples: Optional[int] = None,
    seed: int = 0,
) -> Path:
    """Write the HTML report on one or more detectors.

    Args:
        ground_truth: as for :func:`evaluate`.
        detectors: detections of one detector, or name -> detections; the
            details are about the first.
        out: the page.
        images: folder of the photos; None draws boxes only.
        title: its heading; None makes one.
        classes: evaluate these only; None means all.
        resamples: for intervals and tests; 0 leaves both out, None takes
            1000, or fewer for more than 100,000 detections.
        seed: of the resampling.

    Returns:
        Where the page is.

    Raises:
        ImportError: if what reports need is not installed.
        ValueError: if something cannot be judged.
    """
    from mmdet_cppe5.reports.from_files import (
        ReportFiles,
        comparison_of,
        write_page,
    )
    from mmdet_cppe5.reports.report import Extras
    from mmdet_cppe5.reports.study import data_set, study

    truth = to_ground_truth(ground_truth, classes)
    data = data_set(truth, Path(truth.source).name)
    named = (
        _named(detectors)
        if isinstance(detectors, Mapping)
        else _named([detectors])
    )
    studies, notices = [], list(truth.notices)
    for name, found in named.items():
        results = to_results(found, truth)
        notices += results.notices
        judged = to_core(truth, results).detections
        # The others' intervals come out of the comparison.
        times = 0 if studies else resamples
        studies.append(study(name, data, judged, resamples=times, seed=seed))
    extras = Extras(
        title=title,
        images=images,
        comparison=comparison_of(studies, resamples, seed),
        notices=notices,
    )
    write_page(data, studies, extras, ReportFiles('', (), out))
    return Path(out)


def _named(detectors: Detectors) -> dict[str, DetectionsLike]:
    """Return the detectors by name."""
    if isinstance(detectors, Mapping):
        return dict(detectors)
    names = distinct_names(
        [
            str(each) if isinstance(each, (str, Path)) else f'detector {n}'
            for n, each in enumerate(detectors, 1)
        ]
    )
    return dict(zip(names, detectors))
