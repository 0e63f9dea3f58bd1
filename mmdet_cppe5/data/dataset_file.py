"""A COCO annotation file whose fields are all there, as a JSON value."""

from __future__ import annotations

from typing import Any

from mmdet_cppe5.coco.ids import sorted_ids
from mmdet_cppe5.coco.loading import load_ground_truth_json
from mmdet_cppe5.coco.records import Records
from mmdet_cppe5.coco.usual_form import boxes_as_numbers, usual_form
from mmdet_cppe5.files import PathLike


def read_dataset(path: PathLike) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Read a COCO annotation file for converting, counting or splitting.

    The fields that this needs are checked to be there and of the right
    kind; what they say is for ``verify`` to judge.

    Args:
        path: the file.

    Returns:
        The file's content, and sentences about what was odd and how it was
        read.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is something else, or naming the first record
            that lacks a field.
    """
    data = load_ground_truth_json(path, annotated=False)
    source = str(path)
    data, notices = usual_form(data, source)
    images = Records(data['images'], source, 'image')
    sorted_ids(images.column('id'), 'image', source)
    images.texts('file_name')
    images.floats('width')
    images.floats('height')
    annotations = Records(data['annotations'], source, 'annotation')
    annotations.references('image_id')
    annotations.references('category_id')
    try:
        annotations.vectors('bbox', 4)
    except ValueError:
        read = boxes_as_numbers(annotations)
        if read is None:
            raise
        read[0].vectors('bbox', 4)
        data['annotations'] = read[0].items
        notices = (*notices, read[1])
    categories = Records(data['categories'], source, 'category')
    sorted_ids(categories.column('id'), 'category', source)
    return data, notices
