"""Which classes are taken for which."""

import numpy as np

from mmdet_cppe5.core.arrays import BoolArray, IntArray
from mmdet_cppe5.core.evaluation import Evaluation
from mmdet_cppe5.core.matching import match
from mmdet_cppe5.core.pairs import Pairs


def confusion_matrix(
    evaluation: Evaluation, score_thr: float, iou_thr: float = 0.5
) -> IntArray:
    """Count what objects of each class were detected as.

    Objects and detections of one class are matched first, as for AP, so the
    diagonal holds AP's true positives. What is left is matched across classes
    the same way: by descending score, each detection takes the most similar
    object that is free. Ignored objects and detections are left out.

    Args:
        evaluation: Its first size range and its largest cap count.
        score_thr: Detections below it are left out.
        iou_thr: One of the evaluated thresholds.

    Returns:
        (K + 1, K + 1) counts. Row: the object's class, the last row for
        detections on no object. Column: the detection's class, the last
        column for objects without detection.

    Raises:
        ValueError: If the threshold was not evaluated.
    """
    gt, dt = evaluation.ground_truths, evaluation.detections
    decisions = evaluation.decisions(iou_thr)
    kept = dt.score >= score_thr
    hit = np.flatnonzero(decisions.true_positive & kept)
    free = ~decisions.gt_ignored
    free[decisions.matched_gt[hit]] = False
    stray = decisions.false_positive & kept
    taker, taken = _match_across(evaluation, stray, free, iou_thr)
    stray[taker], free[taken] = False, False

    size = gt.num_classes + 1
    nothing = np.full(len(gt) + len(dt), gt.num_classes)
    true = [
        gt.label[decisions.matched_gt[hit]],
        gt.label[taken],
        nothing[: stray.sum()],
        gt.label[free],
    ]
    found = [
        dt.label[hit],
        dt.label[taker],
        dt.label[stray],
        nothing[: free.sum()],
    ]
    cell = np.concatenate(true) * size + np.concatenate(found)
    counts: IntArray = np.bincount(cell, minlength=size * size)
    return counts.reshape(size, size)


def _match_across(
    evaluation: Evaluation, stray: BoolArray, free: BoolArray, iou_thr: float
) -> tuple[IntArray, IntArray]:
    """Match stray detections (N,) to free objects (G,) of other classes.

    Returns:
        Rows of the detections that found one, and of what they found.
    """
    gt, dt = evaluation.ground_truths, evaluation.detections
    parts = evaluation.pair_finder.other_class()
    dt_rows, gt_rows, similarity = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ('dt', 'gt', 'similarity')
    )
    use = np.flatnonzero(stray[dt_rows] & free[gt_rows])
    pairs = Pairs(dt_rows, gt_rows, similarity).only(use)
    rank = evaluation.ranking.score_rank[evaluation.ranking.place[pairs.dt]]
    pairs = pairs.only(np.lexsort((pairs.gt, rank, dt.image[pairs.dt])))
    matches = match(
        pairs,
        dt.image[pairs.dt],
        gt,
        np.array([iou_thr]),
        np.zeros((1, len(gt)), np.bool_),
        np.arange(len(dt)),
    )
    taken = matches.taken_pair(0, 0)
    found = taken >= 0
    return matches.dt[found], matches.pairs.gt[taken[found]]
