"""Ground truth and detections from whatever a caller holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Optional, Union

import numpy as np

from mmdet_cppe5.coco import (
    CocoGroundTruth,
    CocoResults,
    parse_ground_truth,
    parse_results,
    read_ground_truth,
    read_results,
)
from mmdet_cppe5.files import PathLike

#: A path, a COCO annotation file's content, or a pycocotools ``COCO``.
GroundTruthLike = Union[PathLike, Mapping[str, Any], Any]
#: A path, a COCO result file's content, a pycocotools ``COCO`` as ``loadRes``
#: returns it, or an ``(N, 7)`` array: image id, x, y, width, height, score,
#: category id.
DetectionsLike = Union[PathLike, Sequence[Mapping[str, Any]], np.ndarray, Any]


def to_ground_truth(
    source: GroundTruthLike,
    classes: Optional[Sequence[str]] = None,
    need_boxes: bool = True,
) -> CocoGroundTruth:
    """Read a ground truth.

    Args:
        source: see :data:`GroundTruthLike`.
        classes: evaluate these only; None means all.
        need_boxes: as for :func:`mmdet_cppe5.coco.read_ground_truth`.

    Raises:
        TypeError: if it is none of these.
        ValueError: if its content is not a COCO annotation file's.
    """
    if isinstance(source, (str, Path)):
        return read_ground_truth(source, classes, need_boxes)
    content = getattr(source, 'dataset', source)
    if not isinstance(content, Mapping):
        raise TypeError(
            'Expected the ground truth as a path, the dict of a COCO '
            'annotation file, or a pycocotools COCO, but got '
            f'{type(source).__name__}.'
        )
    return parse_ground_truth(
        dict(content), 'the ground truth', classes, need_boxes
    )


def to_results(source: DetectionsLike, truth: CocoGroundTruth) -> CocoResults:
    """Read detections against a ground truth.

    Args:
        source: see :data:`DetectionsLike`.
        truth: the ground truth.

    Raises:
        TypeError: if it is none of these.
        ValueError: if an entry cannot be judged.
    """
    if isinstance(source, (str, Path)):
        return read_results(source, truth)
    if isinstance(source, np.ndarray):
        entries = _entries(source)
    elif hasattr(source, 'dataset'):
        entries = list(source.dataset['annotations'])
    elif isinstance(source, Sequence):
        entries = list(source)
    else:
        raise TypeError(
            'Expected detections as a path, a list of COCO results, an '
            '(N, 7) array, or a pycocotools COCO, but got '
            f'{type(source).__name__}.'
        )
    return parse_results(entries, 'the detections', truth)


def _entries(rows: np.ndarray) -> list[dict[str, Any]]:
    """Return the rows of ``(N, 7)`` as COCO results."""
    if rows.ndim != 2 or rows.shape[1] != 7:
        raise ValueError(
            'Expected an (N, 7) array of image id, x, y, width, height, '
            f'score, category id, but got shape {rows.shape}.'
        )
    return [
        {
            'image_id': int(image),
            'category_id': int(category),
            'bbox': box,
            'score': score,
        }
        for image, *box, score, category in rows.tolist()
    ]
