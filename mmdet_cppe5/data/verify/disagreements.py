"""How the boxes of two images that look the same differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mmdet_cppe5.data.verify.boxes import paired_iou
from mmdet_cppe5.data.verify.columns import NO_BOX, Columns


@dataclass(frozen=True)
class LabelledImage:
    """An image's boxes, for comparison with those of its twin.

    Attributes:
        columns: its annotation file.
        rows: its annotations.
        size: its width and height in pixels.
    """

    columns: Columns
    rows: np.ndarray
    size: tuple[int, int]

    def unit_boxes(self) -> np.ndarray:
        """Return the boxes as fractions of the image, ``(n, 4)``."""
        scale = np.array([*self.size, *self.size], dtype=np.float64)
        return self.columns.boxes[self.rows] / scale

    def name(self, position: int, names: dict[Any, str]) -> str:
        """Name one of the boxes by class and annotation."""
        row = int(self.rows[position])
        key = self.columns.category_ids[row]
        return f'{names.get(key, key)} ({self.columns.name(row)})'


def labelled(
    columns: Columns, image: np.ndarray, position: int, size: tuple[int, int]
) -> LabelledImage:
    """Return the usable boxes of the image at one position."""
    usable = ((columns.flags & NO_BOX) == 0) & (image == position)
    usable &= (columns.boxes[:, 2:] > 0).all(axis=1)
    return LabelledImage(columns, np.flatnonzero(usable), size)


def disagreements(
    one: LabelledImage, two: LabelledImage, names: dict[Any, str]
) -> list[str]:
    """Say how the boxes of two images that look the same differ.

    Boxes are paired from the largest overlap down. A pair with IoU of at
    least 0.5 must have one class; one with less differs in place.

    Args:
        one: the first image.
        two: the second.
        names: class names by category id.
    """
    boxes, others = one.unit_boxes(), two.unit_boxes()
    iou = paired_iou(boxes[:, None], others[None])
    texts = []
    left, right = set(range(len(boxes))), set(range(len(others)))
    for flat in np.argsort(-iou, axis=None, kind='stable').tolist():
        a, b = divmod(flat, len(others))
        if iou[a, b] <= 0.1:
            break
        if a not in left or b not in right:
            continue
        same = _class(one, a, names) == _class(two, b, names)
        if not same and iou[a, b] < 0.5:
            continue
        left.remove(a)
        right.remove(b)
        if not same or iou[a, b] < 0.5:
            what = 'place' if same else 'class'
            texts.append(
                f'{one.name(a, names)} and {two.name(b, names)} differ in '
                f'{what}: IoU {iou[a, b]:.2f}'
            )
    for image, rest, which in ((one, left, 'first'), (two, right, 'second')):
        if rest:
            listed = _by_class(image, sorted(rest), names)
            texts.append(f'only in the {which}: {listed}')
    return texts


def _by_class(
    image: LabelledImage, positions: list[int], names: dict[Any, str]
) -> str:
    """List boxes by class, with their annotations."""
    groups: dict[Any, list[str]] = {}
    for position in positions:
        row = int(image.rows[position])
        name = _class(image, position, names)
        groups.setdefault(name, []).append(repr(image.columns.ids[row]))
    return ', '.join(
        f'{name} (annotation{"s" * (len(ids) > 1)} {", ".join(ids)})'
        for name, ids in groups.items()
    )


def _class(image: LabelledImage, position: int, names: dict[Any, str]) -> Any:
    key = image.columns.category_ids[int(image.rows[position])]
    return names.get(key, key)
