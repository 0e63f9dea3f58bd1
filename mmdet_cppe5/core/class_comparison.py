"""On which classes detectors differ.

A class's average precision is that of its own objects and detections alone,
so each class is compared as a problem of its own, in the way of
:mod:`mmdet_cppe5.core.comparison`. All classes and pairs together are one
family for Holm's correction: more classes are more chances to err.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Optional

import numpy as np

from mmdet_cppe5.core.arrays import (
    Detections,
    FloatArray,
    GroundTruths,
    IntArray,
)
from mmdet_cppe5.core.compared_number import as_before
from mmdet_cppe5.core.comparison import PairedDifference, compare, holm
from mmdet_cppe5.core.evaluation import Evaluation, evaluate


def compare_classes(
    evaluations: Mapping[str, Evaluation],
    metric: str = 'AP',
    *,
    num_resamples: Optional[int] = None,
    num_permutations: int = 10000,
    seed: int = 0,
    confidence: float = 0.95,
    alpha: float = 0.05,
) -> tuple[tuple[PairedDifference, ...], ...]:
    """Compare two or more detectors on every class.

    Args:
        evaluations: As in :func:`~mmdet_cppe5.core.comparison.compare`, as
            are the settings.
        metric: ``'AP'``, ``'AP50'``, ..., not TIDE's, whose errors involve
            several classes.
        num_resamples: Balanced resamples behind the intervals.
        num_permutations: Most random exchanges for the test of a pair.
        seed: Seed of the random generator.
        confidence: Coverage of the intervals.
        alpha: Error rate over all classes and pairs together.

    Returns:
        (K,) every class's pairs, ``first`` being the better one on it.
        ``p_adjusted`` and ``significant`` are over all classes and pairs. A
        class without objects has NaN.

    Raises:
        ValueError: As in :func:`~mmdet_cppe5.core.comparison.compare`, and
            for a number of TIDE.
    """
    if metric.startswith('dAP_'):
        raise ValueError(
            f'Expected an average precision to compare by class, but got '
            f'{metric}, whose errors involve several classes.'
        )
    num_classes = next(iter(evaluations.values())).ground_truths.num_classes
    by_class = [
        compare(
            {
                name: of_class(evaluation, label)
                for name, evaluation in evaluations.items()
            },
            metric,
            num_resamples=num_resamples,
            num_permutations=num_permutations,
            seed=seed,
            confidence=confidence,
            alpha=alpha,
        ).pairs
        for label in range(num_classes)
    ]
    p_values = np.array([pair.p_value for pairs in by_class for pair in pairs])
    adjusted = iter(holm(p_values).tolist())
    return tuple(
        tuple(_adjusted(pair, next(adjusted), alpha) for pair in pairs)
        for pairs in by_class
    )


def of_class(evaluation: Evaluation, label: int) -> Evaluation:
    """The evaluation of one class; its AP is the class's AP.

    The other classes are still counted, but have neither objects nor
    detections.
    """
    objects, found = evaluation.ground_truths, evaluation.detections
    gt_rows = np.flatnonzero(objects.label == label)
    dt_rows = np.flatnonzero(found.label == label)
    world = {
        'num_images': objects.num_images,
        'num_classes': objects.num_classes,
    }
    whole = as_before(evaluation, 'AP')

    def similarity(dt: IntArray, gt: IntArray) -> FloatArray:
        return whole(dt_rows[dt], gt_rows[gt])

    return evaluate(
        GroundTruths(
            objects.image[gt_rows],
            objects.label[gt_rows],
            objects.bbox[gt_rows],
            area=objects.area[gt_rows],
            crowd=objects.crowd[gt_rows],
            ignore=objects.ignore[gt_rows],
            **world,
        ),
        Detections(
            found.image[dt_rows],
            found.label[dt_rows],
            found.bbox[dt_rows],
            found.score[dt_rows],
            area=found.area[dt_rows],
            **world,
        ),
        similarity=similarity,
        iou_thrs=evaluation.iou_thrs.tolist(),
        area_ranges=evaluation.area_ranges,
        max_dets=evaluation.max_dets,
    )


def _adjusted(
    pair: PairedDifference, p_value: float, alpha: float
) -> PairedDifference:
    return replace(
        pair, p_adjusted=p_value, significant=bool(p_value <= alpha)
    )
