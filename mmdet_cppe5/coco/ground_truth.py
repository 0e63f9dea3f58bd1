"""COCO annotation files -> arrays, whatever their ids, order and gaps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Optional

import numpy as np

from mmdet_cppe5.coco.ids import explain_unknown, sorted_ids
from mmdet_cppe5.coco.loading import (
    check_ground_truth_form,
    load_ground_truth_json,
)
from mmdet_cppe5.coco.records import Records, shorten
from mmdet_cppe5.files import PathLike

UNSELECTED = -1


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
    path: PathLike, classes: Optional[Sequence[str]] = None
) -> CocoGroundTruth:
    """Read a COCO annotation file.

    ``area`` missing means width × height, ``iscrowd`` missing means 0;
    ``segmentation`` and the image sizes are not looked at. Annotation ids
    are only names: id 0 and ids used twice count like any other.

    Args:
        path: the file.
        classes: the class names to evaluate, in label order. None takes
            all categories of the file by ascending id.

    Raises:
        FileNotFoundError: if there is no such file.
        TypeError: if ``classes`` is a bare string.
        ValueError: if the file is no COCO annotation file, contradicts
            itself, or has no class of that name; the sentence names file,
            image id and annotation id.
    """
    return parse_ground_truth(load_ground_truth_json(path), str(path), classes)


def parse_ground_truth(
    data: dict[str, Any],
    source: str,
    classes: Optional[Sequence[str]] = None,
) -> CocoGroundTruth:
    """Read parsed COCO annotations; see :func:`read_ground_truth`."""
    check_ground_truth_form(data, source)
    images = Records(data['images'], source, 'image')
    image_ids = sorted_ids(images.column('id'), 'image', source)
    by_id = {record['id']: record for record in images.items}
    names, category_labels = _select(data['categories'], source, classes)
    annotations = Records(data['annotations'], source, 'annotation')
    label = annotations.positions(
        'category_id',
        category_labels,
        lambda unknown: explain_unknown(
            unknown, list(category_labels), 'category', source
        ),
    )
    if UNSELECTED in label:
        kept = np.flatnonzero(label != UNSELECTED)
        items = annotations.items
        annotations = Records([items[k] for k in kept], source, 'annotation')
        label = label[kept]
    lookup = {key: index for index, key in enumerate(image_ids)}
    image = annotations.positions(
        'image_id',
        lookup,
        lambda unknown: explain_unknown(unknown, image_ids, 'image', source),
    )
    boxes = annotations.boxes()
    crowd = _crowd(annotations)
    return CocoGroundTruth(
        source=source,
        image_ids=image_ids,
        images=[by_id[key] for key in image_ids],
        class_names=names,
        category_ids=_ids_of_labels(category_labels, len(names)),
        records=annotations,
        image=image,
        label=label,
        boxes=boxes,
        areas=_areas(annotations, boxes),
        crowd=crowd,
        notices=_notices(annotations, crowd),
        all_category_ids=category_labels,
    )


def read_categories(
    path: PathLike, classes: Optional[Sequence[str]] = None
) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """Return class names and category ids of a file with or without boxes.

    Args:
        path: a COCO annotation file; ``annotations`` may be missing.
        classes: as for :func:`read_ground_truth`.
    """
    data = load_ground_truth_json(path, annotated=False)
    names, labels = _select(data['categories'], str(path), classes)
    return names, _ids_of_labels(labels, len(names))


def check_sequence(classes: Sequence[str]) -> tuple[str, ...]:
    """Return class names as a tuple.

    Raises:
        TypeError: if they are a bare string, as ``('Mask')`` is.
    """
    if isinstance(classes, str):
        raise TypeError(
            'Expected `classes` to be a sequence of names, but got the '
            f'string {classes!r}; a tuple of one needs a comma: '
            f'({classes!r},).'
        )
    return tuple(classes)


def check_classes(
    classes: Sequence[str], available: Sequence[str], source: str
) -> tuple[str, ...]:
    """Return the asked-for classes after checking them against a file's.

    Raises:
        TypeError: if ``classes`` is a bare string, as ``('Mask')`` is.
        ValueError: if a name is unknown, repeated, or none is given; both
            lists are shown.
    """
    names = check_sequence(classes)
    unknown = [name for name in names if name not in available]
    if unknown or not names or len(set(names)) < len(names):
        problem = (
            f'{unknown} {"is" if len(unknown) == 1 else "are"} not in it'
            if unknown
            else 'each must be named once, and at least one'
        )
        raise ValueError(
            f'Expected `classes` to be names of categories in {source}, but '
            f'{problem}: asked for {list(names)}, the file has '
            f'{list(available)}.'
        )
    return names


def _select(
    categories: list[Any], source: str, classes: Optional[Sequence[str]]
) -> tuple[tuple[str, ...], dict[Any, int]]:
    """Return the class names and the label of every category id."""
    records = Records(categories, source, 'category')
    ordered = sorted_ids(records.column('id'), 'category', source)
    names = dict(zip(records.column('id'), records.column('name')))
    available = [names[key] for key in ordered]
    twice = [name for name in available if available.count(name) > 1]
    if twice:
        raise ValueError(
            f'Expected every category name of {source} once, but '
            f'{twice[0]!r} is listed {len(twice)} times.'
        )
    if classes is None:
        chosen = tuple(available)
    else:
        chosen = check_classes(classes, available, source)
    label = {name: index for index, name in enumerate(chosen)}
    return chosen, {key: label.get(names[key], UNSELECTED) for key in ordered}


def _ids_of_labels(labels: dict[Any, int], count: int) -> tuple[Any, ...]:
    by_label = {label: key for key, label in labels.items()}
    return tuple(by_label[label] for label in range(count))


def _areas(records: Records, boxes: np.ndarray) -> np.ndarray:
    """Return each annotation's area, width × height where it has none."""
    default = (boxes[:, 2] * boxes[:, 3]).tolist()
    given = [item.get('area') for item in records.items]
    areas = records.to_floats(
        'area', [d if g is None else g for g, d in zip(given, default)]
    )
    negative = np.flatnonzero(areas < 0)
    if negative.size:
        index = int(negative[0])
        raise ValueError(
            f"Expected 'area' of {records.where(index)} not to be negative, "
            f'but got {areas[index]}.'
        )
    return areas


def _crowd(records: Records) -> np.ndarray:
    values = [item.get('iscrowd') or 0 for item in records.items]
    for index, value in enumerate(values):
        if value not in (0, 1):
            raise ValueError(
                f"Expected 'iscrowd' of {records.where(index)} to be 0 or "
                f'1, but got {shorten(value)}.'
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
    twice = [key for key, times in ids.items() if times > 1]
    if twice:
        sentences.append(
            f'{records.source} uses {len(twice)} annotation ids more than '
            f'once (such as {twice[0]!r}); each annotation is counted as an '
            'object of its own.'
        )
    if len(crowd) and crowd.all():
        sentences.append(
            f'every annotation of {records.source} is a crowd region '
            '(iscrowd 1), so no score is defined.'
        )
    return tuple(sentences)
