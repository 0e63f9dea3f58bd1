"""The 13 categories of DeepFashion2, their two sets of names, and slots.

The raw annotations and the COCO-style files that the data set's converter
writes name six categories differently ("short sleeve top" and
"short_sleeved_shirt"), so categories are told apart by id, never by string.
Class names and results here use the names of the COCO-style files.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mmdet_cppe5.core.settings import listed


class Category(NamedTuple):
    """One category and where its landmarks lie among all 294.

    Attributes:
        id: category id, 1..13.
        name: name in COCO-style annotation files.
        raw_name: name in the raw per-image annotation files.
        first: first landmark slot, 0-based.
        landmarks: number of landmark slots.
    """

    id: int
    name: str
    raw_name: str
    first: int
    landmarks: int

    @property
    def slots(self) -> slice:
        """The category's own slots among the 294, 0-based."""
        return slice(self.first, self.first + self.landmarks)


def _categories() -> tuple[Category, ...]:
    rows = (
        ('short_sleeved_shirt', 'short sleeve top', 25),
        ('long_sleeved_shirt', 'long sleeve top', 33),
        ('short_sleeved_outwear', 'short sleeve outwear', 31),
        ('long_sleeved_outwear', 'long sleeve outwear', 39),
        ('vest', 'vest', 15),
        ('sling', 'sling', 15),
        ('shorts', 'shorts', 10),
        ('trousers', 'trousers', 14),
        ('skirt', 'skirt', 8),
        ('short_sleeved_dress', 'short sleeve dress', 29),
        ('long_sleeved_dress', 'long sleeve dress', 37),
        ('vest_dress', 'vest dress', 19),
        ('sling_dress', 'sling dress', 19),
    )
    first = np.cumsum([0] + [landmarks for _, _, landmarks in rows])
    return tuple(
        Category(index + 1, name, raw_name, int(first[index]), landmarks)
        for index, (name, raw_name, landmarks) in enumerate(rows)
    )


CATEGORIES = _categories()
CLASSES = tuple(category.name for category in CATEGORIES)
NUM_LANDMARKS = sum(category.landmarks for category in CATEGORIES)

# Tops blue, outwear green, sleeveless orange, legs grey, dresses red to
# violet, so that neighbours on a person differ in hue. RGB, 0..255.
PALETTE = (
    (86, 180, 233),
    (0, 114, 178),
    (86, 196, 137),
    (0, 120, 86),
    (240, 170, 40),
    (200, 120, 0),
    (150, 150, 150),
    (90, 90, 90),
    (190, 160, 120),
    (230, 90, 80),
    (170, 30, 50),
    (204, 121, 167),
    (117, 76, 160),
)

_OF_NAME = {
    name: category
    for category in CATEGORIES
    for name in (category.name, category.raw_name)
}


def category_named(name: str) -> Category:
    """Return the category of that name in either name set.

    Raises:
        KeyError: if neither set has the name.
    """
    try:
        return _OF_NAME[name]
    except KeyError:
        raise KeyError(
            f'Expected one of the DeepFashion2 categories {listed(CLASSES)} '
            f'or its raw name, but got {name!r}.'
        ) from None
