"""COCO annotation files -> arrays, whatever their ids, order and gaps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Optional

import numpy as np

from mmdet_cppe5.coco.categories import (
    UNSELECTED,
    Categories,
    select_categories,
)
from mmdet_cppe5.coco.ids import explain_unknown, sorted_ids
from mmdet_cppe5.coco.loading import (
    check_ground_truth_form,
    load_ground_truth_json,
)
from mmdet_cppe5.coco.records import LARGEST, Records, counted, shorten
from mmdet_cppe5.coco.usual_form import boxes_as_numbers, usual_form
from mmdet_cppe5.files import PathLike

#: What pycocotools takes as ``iscrowd``: all but 0 mean a crowd region.
_CROWD = range(256)


@dataclass(frozen=True)
class CocoGroundTruth:
    """The annotations of one COCO file as columns.

    Images and classes are positions: image ``i`` is the one with the i-th
    smallest id, class ``c`` the c-th of ``class_names``. Row ``k`` of every
    column is one annotation, in the order of the file.

    Attributes:
        source: the file's name, for error messages.
        image_ids: every image id of the file, ascending; annotated or not.
        images: the image records of the file, one per id.
        class_names: the evaluated classes, in label order.
        category_ids: the category id of each class.
        records: the annotations of the evaluated classes.
        image: position of each annotation's image, intp ``(n,)``.
        label: position of each annotation's class, intp ``(n,)``.
        boxes: x, y, width, height in absolute pixels, float64 ``(n, 4)``.
        areas: the area that decides the size bin, in pixels, ``(n,)``: the
            annotation's ``area``, or width × height where it has none.
        crowd: whether the annotation is a crowd region, bool ``(n,)``.
        notices: sentences about what was unusual and how it was read.
        all_category_ids: label of every category of the file; -1 for those
            that are not evaluated.
    """

    source: str
    image_ids: list[Any]
    images: list[dict[str, Any]]
    class_names: tuple[str, ...]
    category_ids: tuple[Any, ...]
    records: Records
    image: np.ndarray
    label: np.ndarray
    boxes: np.ndarray
    areas: np.ndarray
    crowd: np.ndarray
    notices: tuple[str, ...]
    all_category_ids: dict[Any, int]

    @cached_property
    def image_position(self) -> dict[Any, int]:
        """Position of every image id."""
        return {key: index for index, key in enumerate(self.image_ids)}

    @property
    def annotation_ids(self) -> list[Any]:
        """The file's annotation id of each row; None where it has none."""
        return [item.get('id') for item in self.records.items]

    def counts(self) -> np.ndarray:
        """Return how many annotations each class has, crowds left out."""
        return np.bincount(
            self.label[~self.crowd], minlength=len(self.class_names)
        )


def read_ground_truth(
    path: PathLike,
    classes: Optional[Sequence[str]] = None,
    need_boxes: bool = True,
) -> CocoGroundTruth:
    """Read a COCO annotation file.

    ``area`` missing means width × height, ``iscrowd`` missing means 0. What is
    odd but clear is read with a notice (see
    :mod:`mmdet_cppe5.coco.usual_form`);
    ``segmentation`` and the image sizes are not looked at. Annotation ids
    are only names: id 0 and ids used twice count like any other. Categories
    that share a name are told apart by id (see
    :func:`~mmdet_cppe5.coco.categories.select_categories`).

    Args:
        path: the file.
        classes: the class names to evaluate, in label order. None takes
            all categories of the file by ascending id.
        need_boxes: whether an annotation with a mask and no box is an
            error; else its box (and its area, if it states none) is NaN
            until :func:`~mmdet_cppe5.coco.conversion.to_core` takes them
            from the mask.

    Raises:
        FileNotFoundError: if there is no such file.
        TypeError: if ``classes`` is a bare string.
        ValueError: if the file is no COCO annotation file, contradicts
            itself, or has no class of that name; the sentence names file,
            image id and annotation id.
    """
    data = load_ground_truth_json(path)
    return parse_ground_truth(data, str(path), classes, need_boxes)


def parse_ground_truth(
    data: dict[str, Any],
    source: str,
    classes: Optional[Sequence[str]] = None,
    need_boxes: bool = True,
) -> CocoGroundTruth:
    """Read parsed COCO annotations; see :func:`read_ground_truth`."""
    check_ground_truth_form(data, source)
    data, notices = usual_form(data, source)
    images = Records(data['images'], source, 'image')
    image_ids = sorted_ids(images.column('id'), 'image', source)
    by_id = {record['id']: record for record in images.items}
    annotations = Records(data['annotations'], source, 'annotation')
    categories = _categories(data, annotations, classes)
    label = annotations.positions(
        'category_id',
        categories.labels,
        lambda unknown: explain_unknown(
            unknown, list(categories.labels), 'category', source
        ),
    )
    if UNSELECTED in label:
        kept = np.flatnonzero(label != UNSELECTED)
        items = annotations.items
        annotations = Records([items[k] for k in kept], source, 'annotation')
        label = label[kept]
    lookup = {key: index for index, key in enumerate(image_ids)}
    kept, left_out = _of_listed_images(annotations, lookup)
    if left_out:
        annotations, label = annotations.only(kept), label[kept]
    image = annotations.positions(
        'image_id',
        lookup,
        lambda unknown: explain_unknown(unknown, image_ids, 'image', source),
    )
    annotations, boxes, more = _boxes(annotations, need_boxes)
    crowd = _crowd(annotations)
    return CocoGroundTruth(
        source=source,
        image_ids=image_ids,
        images=[by_id[key] for key in image_ids],
        class_names=categories.names,
        category_ids=categories.ids,
        records=annotations,
        image=image,
        label=label,
        boxes=boxes,
        areas=_areas(annotations, boxes),
        crowd=crowd,
        notices=(
            *notices,
            *categories.notices,
            *left_out,
            *more,
            *_notices(annotations, crowd),
        ),
        all_category_ids=categories.labels,
    )


def _categories(
    data: dict[str, Any],
    annotations: Records,
    classes: Optional[Sequence[str]],
) -> Categories:
    def used() -> set[Any]:
        ids = (item.get('category_id') for item in annotations.items)
        return {key for key in ids if not isinstance(key, (list, dict))}

    return select_categories(
        data['categories'], annotations.source, used, classes
    )


def parse_categories(
    data: dict[str, Any],
    source: str,
    classes: Optional[Sequence[str]] = None,
) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """Return class names and category ids of parsed COCO annotations.

    Args:
        data: the file's content, with or without ``annotations``.
        source: the file's name, for error messages.
        classes: as for :func:`read_ground_truth`.
    """
    data, _ = usual_form({'images': [], **data}, source)
    annotations = Records(data['annotations'], source, 'annotation')
    found = _categories(data, annotations, classes)
    return found.names, found.ids


def _of_listed_images(
    annotations: Records, lookup: dict[Any, int]
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Find annotations of images that the file does not list.

    A file cut down to some of its images may keep all annotations. Those
    left over are no part of the evaluation, in COCO either. If there is no
    other one, or an id is known as another type, the ids are wrong instead.

    Returns:
        The rows of the others, and a sentence if any is left out.
    """
    ids = annotations.column('image_id')
    try:
        strange: list[Any] = []
        if set(ids) - lookup.keys():
            strange = [key for key in ids if key not in lookup]
    except TypeError:  # a list or an object is no id
        strange = []
    texts = set(map(str, lookup)) if strange else set()
    if (
        not strange
        or len(strange) == len(ids)
        or not set(map(type, strange)) <= {int, str}
        or any(str(key) in texts for key in strange)
    ):
        return np.arange(len(ids)), ()
    rows = np.flatnonzero([key in lookup for key in ids])
    found = counted(len(strange), 'annotation')
    are = 'is' if len(strange) == 1 else 'are'
    return rows, (
        f'{found} of {annotations.source} {are} of images that it does not '
        f'list (such as image id {strange[0]!r}), and {are} left out, as in '
        'COCO.',
    )


def _boxes(
    annotations: Records, need_boxes: bool
) -> tuple[Records, np.ndarray, tuple[str, ...]]:
    """Return annotations with their boxes, and what was odd about them."""
    try:
        return annotations, annotations.boxes(or_masks=not need_boxes), ()
    except ValueError:
        read = boxes_as_numbers(annotations)
        if read is None:
            raise
    annotations, notice = read
    return annotations, annotations.boxes(or_masks=not need_boxes), (notice,)


def _areas(records: Records, boxes: np.ndarray) -> np.ndarray:
    """Return each annotation's area, width × height where it has none."""
    default = boxes[:, 2] * boxes[:, 3]
    given = [item.get('area') for item in records.items]
    stated = np.fromiter((g is not None for g in given), bool, len(given))
    areas = records.to_floats('area', [0 if g is None else g for g in given])
    wrong = (areas < 0) | (areas > LARGEST**2)
    if wrong.any():
        index = int(np.argmax(wrong))
        raise ValueError(
            f"Expected 'area' of {records.where(index)} to be at most "
            f'{LARGEST**2:.2g} pixels and not to be negative, but got '
            f'{shorten(given[index])}.'
        )
    return np.where(stated, areas, default)


def _crowd(records: Records) -> np.ndarray:
    values = [item.get('iscrowd') or 0 for item in records.items]
    for index, value in enumerate(values):
        if type(value) is str or value not in _CROWD:
            raise ValueError(
                f"Expected 'iscrowd' of {records.where(index)} to be the "
                f'number 0 or 1, but got {shorten(value)}.'
            )
    return np.array(values, dtype=bool)


def _notices(records: Records, crowd: np.ndarray) -> tuple[str, ...]:
    """Say what a score should not be read without."""
    sentences = []
    ids = Counter(
        item['id']
        for item in records.items
        if isinstance(item.get('id'), (int, str))
    )
    many = 0
    if crowd.any():
        many = sum((item.get('iscrowd') or 0) > 1 for item in records.items)
    if many:
        sentences.append(
            f'{records.source} gives {counted(many, "annotation")} an '
            'iscrowd above 1, which means a crowd region, as in COCO.'
        )
    twice = [key for key, times in ids.items() if times > 1]
    if twice:
        sentences.append(
            f'{records.source} uses {counted(len(twice), "annotation id")} '
            'more than '
            f'once (such as {twice[0]!r}); each annotation is counted as an '
            'object of its own.'
        )
    if len(crowd) and crowd.all():
        sentences.append(
            f'every annotation of {records.source} is a crowd region '
            '(iscrowd 1), so no score is defined.'
        )
    return tuple(sentences)
