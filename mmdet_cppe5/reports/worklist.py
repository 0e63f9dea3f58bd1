"""Every error as a list to work on: CSV, or a COCO file to relabel."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Optional

from mmdet_cppe5.core import MAIN_ERRORS
from mmdet_cppe5.files import PathLike, write_json, write_text
from mmdet_cppe5.reports.errors import (
    Pair,
    error_pairs,
    image_of,
    nearest_object,
    suspicious,
)
from mmdet_cppe5.reports.study import DataSet, Study


@dataclass(frozen=True)
class WorkItem:
    """One error.

    Attributes:
        image_id: as in the annotation file.
        file_name: of the image.
        error: one of :data:`mmdet_cppe5.core.MAIN_ERRORS`.
        category: the detected class; for misses the object's.
        annotation_id: of the object concerned, None for none.
        detection: place in the result file, from 0; None for misses.
        score: of the detection, None for misses.
        iou: of detection and object, None where there is no overlap.
        bbox: x, y, width, height in pixels, of the detection, or of the
            missed object.
        suspect: whether the annotation is suspected to be wrong.
    """

    image_id: Any
    file_name: str
    error: str
    category: str
    annotation_id: Any
    detection: Optional[int]
    score: Optional[float]
    iou: Optional[float]
    bbox: tuple[float, ...]
    suspect: bool = False


def work_items(data: DataSet, study: Study) -> list[WorkItem]:
    """Return every error of a detector at IoU 0.5, kind by kind.

    Within a kind the detections with the highest scores and the largest
    missed objects come first.
    """
    suspects = frozenset(suspicious(study).tolist())
    return [
        work_item(data, study, kind, pair, suspects)
        for kind in MAIN_ERRORS
        for pair in error_pairs(data, study, kind)
    ]


def work_item(
    data: DataSet,
    study: Study,
    kind: str,
    pair: Pair,
    suspects: Collection[int],
) -> WorkItem:
    """Return one error as an item.

    Args:
        data: the data set.
        study: the detector.
        kind: the error.
        pair: rows of the detection and of the object.
        suspects: detections that put an annotation in doubt.
    """
    det, gt = pair
    truth, found = data.ground_truths, study.evaluation.detections
    image = image_of(data, study, pair)
    nearest, overlap = nearest_object(data, study, pair)
    touching = det is None or overlap > 0
    box = truth.bbox[gt] if det is None else found.bbox[det]
    label = truth.label[gt] if det is None else found.label[det]
    return WorkItem(
        data.truth.image_ids[image],
        data.image_names[image],
        kind,
        data.class_names[label],
        data.truth.annotation_ids[nearest]
        if touching and nearest is not None
        else None,
        None if det is None else study.entry(det),
        None if det is None else round(float(found.score[det]), 6),
        round(overlap, 4) if det is not None and overlap > 0 else None,
        tuple(round(float(value), 2) for value in box),
        det in suspects,
    )


def write_worklist(
    path: PathLike, data: DataSet, items: Sequence[WorkItem]
) -> None:
    """Write a worklist.

    Args:
        path: ``.csv`` for a table, ``.json`` for a COCO annotation file with
            one annotation per item; what is known of it is in the
            annotation's ``attributes``.
        data: the data set.
        items: what to write.

    Raises:
        ValueError: for another ending.
    """
    suffix = Path(path).suffix.lower()
    if suffix == '.csv':
        write_text(path, to_csv(items))
    elif suffix == '.json':
        write_json(path, to_coco(data, items), 1)
    else:
        raise ValueError(
            f'Expected a worklist that ends in .csv or .json, but got {path}.'
        )


def to_csv(items: Sequence[WorkItem]) -> str:
    """Return items as CSV; the box in four columns, empty for nothing."""
    names = [field.name for field in fields(WorkItem) if field.name != 'bbox']
    sides = ['x', 'y', 'width', 'height']
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator='\n')
    writer.writerow([*names, *sides])
    for item in items:
        writer.writerow([*(getattr(item, name) for name in names), *item.bbox])
    return stream.getvalue()


def to_coco(data: DataSet, items: Sequence[WorkItem]) -> dict[str, Any]:
    """Return items as a COCO annotation file's content."""
    category = dict(zip(data.class_names, data.truth.category_ids))
    wanted = {item.image_id for item in items}
    annotations = []
    for number, item in enumerate(items, 1):
        attributes = asdict(item)
        for name in ('image_id', 'file_name', 'bbox', 'category'):
            del attributes[name]
        annotations.append(
            {
                'id': number,
                'image_id': item.image_id,
                'category_id': category[item.category],
                'bbox': list(item.bbox),
                'area': round(item.bbox[2] * item.bbox[3], 2),
                'iscrowd': 0,
                'attributes': attributes,
            }
        )
    return {
        'images': [
            image for image in data.truth.images if image['id'] in wanted
        ],
        'annotations': annotations,
        'categories': [
            {'id': key, 'name': name} for name, key in category.items()
        ],
    }
