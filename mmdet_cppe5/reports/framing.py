"""Which part of a photo to show, and what to draw on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Width by height of the pictures on cards.
SHAPE = 4 / 3


@dataclass(frozen=True)
class Mark:
    """One box on an example: its role, place and words."""

    role: str
    x: float
    y: float
    w: float
    h: float
    tag: str = ''
    tag_x: float = 0
    tag_y: float = 0


def box_iou(box: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the IoU of one box with others; x, y, width, height each.

    Args:
        box: ``(4,)``.
        others: ``(n, 4)``.

    Returns:
        float ``(n,)``; 0 for boxes without area.
    """
    low = np.maximum(box[:2], others[:, :2])
    high = np.minimum(box[:2] + box[2:], others[:, :2] + others[:, 2:])
    both = np.prod(np.clip(high - low, 0, None), axis=1)
    either = box[2] * box[3] + others[:, 2] * others[:, 3] - both
    return np.divide(both, either, out=np.zeros_like(both), where=either > 0)


def crop(
    boxes: np.ndarray, size: np.ndarray
) -> tuple[float, float, float, float]:
    """Return the part of an image to show around boxes.

    It has the shape of a card and leaves the boxes room; where the image is
    too small for that it reaches over the image's edge.

    Args:
        boxes: x, y, width, height, ``(n, 4)``, n at least 1.
        size: width and height of the image.

    Returns:
        x, y, width, height in pixels.
    """
    low = boxes[:, :2].min(axis=0)
    high = (boxes[:, :2] + boxes[:, 2:]).max(axis=0)
    centre = (low + high) / 2
    # Enough around to recognise the scene, also for tiny boxes.
    wanted = np.maximum((high - low) * 1.7, 0.22 * max(size))
    width = max(wanted[0], wanted[1] * SHAPE)
    width = min(width, max(size[0], size[1] * SHAPE))
    extent = np.array([width, width / SHAPE])
    corner = centre - extent / 2
    room = size - extent
    corner = np.where(room >= 0, np.clip(corner, 0, None), room / 2)
    corner = np.where(room >= 0, np.minimum(corner, room), corner)
    x, y, w, h = np.concatenate([corner, extent]).round(1).tolist()
    return x, y, w, h


def tagged(
    role: str,
    box: np.ndarray,
    tag: str,
    view: tuple[float, float, float, float],
    font: float,
) -> Mark:
    """Put a tag above a detection, below an object, inside the view.

    Args:
        role: what kind of box it is; see :class:`Mark`.
        box: x, y, width, height in pixels.
        tag: the words.
        view: x, y, width, height of the part shown.
        font: size of the tag in pixels of the photo.
    """
    x, y, w, h = (float(value) for value in np.round(box, 1))
    tag = tag if len(tag) <= 26 else f'{tag[:14]}…{tag[-9:]}'
    left, top, width, height = view
    # A bold letter is about 0.66 of the font's size wide.
    last = left + width - 0.66 * font * len(tag)
    tag_x = max(min(x, last), left) + 0.2 * font
    wanted = y - 0.35 * font if role == 'det' else y + h + 1.0 * font
    if wanted < top + font:
        wanted = max(y, top) + 1.1 * font
    if wanted > top + height - 0.2 * font:
        wanted = min(y + h, top + height) - 0.4 * font
    return Mark(role, x, y, w, h, tag, round(tag_x, 1), round(wanted, 1))
