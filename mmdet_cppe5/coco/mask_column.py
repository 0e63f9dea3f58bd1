"""The masks of a whole file, checked together.

Everything is looked at in a few passes over all masks; what a pass turns the
numbers into goes on to pycocotools, which takes arrays faster than lists, so
that the checks cost next to nothing. Only where a pass finds something odd
does :func:`~mmdet_cppe5.coco.mask_content.mask_fault` look at single masks.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from operator import getitem, itemgetter
from typing import Any, Optional, Union

import numpy as np

from mmdet_cppe5.coco.mask_content import (
    FARTHEST,
    LONGEST_OUTLINE,
    MOST_PIXELS,
    Size,
    as_text,
    mask_fault,
)
from mmdet_cppe5.coco.run_lengths import WRONG, measure

_Rows = list[int]


@dataclass(frozen=True)
class MaskColumn:
    """Masks of many records, looked at and ready for pycocotools.

    Attributes:
        values: the ``segmentation`` of each record; lists of numbers in it
            may have become arrays.
        pixels: how many pixels each mask has, int64 ``(n,)``; -1 where that
            is not known yet.
        boxes: x, y, width, height of each mask's bounds, float64 ``(n, 4)``;
            NaN where they are not known yet.
        plain: whether all values are compressed texts with their size, which
            pycocotools takes as they stand.
    """

    values: list[Any]
    pixels: np.ndarray
    boxes: np.ndarray
    plain: bool = False

    @classmethod
    def unmeasured(cls, values: Sequence[Any]) -> MaskColumn:
        """Return masks of which nothing is known yet."""
        count = len(values)
        pixels = np.full(count, WRONG, np.int64)
        return cls(list(values), pixels, np.full((count, 4), np.nan))


def look_at(
    values: Sequence[Any], sizes: Sequence[Size], bounds: bool = False
) -> Union[MaskColumn, int]:
    """Check many masks at once.

    Args:
        values: the ``segmentation`` of each record.
        sizes: height and width of each record's image.
        bounds: whether the masks' bounds will be asked for.

    Returns:
        The masks, or the place of the first that is not as it should be.
    """
    sides = np.fromiter(chain.from_iterable(sizes), np.int64, 2 * len(sizes))
    sides = sides.reshape(-1, 2)
    column = MaskColumn.unmeasured(values)
    texts = _texts_alone(values, sides)
    if texts is not None:
        column.pixels[:], column.boxes[:] = measure(texts, sides, bounds)
        odd = np.flatnonzero(column.pixels == WRONG).tolist()
    else:
        polygons, coded, counts, odd = _by_form(values, sizes)
        odd += _look_at_texts(column, coded, sides, bounds)
        odd += _look_at_counts(column, counts, sides)
        odd += _look_at_polygons(column, polygons, sides)
    for row in sorted(odd):
        if mask_fault(values[row], sizes[row]):
            return row
    return replace(column, plain=texts is not None)


def _texts_alone(
    values: Sequence[Any], sides: np.ndarray
) -> Optional[list[str]]:
    """Return the texts where all masks are such, each of the right size."""
    if set(map(type, values)) != {dict}:
        return None
    try:
        texts, stated = zip(*map(itemgetter('counts', 'size'), values))
        flat = array('I', chain.from_iterable(stated))
    except (KeyError, TypeError, OverflowError):
        return None
    if set(map(type, texts)) != {str} or set(map(type, stated)) != {list}:
        return None
    if set(map(len, stated)) != {2}:
        return None
    right = np.frombuffer(flat, 'I') == sides.ravel()
    return list(texts) if right.all() else None


def _by_form(
    values: Sequence[Any], sizes: Sequence[Size]
) -> tuple[_Rows, _Rows, _Rows, _Rows]:
    """Return the rows of polygons, texts, counts, and of anything else."""
    polygons: _Rows = []
    texts: _Rows = []
    counts: _Rows = []
    odd: _Rows = []
    forms = {str: texts, bytes: texts, list: counts}
    for row, value in enumerate(values):
        kind = type(value)
        if kind is dict:
            stated = value.get('size')
            if type(stated) is list and (*stated,) == sizes[row]:
                forms.get(type(value.get('counts')), odd).append(row)
                continue
        (polygons if kind is list else odd).append(row)
    return polygons, texts, counts, odd


def _look_at_texts(
    column: MaskColumn, rows: _Rows, sides: np.ndarray, bounds: bool
) -> _Rows:
    """Measure compressed masks; return the rows that are odd."""
    texts = [as_text(column.values[row]['counts']) for row in rows]
    found = measure(texts, sides[rows], bounds)
    column.pixels[rows], column.boxes[rows] = found
    return [rows[k] for k in np.flatnonzero(found.pixels == WRONG).tolist()]


def _look_at_counts(
    column: MaskColumn, rows: _Rows, sides: np.ndarray
) -> _Rows:
    """Turn run lengths into arrays; return the rows if any is odd."""
    masks = [column.values[row] for row in rows]
    lists = [mask['counts'] for mask in masks]
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    if not rows or not lengths.all():
        return rows
    flat = _numbers(lists, lengths, 'I')
    if flat is None or flat.max() > MOST_PIXELS:
        return rows
    starts = np.cumsum(lengths) - lengths
    sums = np.add.reduceat(flat, starts, dtype=np.int64)
    if (sums != sides[rows].prod(axis=1)).any():
        return rows
    for row, mask, part in zip(rows, masks, _parts(flat, lengths)):
        column.values[row] = {'size': mask['size'], 'counts': part}
    return []


def _look_at_polygons(
    column: MaskColumn, rows: _Rows, sides: np.ndarray
) -> _Rows:
    """Turn polygons into arrays; return the rows if any is odd."""
    masks = [column.values[row] for row in rows]
    polygons = list(chain.from_iterable(masks))
    if not all(masks) or not polygons or set(map(type, polygons)) != {list}:
        return rows
    lengths = np.fromiter(map(len, polygons), np.int64, len(polygons))
    if (lengths % 2).any() or (lengths < 6).any():
        return rows
    flat = _numbers(polygons, lengths, 'd')
    if flat is None:
        return rows
    farthest = max(flat.max(), -flat.min())
    if not farthest <= FARTHEST - sides[rows].max():  # NaN is not, either
        return rows
    # No step is longer than from one end of the range to the other.
    if lengths.max() * farthest > LONGEST_OUTLINE:
        return rows
    parts = iter(_parts(flat, lengths))
    for row, mask in zip(rows, masks):
        column.values[row] = list(islice(parts, len(mask)))
    return []


def _numbers(
    lists: list[list[Any]], lengths: np.ndarray, typecode: str
) -> Optional[np.ndarray]:
    """Return the numbers of all lists in a row; None if one is no number.

    Args:
        lists: the numbers, at least one.
        lengths: how many each list has.
        typecode: ``'d'`` or ``'I'``, of Python's arrays: floating point
            numbers, or integers from 0 to 32 bits, which are faster.
    """
    numbers = array(typecode)
    try:
        for values in lists:
            numbers.fromlist(values)
    except (TypeError, OverflowError):  # negative, or of 400 digits
        return None
    flat = np.frombuffer(numbers, numbers.typecode)
    # An array takes true for 1, so every 0 and 1 is asked where it came from.
    places = np.flatnonzero((flat == 0) | (flat == 1))
    ends = np.cumsum(lengths)
    rows = np.searchsorted(ends, places, 'right')
    inner = places - (ends - lengths)[rows]
    origins = map(
        getitem, map(lists.__getitem__, rows.tolist()), inner.tolist()
    )
    if bool in set(map(type, origins)):
        return None
    return flat


def _parts(flat: np.ndarray, lengths: np.ndarray) -> list[np.ndarray]:
    """Cut numbers in a row into those of each list."""
    ends = np.cumsum(lengths).tolist()
    return [flat[start:end] for start, end in zip([0, *ends], ends)]
