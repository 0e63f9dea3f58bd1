"""Columns of numbers out of lists of JSON objects, with errors that point.

A COCO file is a list of small objects. ``Records`` reads one field of all of
them at a time, so that a result file of half a million boxes costs little
more than parsing it, and only when something is wrong looks for the first
object that is to blame.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from operator import itemgetter
from typing import Any, Callable

import numpy as np

_NUMBER = {int, float}

#: The largest coordinate or side, in pixels: image formats count in 31 bits.
#: Products of two are finite and exact enough.
LARGEST = 1 << 31


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
            label = f'{self.name} id {shorten(item["id"])}'
        if 'image_id' in item:
            label += f' (image id {shorten(item["image_id"])})'
        return f'{label} of {self.source}'

    def only(self, rows: np.ndarray) -> Records:
        """Return the objects at some places, ``(m,)``."""
        items = [self.items[row] for row in rows.tolist()]
        return Records(items, self.source, self.name)

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
                f'Expected {article(key)} {key!r} in {self.where(index)}, '
                f'but it has only {listed(sorted(item))}.'
            ) from None

    def references(self, key: str) -> list[Any]:
        """Return one required field that refers to an id, of every object.

        Raises:
            ValueError: naming the first object whose value can be no id.
        """
        values = self.column(key)
        for index, value in enumerate(values):
            if not isinstance(value, (int, str, float)):
                raise ValueError(
                    f'Expected {key!r} of {self.where(index)} to be a number '
                    f'or a text, but got {shorten(value)}.'
                )
        return values

    def texts(self, key: str) -> list[str]:
        """Return one required field of every object, a text in each.

        Raises:
            ValueError: naming the first object whose value is no text, an
                empty one, or one that cannot be written.
        """
        values = self.column(key)
        for index, value in enumerate(values):
            if not isinstance(value, str) or not value or not writable(value):
                raise ValueError(
                    f'Expected {key!r} of {self.where(index)} to be a text, '
                    f'but got {shorten(value)}.'
                )
        return values

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
            array = _array(values)
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
            key: the field, such as ``'bbox'``, in pixels.
            length: how many numbers each value must have.

        Returns:
            float64 ``(n, length)``; ``(0, length)`` without objects.

        Raises:
            ValueError: naming the first object whose value is no list of
                ``length`` finite numbers of at most :data:`LARGEST`.
        """
        values = self.column(key)
        if set(map(type, values)) <= {list, tuple} and set(
            map(len, values)
        ) <= {length}:
            flat = list(chain.from_iterable(values))
            if set(map(type, flat)) <= _NUMBER:
                array = _array(flat)
                if (abs(array) <= LARGEST).all():  # NaN is not, either
                    return array.reshape(-1, length)
        index, value = self._first(
            values,
            lambda value: (
                not isinstance(value, (list, tuple))
                or len(value) != length
                or not all(_finite(v) and abs(v) <= LARGEST for v in value)
            ),
        )
        right = isinstance(value, (list, tuple)) and len(value) == length
        large = right and all(map(_finite, value))
        limit = f', none above {LARGEST:,}' if large else ''
        raise ValueError(
            f'Expected {key!r} of {self.where(index)} to be {length} finite '
            f'numbers{limit}, but got {shorten(value)}.'
        )

    def boxes(self, or_masks: bool = False) -> np.ndarray:
        """Return boxes as float64 ``(n, 4)``: x, y, width, height in pixels.

        Args:
            or_masks: give NaN for an object that has a mask and no box.

        Raises:
            ValueError: naming the first object whose box is not four finite
                numbers of at most :data:`LARGEST`, or has a negative width
                or height.
        """
        if not or_masks:
            return check_boxes(self, self.vectors('bbox', 4))
        boxed = self.boxed()
        boxes = np.full((len(self), 4), np.nan)
        rows = np.flatnonzero(boxed)
        part = Records([self.items[r] for r in rows], self.source, self.name)
        boxes[rows] = part.boxes()
        return boxes

    def boxed(self) -> np.ndarray:
        """Tell which objects have a box, or no mask instead, bool ``(n,)``."""
        return np.fromiter(
            (
                item.get('bbox') not in (None, [])
                or not item.get('segmentation')
                for item in self.items
            ),
            bool,
            len(self),
        )

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
                dict.fromkeys(
                    v
                    for v in values
                    if not isinstance(v, (list, dict))
                    and not _known(v, lookup)
                )
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


def _array(values: Sequence[Any]) -> np.ndarray:
    """Return numbers as float64 ``(n,)``; those too large are infinite."""
    try:
        return np.fromiter(values, np.float64, len(values))
    except OverflowError:  # an integer of 400 digits
        return np.array([v if _finite(v) else math.inf for v in values])


def _finite(value: Any) -> bool:
    try:
        return type(value) in _NUMBER and math.isfinite(value)
    except OverflowError:
        return False


def writable(text: str) -> bool:
    """Tell whether a text has no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def counted(number: int, noun: str, plural: str = '') -> str:
    """Return a number with its noun, in the plural unless it is one.

    >>> counted(1, 'image'), counted(2000, 'box', 'boxes')
    ('1 image', '2,000 boxes')
    """
    return f'{number:,} {noun if number == 1 else plural or noun + "s"}'


def article(word: str) -> str:
    """Return 'a' or 'an'."""
    return 'an' if word[0] in 'aeiou' else 'a'


def _known(value: Any, lookup: dict[Any, int]) -> bool:
    try:
        return value in lookup
    except TypeError:  # a list or an object is no key
        return False


def check_boxes(records: Records, boxes: np.ndarray) -> np.ndarray:
    """Return boxes ``(n, 4)`` after a look at their sizes.

    Raises:
        ValueError: naming the first object whose box has a negative width
            or height.
    """
    negative = (boxes[:, 2:] < 0).any(axis=1)
    if negative.any():
        index = int(np.argmax(negative))
        raise ValueError(
            f"Expected 'bbox' of {records.where(index)} to be [x, y, width, "
            'height] with no negative size, but got '
            f'{shorten(records.items[index]["bbox"])}.'
        )
    return boxes


def shorten(value: Any, limit: int = 60) -> str:
    """Return ``repr(value)``, cut to ``limit`` characters.

    What would make ``repr`` fail or take long (an integer of thousands of
    digits, an endless list) is cut before.
    """
    if isinstance(value, int) and abs(value) >= 1 << 128:
        return f'an integer of about {value.bit_length() * 0.30103:.0f} digits'
    if isinstance(value, str):
        value = value[: limit + 1]
    elif isinstance(value, (list, dict)):
        text = _opening.repr(value)
        return text if len(text) <= limit else f'{text[: limit - 3]}...'
    text = repr(value)
    return text if len(text) <= limit else f'{text[: limit - 3]}...'


def listed(values: Iterable[Any], count: int = 8) -> str:
    """Return values as text, ``'a', 'b', …``, the first ``count`` of them."""
    shown = [shorten(value) for value in islice(values, count + 1)]
    return ', '.join(shown[:count]) + (', …' if shown[count:] else '')


class _Opening(reprlib.Repr):
    """The first entries of lists and objects, large numbers named only."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlist = self.maxdict = self.maxtuple = 12
        self.maxstring = self.maxother = self.maxlong = 60

    def repr_int(self, value: int, level: int) -> str:
        """Return an integer, or how long it is."""
        return shorten(value)


_opening = _Opening()
