"""How alike a detection and a ground truth are: the interface, and boxes."""

from typing import Protocol

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

    Args:
        ground_truths: G objects; for crowd regions the intersection is
            divided by the detection's own area.
        detections: N detections.
    """

    def __init__(
        self, ground_truths: GroundTruths, detections: Detections
    ) -> None:
        self._gt = ground_truths
        self._dt = detections

    def __call__(self, dt: IntArray, gt: IntArray) -> FloatArray:
        """Return the (P,) overlaps of the pairs; see :class:`Similarity`."""
        raise NotImplementedError
