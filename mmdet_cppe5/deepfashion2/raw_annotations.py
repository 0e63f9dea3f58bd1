"""Reading one raw DeepFashion2 annotation file.

A raw file ``NNNNNN.json`` describes image ``NNNNNN.jpg``: ``source`` and
``pair_id`` of the image and one ``itemK`` object for each garment, in any
order.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mmdet_cppe5.deepfashion2.categories import (
    CATEGORIES,
    NUM_LANDMARKS,
    Category,
)
from mmdet_cppe5.deepfashion2.landmarks import count_labelled
from mmdet_cppe5.files import PathLike, read_json

#: Attributes of an item that travel into its COCO annotation, where given.
ITEM_ATTRIBUTES = ('style', 'scale', 'occlusion', 'zoom_in', 'viewpoint')
#: Attributes of the image that travel into each item's annotation.
IMAGE_ATTRIBUTES = ('pair_id', 'source')


def image_id_of(file: Path) -> int:
    """Return the image id that a raw file's name states.

    Raises:
        ValueError: if the name is not a number.
    """
    if not file.stem.isdecimal():
        raise ValueError(
            'Expected raw DeepFashion2 annotation files named by the number '
            f'of their image, such as 000001.json, but got {file}.'
        )
    return int(file.stem)


def read_annotations(path: PathLike) -> list[dict[str, Any]]:
    """Read the items of one raw file as COCO annotations without ids.

    Boxes become ``[x1, y1, x2 - x1, y2 - y1]`` (no ``+ 1``), ``area`` is the
    box's, polygons stay as they are, and an item's own landmarks are put
    into their slots among all 294, the others being (0, 0, 0).

    Args:
        path: the raw annotation file.

    Returns:
        One annotation for each item, in the file's order, with the item's
        ``style``, ``scale``, ``occlusion``, ``zoom_in`` and ``viewpoint``
        and the image's ``pair_id`` and ``source`` where the file has them.

    Raises:
        FileNotFoundError: if the file is missing.
        ValueError: if the file is not a raw annotation file, or an item has
            an unknown category, a box that is not ``[x1, y1, x2, y2]`` or a
            wrong number of landmarks; it names the file and the item.
    """
    file = Path(path)
    content = read_json(file, 'a raw DeepFashion2 annotation')
    if not isinstance(content, dict):
        raise ValueError(
            f'Expected an object with source, pair_id and items in {file}, '
            f'but got a {type(content).__name__}.'
        )
    shared = {
        name: content[name] for name in IMAGE_ATTRIBUTES if name in content
    }
    image_id = image_id_of(file)
    return [
        {
            'image_id': image_id,
            **_annotation(item, f'{name} of {file}'),
            **shared,
        }
        for name, item in content.items()
        if name.startswith('item')
    ]


def _annotation(item: Any, where: str) -> dict[str, Any]:
    """Turn one raw item into the item's part of a COCO annotation."""
    if not isinstance(item, dict):
        raise ValueError(
            f'Expected {where} to be an object, but got {item!r}.'
        )
    category = _category(item, where)
    keypoints = _all_slots(item.get('landmarks'), category, where)
    box = _box_xywh(item.get('bounding_box'), where)
    attributes = {name: item[name] for name in ITEM_ATTRIBUTES if name in item}
    return {
        'category_id': category.id,
        'bbox': box,
        'area': box[2] * box[3],
        'iscrowd': 0,
        'segmentation': item.get('segmentation') or [],
        'keypoints': keypoints,
        'num_keypoints': count_labelled(keypoints),
        **attributes,
    }


def _category(item: dict[str, Any], where: str) -> Category:
    """Look the item's category up by its id; its name is not read."""
    identity = item.get('category_id')
    if identity not in range(1, len(CATEGORIES) + 1):
        raise ValueError(
            f'Expected category_id 1..{len(CATEGORIES)} in {where}, but got '
            f'{identity!r} (category_name {item.get("category_name")!r}).'
        )
    return CATEGORIES[int(identity) - 1]


def _box_xywh(box: Any, where: str) -> list[float]:
    """Turn ``[x1, y1, x2, y2]`` into ``[x, y, width, height]``."""
    if not isinstance(box, list) or len(box) != 4:
        raise ValueError(
            f'Expected bounding_box [x1, y1, x2, y2] in {where}, but got '
            f'{box!r}.'
        )
    x1, y1, x2, y2 = box
    if x2 < x1 or y2 < y1:
        raise ValueError(
            f'Expected bounding_box [x1, y1, x2, y2] in {where}, but got '
            f'{box}, whose second corner lies before the first; is it '
            '[x, y, width, height]?'
        )
    return [x1, y1, x2 - x1, y2 - y1]


def _all_slots(landmarks: Any, category: Category, where: str) -> list[float]:
    """Put a category's own ``x, y, v`` triples into all 294 slots."""
    own = landmarks or []
    if own and len(own) != 3 * category.landmarks:
        raise ValueError(
            f'Expected {category.landmarks} landmarks x, y, v '
            f'({3 * category.landmarks} numbers) for {category.name} in '
            f'{where}, but got {len(own)} numbers.'
        )
    before = [0] * (3 * category.first)
    after = [0] * (3 * NUM_LANDMARKS - len(before) - len(own))
    return before + own + after
