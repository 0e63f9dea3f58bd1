"""A COCO annotation file, however faulty, as columns of little memory.

A million annotations as dictionaries take most of a gigabyte. Here each is
turned into numbers as soon as the parser has read it, and whatever is not as
it should be becomes a flag.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Union

import numpy as np

from mmdet_cppe5.coco.loading import (
    check_ground_truth_form,
    load_ground_truth_json,
)
from mmdet_cppe5.coco.mask_content import mask_fault
from mmdet_cppe5.coco.records import LARGEST, listed, shorten
from mmdet_cppe5.data.verify.measures import (
    is_text,
    keypoint_fault,
    measure,
    measure_texts,
)
from mmdet_cppe5.files import PathLike, read_json

Id = Union[int, str, float, None]

# Flags of an annotation.
NO_AREA = 1
BAD_AREA = 2
NO_CROWD = 4
BAD_CROWD = 8
CROWD = 16
MASK = 32  # has a segmentation, so that its area need not be w * h
NO_BOX = 64

# Keys of images and categories, and all that is looked at where it is there.
_OF_OTHERS = {'file_name', 'width', 'height', 'supercategory', 'coco_url'}
_UNUSUAL = {'keypoints', 'score', *_OF_OTHERS}

_NO_BOX = [float('nan')] * 4


@dataclass(frozen=True)
class Unfit:
    """Stands for a value that can be no id, such as a list."""

    text: str

    def __repr__(self) -> str:
        return self.text


class Row(int):
    """The place of an annotation in the columns, left by the parser."""

    __slots__ = ()


_CHARACTERS = 1 << 18  # of compressed masks that are decoded at once


@dataclass
class Columns:
    """A COCO annotation file as columns.

    Attributes:
        source: the file's name.
        images: the image records as they are.
        categories: the category records as they are.
        ids: annotation ids as they are; None where missing.
        image_ids: the image ids that the annotations name.
        category_ids: the category ids that the annotations name.
        boxes: x, y, width, height, float64 ``(n, 4)``; NaN where the file
            has no four finite numbers.
        areas: declared areas, float64 ``(n,)``; NaN where there is none.
        flags: the flags above, uint8 ``(n,)``.
        strays: entries of ``annotations`` that are no annotations.
        mask_faults: what is wrong with masks, by row.
        keypoint_faults: what is wrong with keypoints, by row.
        keypoint_counts: numbers of keypoints, by row.
        scores: what stands under ``score``, by row.
        stray_keys: keys of other kinds of records, by row.
        masks: row, and what
            :func:`~mmdet_cppe5.data.verify.measures.measure` tells, of each
            mask, float64 ``(m, 8)``.
    """

    source: str
    images: list[Any]
    categories: list[Any]
    ids: list[Any]
    image_ids: list[Any]
    category_ids: list[Any]
    boxes: np.ndarray
    areas: np.ndarray
    flags: np.ndarray
    strays: list[str]
    mask_faults: dict[int, str] = field(default_factory=dict)
    keypoint_faults: dict[int, str] = field(default_factory=dict)
    keypoint_counts: dict[int, int] = field(default_factory=dict)
    scores: dict[int, str] = field(default_factory=dict)
    stray_keys: dict[int, str] = field(default_factory=dict)
    masks: np.ndarray = field(default_factory=lambda: np.zeros((0, 8)))

    def __len__(self) -> int:
        return len(self.ids)

    def name(self, row: int) -> str:
        """Name one annotation by its id, or by its place without one."""
        value = self.ids[row]
        if value is None:
            return f'annotation number {row}'
        return f'annotation {value!r}'


class _Collector:
    """Turns annotations into columns while the parser runs."""

    def __init__(self) -> None:
        self.ids: list[Any] = []
        self.image_ids: list[Any] = []
        self.category_ids: list[Any] = []
        self.boxes = array('d')
        self.areas = array('d')
        self.flags = array('B')
        self.masks = array('d')
        self._texts: list[tuple[int, dict[str, Any]]] = []
        self._characters = 0
        self.mask_faults: dict[int, str] = {}
        self.keypoint_faults: dict[int, str] = {}
        self.keypoint_counts: dict[int, int] = {}
        self.scores: dict[int, str] = {}
        self.stray_keys: dict[int, str] = {}
        self._same: dict[Any, Any] = {}

    def __call__(self, item: dict[str, Any]) -> Any:
        """Keep an annotation's columns; hand anything else back."""
        if 'image_id' not in item and (
            'bbox' not in item or 'file_name' in item
        ):
            return item
        self.ids.append(_plain(item.get('id')))
        self.image_ids.append(self._shared(item.get('image_id')))
        self.category_ids.append(self._shared(item.get('category_id')))
        flags = self._box(item.get('bbox'))
        flags |= self._area(item)
        crowd = item.get('iscrowd')
        if crowd is None:
            flags |= NO_CROWD
        elif crowd == 1:
            flags |= CROWD
        elif crowd != 0:
            flags |= BAD_CROWD
        row = len(self.ids) - 1
        if item.get('segmentation'):
            flags |= MASK
            self._mask(row, item['segmentation'])
        if item.keys() & _UNUSUAL:
            self._unusual(row, item)
        self.flags.append(flags)
        return Row(row)

    def _mask(self, row: int, mask: Any) -> None:
        if is_text(mask):  # decoded many at once
            self._texts.append((row, mask))
            self._characters += len(mask['counts'])
            if self._characters > _CHARACTERS:
                self.measure_texts()
            return
        fault = mask_fault(mask)
        if fault:
            self._mask_fault(row, fault)
        else:
            self.masks.extend((row, *measure(mask)))

    def measure_texts(self) -> None:
        """Measure the compressed masks that are waiting for it."""
        if not self._texts:
            return
        measures = measure_texts([mask for _, mask in self._texts])
        for (row, mask), values in zip(self._texts, measures.tolist()):
            if values[0] == values[0]:  # not NaN
                self.masks.extend((row, *values))
            else:
                self._mask_fault(row, mask_fault(mask))
        self._texts, self._characters = [], 0

    def _mask_fault(self, row: int, fault: str) -> None:
        self.mask_faults[row] = f'expected {fault.rstrip(".")}'

    def _unusual(self, row: int, item: dict[str, Any]) -> None:
        """Note keypoints, scores, and keys of other kinds of records."""
        if item.get('keypoints') is not None:
            fault = keypoint_fault(item)
            if fault:
                self.keypoint_faults[row] = fault
            else:
                self.keypoint_counts[row] = len(item['keypoints']) // 3
        if 'score' in item:
            self.scores[row] = f'score {shorten(item["score"])}'
        strays = sorted(item.keys() & _OF_OTHERS)
        if strays:
            self.stray_keys[row] = f'has {listed(strays)}'

    def _shared(self, value: Any) -> Any:
        """Return one object for equal ids, which saves 28 bytes each."""
        value = _plain(value)
        key = (type(value), value)
        return self._same.setdefault(key, value)

    def _box(self, box: Any) -> int:
        if isinstance(box, list) and len(box) == 4:
            try:
                self.boxes.fromlist(box)
            except (OverflowError, TypeError):
                pass
            else:
                return 0
        self.boxes.extend(_NO_BOX)
        return NO_BOX

    def _area(self, item: dict[str, Any]) -> int:
        area = item.get('area')
        if isinstance(area, (int, float)) and abs(area) <= LARGEST**2:
            self.areas.append(area)
            return BAD_AREA if area < 0 else 0
        self.areas.append(float('nan'))
        return NO_AREA if area is None else BAD_AREA


def _plain(value: Any) -> Any:
    if value is None or type(value) in (int, str, float):
        return value
    return Unfit(shorten(value))


def read_columns(path: PathLike) -> Columns:
    """Read a COCO annotation file into columns.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is no JSON, or has not the three lists.
    """
    collector = _Collector()
    what = 'ground truth (a COCO annotation file)'
    try:
        data = read_json(path, what, object_hook=collector)
        if isinstance(data, dict):
            data.setdefault('annotations', [])
        check_ground_truth_form(data, str(path))
    except ValueError:
        # The usual reader says better what the file is instead.
        load_ground_truth_json(path, annotated=False)
        raise
    collector.measure_texts()
    entries = data['annotations']
    rows = np.array(
        [entry for entry in entries if type(entry) is Row], dtype=np.intp
    )
    strays = [shorten(entry) for entry in entries if type(entry) is not Row]
    boxes = np.array(collector.boxes, dtype=np.float64).reshape(-1, 4)
    flags = np.array(collector.flags, dtype=np.uint8)
    odd = ~(abs(boxes) <= LARGEST).all(axis=1)  # NaN is odd, too
    flags[odd] |= NO_BOX
    boxes[odd] = np.nan
    return Columns(
        str(path),
        data['images'],
        data['categories'],
        _take(collector.ids, rows),
        _take(collector.image_ids, rows),
        _take(collector.category_ids, rows),
        boxes[rows],
        np.array(collector.areas, dtype=np.float64)[rows],
        flags[rows],
        strays,
        **_by_row(collector, rows),
    )


def _by_row(collector: _Collector, rows: np.ndarray) -> dict[str, Any]:
    """Return what is kept by row, under the numbers of the final rows."""
    place = {int(row): number for number, row in enumerate(rows)}
    found: dict[str, Any] = {
        name: {
            place[row]: text
            for row, text in getattr(collector, name).items()
            if row in place
        }
        for name in (
            'mask_faults',
            'keypoint_faults',
            'keypoint_counts',
            'scores',
            'stray_keys',
        )
    }
    masks = np.array(collector.masks, dtype=np.float64).reshape(-1, 8)
    masks = masks[np.isin(masks[:, 0], rows)]
    masks[:, 0] = [place[int(row)] for row in masks[:, 0]]
    found['masks'] = masks
    return found


def _take(values: list[Any], rows: np.ndarray) -> list[Any]:
    """Return the values of the rows, the same list if those are all."""
    if np.array_equal(rows, np.arange(len(values))):
        return values
    return [values[row] for row in rows.tolist()]


def positions(values: Sequence[Any], lookup: dict[Any, int]) -> np.ndarray:
    """Return where each value stands in ``lookup``, -1 if nowhere."""
    return np.fromiter(
        (lookup.get(value, -1) for value in values), np.intp, len(values)
    )
