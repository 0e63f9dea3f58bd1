"""How alike a detection and a ground truth are: the interface, and boxes."""

from typing import Protocol

import numpy as np

from mmdet_cppe5.core.arrays import (
    Detections,
    FloatArray,
    GroundTruths,
    IntArray,
)


class Similarity(Protocol):
    """Anything that scores candidate pairs: boxes, masks, keypoints.

    A similarity knows its ground truths and detections; the matching only
    hands it pairs of row numbers. Crowd regions are its own business (for
    boxes and masks: intersection over the detection's area).
    """

    def __call__(self, dt: IntArray, gt: IntArray) -> FloatArray:
        """Score pairs.

        Args:
            dt: (P,) rows of the :class:`Detections`.
            gt: (P,) rows of the :class:`GroundTruths`; each pair lies in one
                image.

        Returns:
            (P,) similarities, 0 for nothing in common to 1 for equal.
        """


class BoxIoU:
    """Intersection over union of boxes, equal to pycocotools' bit for bit.

    A box of no or negative width or height overlaps nothing.

    Args:
        ground_truths: G objects; for crowd regions the intersection is
            divided by the detection's own area.
        detections: N detections.
    """

    def __init__(
        self, ground_truths: GroundTruths, detections: Detections
    ) -> None:
        self._gt = _edges(ground_truths.bbox)
        self._dt = _edges(detections.bbox)
        self._crowd = ground_truths.crowd
        self._any_crowd = bool(ground_truths.crowd.any())

    def __call__(self, dt: IntArray, gt: IntArray) -> FloatArray:
        """Return the (P,) overlaps of the pairs; see :class:`Similarity`."""
        result = np.zeros(len(dt))
        dt_left, dt_right, dt_top, dt_bottom, dt_area = self._dt
        gt_left, gt_right, gt_top, gt_bottom, gt_area = self._gt
        width = np.minimum(dt_right[dt], gt_right[gt])  # (P,)
        width -= np.maximum(dt_left[dt], gt_left[gt])
        # Most pairs end here, so the rest is computed for few.
        some = np.flatnonzero(width > 0)
        dt, gt, width = dt[some], gt[some], width[some]
        height = np.minimum(dt_bottom[dt], gt_bottom[gt])
        height -= np.maximum(dt_top[dt], gt_top[gt])
        both = np.flatnonzero(height > 0)
        dt, gt = dt[both], gt[both]
        inter = width[both] * height[both]
        area = dt_area[dt]
        union = area + gt_area[gt] - inter
        if self._any_crowd:
            union = np.where(self._crowd[gt], area, union)
        result[some[both]] = inter / union
        return result


def _edges(bbox: FloatArray) -> tuple[FloatArray, ...]:
    """(N, 4) boxes as left, right, top, bottom, area; (N,) each."""
    x, y, width, height = np.ascontiguousarray(bbox.T)
    return x, width + x, y, height + y, width * height
