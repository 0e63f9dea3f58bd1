"""Columns of numbers out of lists of JSON objects, with errors that point.

A COCO file is a list of small objects. ``Records`` reads one field of all of
them at a time, so that a result file of half a million boxes costs little
more than parsing it, and only when something is wrong looks for the first
object that is to blame.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, Callable

import numpy as np

_NUMBER = {int, float}


class Records:
    """A list of JSON objects of one file.

    Args:
        items: the objects.
        source: the file's name, for error messages.
        name: what one object is called, ``'annotation'`` or ``'entry'``.

    Raises:
        ValueError: if an item is not a JSON object.
    """

    def __init__(
        self, items: Sequence[dict[str, Any]], source: str, name: str
    ) -> None:
        self.items = items
        self.source = source
        self.name = name
        if not set(map(type, items)) <= {dict}:
            index, item = self._first(
                items, lambda item: not isinstance(item, dict)
            )
            raise ValueError(
                f'Expected every {name} of {source} to be a JSON object, '
                f'but number {index} is {shorten(item)}.'
            )

    def __len__(self) -> int:
        return len(self.items)

    def where(self, index: int) -> str:
        """Name one object: its id or place, its image and its file."""
        item = self.items[index]
        label = f'{self.name} number {index}'
        if 'id' in item:
            label = f'{self.name} id {item["id"]!r}'
        if 'image_id' in item:
            label += f' (image id {item["image_id"]!r})'
        return f'{label} of {self.source}'

    def column(self, key: str) -> list[Any]:
        """Return one required field of every object.

        Raises:
            ValueError: naming the first object without the field.
        """
        try:
            return list(map(itemgetter(key), self.items))
        except KeyError:
            index, item = self._first(self.items, lambda item: key not in item)
            raise ValueError(
                f'Expected a {key!r} in {self.where(index)}, but it has '
                f'only {sorted(item)}.'
            ) from None

    def floats(self, key: str) -> np.ndarray:
        """Return one required field as finite numbers, float64 ``(n,)``.

        Raises:
            ValueError: naming the first object whose value is no finite
                number.
        """
        return self.to_floats(key, self.column(key))

    def to_floats(self, key: str, values: Sequence[Any]) -> np.ndarray:
        """Turn one value per object into finite float64 numbers ``(n,)``.

        Raises:
            ValueError: naming the first object whose value is no finite
                number.
        """
        if set(map(type, values)) <= _NUMBER:
            array = np.fromiter(values, np.float64, len(values))
            if np.isfinite(array).all():
                return array
        index, value = self._first(values, lambda value: not _finite(value))
        raise ValueError(
            f'Expected {key!r} of {self.where(index)} to be a finite number, '
            f'but got {shorten(value)}.'
        )

    def vectors(self, key: str, length: int) -> np.ndarray:
        """Return one required field as rows of finite numbers.

        Args:
            key: the field, such as ``'bbox'``.
            length: how many numbers each value must have.

        Returns:
            float64 ``(n, length)``; ``(0, length)`` without objects.

        Raises:
            ValueError: naming the first object whose value is no list of
                ``length`` finite numbers.
        """
        values = self.column(key)
        if set(map(type, values)) <= {list, tuple} and set(
            map(len, values)
        ) <= {length}:
            flat = list(chain.from_iterable(values))
            if set(map(type, flat)) <= _NUMBER:
                array = np.fromiter(flat, np.float64, len(flat))
                if np.isfinite(array).all():
                    return array.reshape(-1, length)
        index, value = self._first(
            values,
            lambda value: (
                not isinstance(value, (list, tuple))
                or len(value) != length
                or not all(map(_finite, value))
            ),
        )
        raise ValueError(
            f'Expected {key!r} of {self.where(index)} to be {length} finite '
            f'numbers, but got {shorten(value)}.'
        )

    def boxes(self, key: str = 'bbox') -> np.ndarray:
        """Return boxes as float64 ``(n, 4)``: x, y, width, height in pixels.

        Raises:
            ValueError: naming the first object whose box is not four finite
                numbers or has a negative width or height.
        """
        boxes = self.vectors(key, 4)
        negative = np.flatnonzero((boxes[:, 2:] < 0).any(axis=1))
        if negative.size:
            index = int(negative[0])
            raise ValueError(
                f'Expected {key!r} of {self.where(index)} to be [x, y, '
                'width, height] with no negative size, but got '
                f'{shorten(self.items[index][key])}.'
            )
        return boxes

    def positions(
        self,
        key: str,
        lookup: dict[Any, int],
        explain: Callable[[list[Any]], str],
    ) -> np.ndarray:
        """Return where each object's ``key`` stands, intp ``(n,)``.

        Args:
            key: the field that refers to something, such as ``'image_id'``.
            lookup: position of every value that may be referred to.
            explain: given the distinct unknown values, says what is known.

        Raises:
            ValueError: naming the first object that refers to something
                unknown.
        """
        values = self.column(key)
        try:
            return np.fromiter(
                map(lookup.__getitem__, values), np.intp, len(values)
            )
        except (KeyError, TypeError):
            pass
        index, value = self._first(values, lambda v: not _known(v, lookup))
        unknown = (
            [value]
            if isinstance(value, (list, dict))
            else list(
                dict.fromkeys(v for v in values if not _known(v, lookup))
            )
        )
        raise ValueError(
            f'Expected {key!r} of {self.where(index)} to be known, but got '
            f'{shorten(value)}: {explain(unknown)}'
        )

    @staticmethod
    def _first(
        values: Sequence[Any], wrong: Callable[[Any], bool]
    ) -> tuple[int, Any]:
        return next(
            (index, value)
            for index, value in enumerate(values)
            if wrong(value)
        )


def _finite(value: Any) -> bool:
    return type(value) in _NUMBER and math.isfinite(value)


def _known(value: Any, lookup: dict[Any, int]) -> bool:
    try:
        return value in lookup
    except TypeError:  # a list or an object is no key
        return False


def shorten(value: Any, limit: int = 60) -> str:
    """Return ``repr(value)``, cut to ``limit`` characters."""
    text = repr(value)
    return text if len(text) <= limit else f'{text[: limit - 3]}...'
