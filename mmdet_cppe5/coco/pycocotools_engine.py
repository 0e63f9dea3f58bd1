"""The same arrays through pycocotools itself, to audit the core's numbers."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union

import numpy as np

from mmdet_cppe5.core import (
    AREA_RANGES,
    IOU_THRS,
    MAX_DETS,
    Detections,
    GroundTruths,
)


@dataclass(frozen=True, eq=False)
class PycocotoolsScores:
    """What pycocotools accumulated; fractions 0..1, NaN for undefined.

    Axes: T thresholds, R recall levels, K classes, A size ranges, M caps.

    Attributes:
        iou_thrs: ``(T,)`` thresholds.
        area_ranges: name -> (low, high) in square pixels.
        max_dets: ``(M,)`` caps, ascending.
        precision: ``(T, R, K, A, M)``.
        recall: ``(T, K, A, M)``.
    """

    iou_thrs: np.ndarray
    area_ranges: Mapping[str, tuple[float, float]]
    max_dets: tuple[int, ...]
    precision: np.ndarray
    recall: np.ndarray

    def ap(
        self,
        iou_thr: Optional[float] = None,
        area: str = 'all',
        label: Optional[int] = None,
    ) -> float:
        """Return average precision at the largest cap."""
        values = self.precision[:, :, :, self._area(area), -1]
        return _mean(self._pick(values, iou_thr, label))

    def ar(
        self,
        max_det: Optional[int] = None,
        iou_thr: Optional[float] = None,
        area: str = 'all',
        label: Optional[int] = None,
    ) -> float:
        """Return average recall at one cap, the largest if None."""
        cap = -1 if max_det is None else self.max_dets.index(max_det)
        values = self.recall[:, :, self._area(area), cap]
        return _mean(self._pick(values, iou_thr, label))

    def _area(self, name: str) -> int:
        return list(self.area_ranges).index(name)

    def _pick(
        self,
        values: np.ndarray,
        iou_thr: Optional[float],
        label: Optional[int],
    ) -> np.ndarray:
        if iou_thr is not None:
            row = int(np.argmin(abs(self.iou_thrs - iou_thr)))
            values = values[row : row + 1]
        return values if label is None else values[..., label]


def evaluate_with_pycocotools(
    ground_truths: GroundTruths,
    detections: Detections,
    *,
    iou_thrs: Sequence[float] = IOU_THRS,
    area_ranges: Mapping[str, tuple[float, float]] = AREA_RANGES,
    max_dets: Sequence[int] = MAX_DETS,
) -> PycocotoolsScores:
    """Run ``COCOeval`` on boxes.

    Args:
        ground_truths: the objects.
        detections: what was found.
        iou_thrs: IoU thresholds.
        area_ranges: name -> (low, high) in square pixels.
        max_dets: caps per image and class.
    """
    from pycocotools.cocoeval import COCOeval

    with contextlib.redirect_stdout(io.StringIO()):
        evaluator = COCOeval(
            _coco(ground_truths, iscrowd=ground_truths.crowd.astype(int)),
            _coco(detections, score=detections.score),
            'bbox',
        )
        params = evaluator.params
        params.iouThrs = np.asarray(iou_thrs, dtype=np.float64)
        params.maxDets = sorted(max_dets)
        params.areaRng = [list(edges) for edges in area_ranges.values()]
        params.areaRngLbl = list(area_ranges)
        evaluator.evaluate()
        evaluator.accumulate()
    return PycocotoolsScores(
        iou_thrs=params.iouThrs,
        area_ranges=dict(area_ranges),
        max_dets=tuple(params.maxDets),
        precision=_undefined(evaluator.eval['precision']),
        recall=_undefined(evaluator.eval['recall']),
    )


def _coco(rows: Union[GroundTruths, Detections], **more: np.ndarray) -> Any:
    """Return objects or detections as pycocotools' data set.

    Args:
        rows: n boxes with their images, classes and areas.
        **more: other fields of each, ``(n,)``.
    """
    from pycocotools.coco import COCO

    columns = {
        'image_id': rows.image,
        'category_id': rows.label,
        'bbox': rows.bbox,
        'area': rows.area,
        **more,
    }
    values = zip(*(column.tolist() for column in columns.values()))
    coco = COCO()
    coco.dataset = {
        'images': [{'id': index} for index in range(rows.num_images)],
        'categories': [{'id': label} for label in range(rows.num_classes)],
        # Ids start at 1: pycocotools takes a match with id 0 for none.
        'annotations': [
            {'id': number, **dict(zip(columns, row))}
            for number, row in enumerate(values, 1)
        ],
    }
    coco.createIndex()
    return coco


def _undefined(values: np.ndarray) -> np.ndarray:
    return np.where(values < 0, np.nan, values)


def _mean(values: np.ndarray) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else float('nan')
