"""Landmarks in COCO annotations: counting them, hiding the occluded.

A landmark is three numbers ``x, y, v``; v is 2 (visible), 1 (occluded) or 0
(not labelled).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mmdet_cppe5.coco.records import Records

VISIBLE = 2


def count_labelled(keypoints: Sequence[float]) -> int:
    """Count the landmarks of an item that are visible or occluded."""
    return sum(visibility > 0 for visibility in keypoints[2::3])


def visible_only(coco: dict[str, Any], source: str) -> dict[str, Any]:
    """Derive the ground truth of the visible landmarks ("vis").

    Occluded landmarks become (0, 0, 0) and ``num_keypoints`` is counted
    again, so that an item without a visible landmark is ignored instead of
    being an object nobody can find. The data set's own script for this is
    not published; whether it counts again is not known.

    Args:
        coco: a COCO-style annotation file's content with all landmarks
            ("vis and occ"). It is not changed.
        source: the file's name, for the message.

    Returns:
        The same content with other ``annotations``.

    Raises:
        ValueError: if an annotation has no landmarks, with its name.
    """
    records = Records(coco['annotations'], source, 'annotation')
    annotations = [
        _without_occluded(item, keypoints)
        for item, keypoints in zip(records.items, records.column('keypoints'))
    ]
    return {**coco, 'annotations': annotations}


def _without_occluded(
    annotation: dict[str, Any], given: list[float]
) -> dict[str, Any]:
    """Return one annotation with its occluded landmarks unlabelled."""
    kept = list(given)
    for index in range(2, len(given), 3):
        if 0 < given[index] < VISIBLE:
            kept[index - 2 : index + 1] = (0, 0, 0)
    return {
        **annotation,
        'keypoints': kept,
        'num_keypoints': count_labelled(kept),
    }
