"""Object keypoint similarity (OKS): how alike two sets of keypoints are."""

from typing import Any, Optional

import numpy as np

from mmdet_cppe5.core.arrays import (
    BoolArray,
    FloatArray,
    GroundTruths,
    IntArray,
)

# Keypoints compared at once: their arrays stay in the processor's cache.
_CHUNK = 1 << 15


class KeypointOKS:
    """Object keypoint similarity, equal to pycocotools' bit for bit.

    The mean over an object's labelled keypoints of
    ``exp(-d² / (2 · area · (2 sigma)²))`` with the distance ``d`` between
    the two keypoints. For an object without labelled keypoints, ``d`` is a
    detected keypoint's distance from the object's box enlarged to three times
    its width and height, 0 inside (https://cocodataset.org/#keypoints-eval).

    Args:
        ground_truths: G objects; their ``area`` sets the scale.
        gt_keypoints: (G, K, 3) x, y in pixels and visibility, which is 0 for
            a keypoint that is not labelled.
        dt_keypoints: (N, K, 2) x, y in pixels.
        sigmas: (K,) spread of each keypoint, relative to the square root of
            the area.
        unlabelled: (G, K) keypoints that are compared for an object that has
            no labelled one; None means all K, as in COCO.

    Raises:
        ValueError: If shapes do not go together.
    """

    def __init__(
        self,
        ground_truths: GroundTruths,
        gt_keypoints: FloatArray,
        dt_keypoints: FloatArray,
        sigmas: Any,
        unlabelled: Optional[BoolArray] = None,
    ) -> None:
        spread = np.asarray(sigmas, np.float64)
        shape = (len(ground_truths), len(spread), 3)
        if gt_keypoints.shape != shape or dt_keypoints.shape[1:] != (
            len(spread),
            2,
        ):
            raise ValueError(
                f'Expected keypoints of shapes {shape} and (detections, '
                f'{len(spread)}, 2) for {len(spread)} sigmas, but got '
                f'{gt_keypoints.shape} and {dt_keypoints.shape}.'
            )
        self._variances = (spread * 2) ** 2
        self._area = ground_truths.area + np.spacing(1)
        box = ground_truths.bbox
        self._low = box[:, :2] - box[:, 2:]  # (G, 2)
        self._high = box[:, :2] + box[:, 2:] * 2
        self._gt = gt_keypoints
        self._dt = dt_keypoints
        compared = gt_keypoints[:, :, 2] > 0  # (G, K)
        self._bare: BoolArray = compared.sum(axis=1) == 0
        compared[self._bare] = (
            True if unlabelled is None else unlabelled[self._bare]
        )
        self._count = compared.sum(axis=1)
        self._start = np.cumsum(self._count) - self._count
        self._slots = np.nonzero(compared)[1]

    def __call__(self, dt: IntArray, gt: IntArray) -> FloatArray:
        """Return the (P,) similarities of the pairs of rows."""
        result = np.zeros(len(dt))
        # Pairs that compare equally many keypoints are computed together.
        kinds = self._count[gt] * 2 + self._bare[gt]
        for kind in np.unique(kinds[kinds > 1]):
            pairs = np.flatnonzero(kinds == kind)
            step = max(1, _CHUNK // (int(kind) // 2))
            for begin in range(0, len(pairs), step):
                some = pairs[begin : begin + step]
                result[some] = self._alike(dt[some], gt[some])
        return result

    def _alike(self, dt: IntArray, gt: IntArray) -> FloatArray:
        """Score pairs that are of one kind and compare n keypoints each."""
        n = int(self._count[gt[0]])
        slots = self._slots[self._start[gt, None] + np.arange(n)]  # (P, n)
        found = self._dt[dt[:, None], slots]  # (P, n, 2)
        if self._bare[gt[0]]:
            below = np.maximum(0, self._low[gt, None] - found)
            offset = below + np.maximum(0, found - self._high[gt, None])
        else:
            offset = found - self._gt[gt[:, None], slots, :2]
        offset *= offset
        squared = offset[:, :, 0] + offset[:, :, 1]  # (P, n)
        exponent = squared / self._variances[slots] / self._area[gt, None] / 2
        similarity: FloatArray = np.exp(-exponent).sum(axis=1) / n
        return similarity
