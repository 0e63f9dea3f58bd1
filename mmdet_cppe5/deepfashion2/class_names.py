"""DeepFashion2's COCO-style files: categories by id, under one name set."""

from __future__ import annotations

from typing import Any

from mmdet_cppe5.coco.records import shorten
from mmdet_cppe5.deepfashion2.categories import CATEGORIES


def with_class_names(coco: dict[str, Any], source: str) -> dict[str, Any]:
    """Give the categories of a COCO-style file this package's class names.

    Args:
        coco: content of an annotation file with a list ``categories``, named
            as in the raw files, as in the COCO-style ones, or not at all. It
            is not changed.
        source: the file's name, for the message.

    Returns:
        The same content with other ``categories``.

    Raises:
        ValueError: if a category's id is not 1..13 or its name is neither of
            that id's two names.
    """
    categories = [_renamed(entry, source) for entry in coco['categories']]
    return {**coco, 'categories': categories}


def _renamed(entry: Any, source: str) -> dict[str, Any]:
    """Return one category entry under its class name."""
    by_id = {category.id: category for category in CATEGORIES}
    identity = entry.get('id') if isinstance(entry, dict) else None
    if not isinstance(identity, int) or identity not in by_id:
        raise ValueError(
            f'Expected the categories of {source} to be the '
            f'{len(CATEGORIES)} of DeepFashion2 with ids 1..'
            f'{len(CATEGORIES)}, but got {shorten(entry)}.'
        )
    known = by_id[identity]
    if entry.get('name') not in (known.name, known.raw_name, None, ''):
        raise ValueError(
            f'Expected category {identity} of {source} to be named '
            f'{known.name!r} or {known.raw_name!r}, but got '
            f'{entry.get("name")!r}; are the ids those of DeepFashion2?'
        )
    return {**entry, 'name': known.name}
