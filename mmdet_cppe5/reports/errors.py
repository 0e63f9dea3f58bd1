"""Each error of a detector: its detection, its object, its image."""

from __future__ import annotations

from typing import Optional

import numpy as np

from mmdet_cppe5.core import MAIN_ERRORS
from mmdet_cppe5.reports.framing import box_iou
from mmdet_cppe5.reports.study import DataSet, Study

#: Rows of a detection and of an object; None for none.
Pair = tuple[Optional[int], Optional[int]]


def error_pairs(data: DataSet, study: Study, kind: str) -> list[Pair]:
    """Return all errors of a kind, worst first.

    Args:
        data: the data set.
        study: the detector.
        kind: one of :data:`mmdet_cppe5.core.MAIN_ERRORS`, or ``'Label'`` for
            detections that put an annotation in doubt.
    """
    tide, found = study.tide, study.evaluation.detections
    if kind == 'Miss':
        rows = np.flatnonzero(tide.missed)
        rows = rows[np.argsort(-data.ground_truths.area[rows], kind='stable')]
        return [(None, int(row)) for row in rows]
    if kind == 'Label':
        rows = suspicious(study)
    else:
        rows = np.flatnonzero(tide.error == MAIN_ERRORS.index(kind))
    rows = rows[np.argsort(-found.score[rows], kind='stable')]
    return [
        (
            int(row),
            int(tide.error_gt[row]) if tide.error_gt[row] >= 0 else None,
        )
        for row in rows
    ]


def suspicious(study: Study) -> np.ndarray:
    """Return wrong detections that score higher than nine in ten hits."""
    tide, found = study.tide, study.evaluation.detections
    hits = found.score[study.decisions.true_positive]
    if not len(hits):
        return np.zeros(0, int)
    kinds = [MAIN_ERRORS.index(kind) for kind in ('Cls', 'Bkg')]
    return np.flatnonzero(
        np.isin(tide.error, kinds) & (found.score >= np.quantile(hits, 0.9))
    )


def image_of(data: DataSet, study: Study, pair: Pair) -> int:
    """Return the position of an error's image."""
    det, gt = pair
    if det is None:
        return int(data.ground_truths.image[gt])
    return int(study.evaluation.detections.image[det])


def nearest_object(
    data: DataSet, study: Study, pair: Pair
) -> tuple[Optional[int], float]:
    """Return the object an error is about, and its overlap.

    Where the error names none, it is the one the detection overlaps most.
    """
    det, gt = pair
    truth = data.ground_truths
    if det is None:
        return gt, float('nan')
    box = study.evaluation.detections.bbox[det]
    image = image_of(data, study, pair)
    rows = data.rows_by_image[image] if gt is None else [gt]
    if not len(rows):
        return None, 0.0
    overlaps = box_iou(box, truth.bbox[rows])
    best = int(np.argmax(overlaps))
    return int(rows[best]), float(overlaps[best])
