"""Ultralytics ``predictions.json`` -> COCO results for a ground truth.

Ultralytics names an image by its file name without suffix, as a number if
it looks like one, and counts categories of custom data from 1 (from 0 in
older releases).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any, Optional, Union

from mmdet_cppe5.data.convert.conversion import Conversion, Note

Stem = Union[int, str]


def ultralytics_to_results(
    predictions: Any,
    dataset: dict[str, Any],
    names: Optional[Sequence[str]] = None,
    first_category: Optional[int] = None,
) -> Conversion:
    """Give predictions the image and category ids of a ground truth.

    Args:
        predictions: the content of ``predictions.json``.
        dataset: the COCO ground truth; only images and categories are used.
        names: the model's class names in order, as in ``data.yaml``; None
            takes the ground truth's by ascending id.
        first_category: the number of the model's first class, 0 or 1; None
            finds out from the predictions.

    Returns:
        A list of COCO results, and the predictions that were dropped.

    Raises:
        ValueError: if this is no ``predictions.json``, if two images of the
            ground truth share a name, if no image or no class matches, or if
            the first category cannot be told.
    """
    _check(predictions)
    by_name = {item['name']: item['id'] for item in dataset['categories']}
    ordered = sorted(dataset['categories'], key=lambda item: item['id'])
    classes = list(names or [item['name'] for item in ordered])
    if not set(classes) & set(by_name):
        raise ValueError(
            f'Expected class names of the ground truth, {sorted(by_name)}, '
            f'but the model has {classes}.'
        )
    images = _ids_by_stem(dataset['images'])
    first = first_category
    if first is None:
        first = _first_category(predictions, len(classes))
    category_ids = {
        first + position: by_name[name]
        for position, name in enumerate(classes)
        if name in by_name
    }
    found = _translate(predictions, images, category_ids)
    if predictions and not found.content:
        raise ValueError(
            f'Expected predictions on images of the ground truth, such as '
            f'{dataset["images"][0]["file_name"]!r}, but none matches: '
            f'{found.notes[0].where}: {found.notes[0].why}.'
        )
    return found


def _translate(
    predictions: list[dict[str, Any]],
    images: dict[Stem, int],
    category_ids: dict[int, int],
) -> Conversion:
    """Give each prediction its ids, or note why it has none.

    Args:
        predictions: the predictions.
        images: image id by file name without suffix.
        category_ids: category id by the model's number of the class.
    """
    results, notes = [], []
    for position, item in enumerate(predictions):
        image_id = images.get(_stem(str(item['image_id'])))
        category_id = category_ids.get(item['category_id'])
        problem = _problem(item)
        if not problem and image_id is None:
            problem = 'no image of that name in the ground truth'
        if not problem and category_id is None:
            problem = 'no such class'
        if problem:
            where = f'prediction {position}, image {item["image_id"]!r}'
            notes.append(Note('dropped', problem, where))
            continue
        results.append(
            {
                'image_id': image_id,
                'category_id': category_id,
                'bbox': item['bbox'],
                'score': item['score'],
            }
        )
    return Conversion(results, notes)


def _check(predictions: Any) -> None:
    wanted = {'image_id', 'category_id', 'bbox', 'score'}
    if not isinstance(predictions, list):
        raise ValueError(
            f'Expected a list of predictions, but got {predictions!r:.80}.'
        )
    for position, item in enumerate(predictions):
        if not isinstance(item, dict) or not wanted <= set(item):
            raise ValueError(
                f'Expected {sorted(wanted)} in each prediction, but '
                f'prediction {position} is {item!r:.80}.'
            )
        if not isinstance(item['category_id'], int):
            raise ValueError(
                f'Expected an integer category_id in prediction {position}, '
                f'but got {item["category_id"]!r}.'
            )


def _problem(item: dict[str, Any]) -> str:
    """Say what makes a prediction useless, or return ``''``."""
    box, score = item['bbox'], item['score']
    values = [*box, score] if isinstance(box, list) else []
    if len(values) != 5 or not all(
        isinstance(value, (int, float)) and math.isfinite(value)
        for value in values
    ):
        return 'box or score is not numbers'
    return ''


def _stem(name: str) -> Stem:
    """Return a file name without suffix, a number as an int."""
    return int(name) if name.isascii() and name.isdigit() else name


def _ids_by_stem(images: list[dict[str, Any]]) -> dict[Stem, int]:
    ids: dict[Stem, int] = {}
    for image in images:
        stem = _stem(PurePosixPath(image['file_name']).stem)
        if stem in ids:
            raise ValueError(
                'Expected image names that differ without their folders and '
                f'suffixes, but {stem!r} stands for the images {ids[stem]} '
                f'and {image["id"]}.'
            )
        ids[stem] = image['id']
    return ids


def _first_category(predictions: list[dict[str, Any]], count: int) -> int:
    """Tell from the category ids whether they count from 0 or from 1."""
    found = {item['category_id'] for item in predictions}
    if not found:
        return 1
    if 0 in found and count in found:
        raise ValueError(
            f'Expected category ids of {count} classes, from 0 or from 1, '
            f'but got {min(found)}..{max(found)}; are these the right names?'
        )
    if 0 in found:
        return 0
    if count in found:
        return 1
    raise ValueError(
        f'Cannot tell whether the category ids {sorted(found)} of {count} '
        'classes count from 0 or from 1: say it with --first-category '
        '(current Ultralytics releases: 1).'
    )
