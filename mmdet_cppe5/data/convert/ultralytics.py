"""Ultralytics ``predictions.json`` -> COCO results for a ground truth.

Ultralytics names an image by ``file_name`` (current releases) and by its
file name without suffix, as a number if it looks like one. It numbers the
classes of custom data from 1 (older releases from 0), but writes COCO's own
category ids for COCO's data.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Optional

from mmdet_cppe5.coco.categories import nearest_names, select_categories
from mmdet_cppe5.coco.mask_content import mask_fault
from mmdet_cppe5.coco.records import listed, shorten
from mmdet_cppe5.data.convert.conversion import Conversion, Note
from mmdet_cppe5.image_names import NameIndex, stem

#: How a prediction's ``category_id`` may be meant.
READINGS = ('number-from-1', 'number-from-0', 'id')
_NEEDED = ('image_id', 'category_id', 'bbox', 'score')
_KEPT = ('segmentation', 'keypoints')
_ROTATED = ('rbox', 'poly')


def ultralytics_to_results(
    predictions: Any,
    dataset: dict[str, Any],
    names: Optional[Sequence[str]] = None,
    categories: Optional[str] = None,
) -> Conversion:
    """Give predictions the image and category ids of a ground truth.

    Masks and keypoints are kept; what COCO has no place for is noted.

    Args:
        predictions: the content of ``predictions.json``.
        dataset: the COCO ground truth; only images and categories are used.
        names: the model's class names in order, as in ``data.yaml``; None
            takes the ground truth's by ascending id.
        categories: how ``category_id`` is meant, one of :data:`READINGS`;
            None takes the reading that fits, the first of them where
            several do, and says so.

    Returns:
        A list of COCO results, and what was dropped or left out.

    Raises:
        ValueError: if this is no ``predictions.json``, holds rotated boxes,
            no image or no class matches, no reading of the categories fits,
            or two images share the name that a prediction gives.
    """
    _check(predictions)
    found = _category_ids(predictions, dataset, names, categories)
    conversion = _translate(predictions, _Images(dataset), found.ids)
    conversion.remarks.append(found.remark)
    if predictions and not conversion.content:
        example = dataset['images'][0]['file_name'] if dataset['images'] else ''
        raise ValueError(
            'Expected predictions on images of the ground truth, such as '
            f'{example!r}, but none matches: {conversion.main_reason()}.'
        )
    return conversion


@dataclass(frozen=True)
class _Reading:
    """Category ids by what stands in the predictions, and how it was read."""

    ids: dict[int, Any]
    remark: str


def _category_ids(
    predictions: list[dict[str, Any]],
    dataset: dict[str, Any],
    names: Optional[Sequence[str]],
    wanted: Optional[str],
) -> _Reading:
    """Find out how the categories are meant.

    Readings that agree on all numbers in the predictions are one.
    """
    known = _known_classes(dataset)
    classes = list(names or known)
    if not set(classes) & set(known):
        raise ValueError(
            f'Expected class names of the ground truth, {listed(known)}, '
            f'but the model has {listed(classes)}'
            f'{nearest_names(classes, list(known))}.'
        )
    used = {item['category_id'] for item in predictions}
    readings = {
        'number-from-1': dict(enumerate(classes, 1)),
        'number-from-0': dict(enumerate(classes)),
        'id': {key: name for name, key in known.items()},
    }
    fitting = {
        name: {key: known.get(numbers[key]) for key in used}
        for name, numbers in readings.items()
        if used <= set(numbers)
    }
    if wanted is None and not fitting:
        raise ValueError(
            f'Expected the category ids of the predictions to be the numbers '
            f'of {len(classes)} classes, from 1 or from 0, or ids of the '
            f'ground truth ({listed(known.values())}), but they are '
            f'{listed(sorted(used))}; are these the right names?'
        )
    taken = wanted or _likeliest(fitting, known)
    ids = {
        key: known[name]
        for key, name in readings[taken].items()
        if name in known
    }
    return _Reading(ids, _remark(taken, wanted, fitting))


def _known_classes(dataset: dict[str, Any]) -> dict[str, Any]:
    """Return the category id of each class of the ground truth."""

    def used() -> set[Any]:
        return {item['category_id'] for item in dataset['annotations']}

    found = select_categories(
        dataset['categories'], 'the ground truth', used
    )
    return dict(zip(found.names, found.ids))


def _likeliest(
    fitting: dict[str, dict[int, Any]], known: dict[str, Any]
) -> str:
    """Return the reading to take where several fit.

    COCO's 80 classes have the ids 1 to 90, and Ultralytics writes these.
    """
    ids = list(known.values())
    if 'id' in fitting and len(ids) == 80 and max(ids) == 90:
        return 'id'
    return next(name for name in READINGS if name in fitting)


def _remark(
    taken: str, wanted: Optional[str], fitting: dict[str, dict[int, Any]]
) -> str:
    """Say how the categories were read, and what else they could mean."""
    text = f'category_id read as {taken}'
    others = [
        name
        for name, ids in fitting.items()
        if name != taken and ids != fitting.get(taken)
    ]
    if wanted or not others:
        return text
    return (
        f'{text}; it could also be {" or ".join(others)}: if that is meant, '
        f'say so with --categories'
    )


def _translate(
    predictions: list[dict[str, Any]],
    images: _Images,
    category_ids: dict[int, Any],
) -> Conversion:
    """Give each prediction its ids, or note why it has none."""
    results, notes = [], []
    for position, item in enumerate(predictions):
        where = f'prediction {position}, image {shorten(item["image_id"])}'
        image_id = images.find(item)
        problem = _problem(item)
        if not problem and image_id is None:
            problem = 'no image of that name in the ground truth'
        if not problem and item['category_id'] not in category_ids:
            problem = 'no such class in the ground truth'
        if problem:
            notes.append(Note('dropped', problem, where))
            continue
        entry = {
            'image_id': image_id,
            'category_id': category_ids[item['category_id']],
            'bbox': item['bbox'],
            'score': item['score'],
        }
        entry.update({key: item[key] for key in _KEPT if item.get(key)})
        results.append(entry)
        for key in item.keys() - {*_NEEDED, *_KEPT, 'file_name'}:
            why = f'{shorten(key)} left out, which COCO results do not have'
            notes.append(Note('changed', why, where))
    return Conversion(results, notes)


class _Images:
    """Finds the images of a ground truth that predictions name."""

    def __init__(self, dataset: dict[str, Any]) -> None:
        self._ids = {
            image['file_name']: image['id'] for image in dataset['images']
        }

    def find(self, item: dict[str, Any]) -> Any:
        """Return the image id that a prediction means; None if unknown."""
        name = item.get('file_name')
        if isinstance(name, str):
            found = self._names.find(name)
            if found is not None:
                return self._ids[found]
        key = _number(str(item['image_id']))
        names = self._stems.get(key, [])
        if not names:
            similar = self._similar.find(key)
            names = self._stems.get(similar or '', [])
        if len(names) > 1:
            raise ValueError(
                'Expected image names that differ without their folders and '
                f'suffixes, but {key!r} stands for {listed(names)}.'
            )
        return self._ids[names[0]] if names else None

    @cached_property
    def _names(self) -> NameIndex:
        return NameIndex(self._ids)

    @cached_property
    def _stems(self) -> dict[str, list[str]]:
        groups: dict[str, list[str]] = defaultdict(list)
        for name in self._ids:
            groups[_number(stem(name))].append(name)
        return groups

    @cached_property
    def _similar(self) -> NameIndex:
        return NameIndex(self._stems)


def _number(text: str) -> str:
    """Return a name, without leading zeros if it is a number."""
    digits = text.isascii() and text.isdigit()
    return text.lstrip('0') or '0' if digits else text


def _check(predictions: Any) -> None:
    if not isinstance(predictions, list):
        raise ValueError(
            f'Expected a list of predictions, but got {shorten(predictions)}.'
        )
    for position, item in enumerate(predictions):
        fault = _fault(item)
        if fault:
            raise ValueError(
                f'Expected {fault} in prediction {position}, but got '
                f'{shorten(item, 80)}.'
            )


def _fault(item: Any) -> str:
    """Say what a prediction lacks, or return ``''``."""
    if not isinstance(item, dict):
        return f'an object with {listed(_NEEDED)}'
    rotated = [key for key in _ROTATED if key in item]
    if 'rbox' in item or (rotated and 'bbox' not in item):
        return (
            f'upright boxes ({listed(rotated)} of rotated ones has no place '
            'in COCO)'
        )
    if not set(_NEEDED) <= set(item):
        return listed(_NEEDED)
    if type(item['image_id']) not in (int, str):
        return 'a number or a name as image_id'
    if type(item['category_id']) is not int:
        return 'an integer category_id'
    return ''


def _problem(item: dict[str, Any]) -> str:
    """Say what makes a prediction useless, or return ``''``."""
    box, score = item['bbox'], item['score']
    values = [*box, score] if isinstance(box, list) else []
    if len(values) != 5 or not all(map(_finite, values)):
        return 'box or score is not numbers'
    if item.get('segmentation') and mask_fault(item['segmentation']):
        return 'mask is none that COCO reads'
    points = item.get('keypoints') or []
    if not isinstance(points, list) or not all(map(_finite, points)):
        return 'keypoints are not numbers'
    return ''


def _finite(value: Any) -> bool:
    return type(value) in (int, float) and -1e300 < value < 1e300
