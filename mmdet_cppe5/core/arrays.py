"""Ground truths and detections as plain columns, checked on entry."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class GroundTruths:
    """Every annotated object of a data set, one row each.

    Rows may come in any order; where two ground truths of one image and class
    are equally good for a detection, the later row wins (as pycocotools has
    it). Images and classes are positions ``0..n-1``; labels follow the order
    of the class names, images the order in which ties are resolved
    (pycocotools: ascending image id).

    Args:
        image (array-like): (G,) image position of each object.
        label (array-like): (G,) class position of each object.
        bbox (array-like): (G, 4) boxes ``x, y, width, height`` in absolute
            pixels, continuous coordinates (no ``+1``).
        num_images (int): Images in the data set, those without objects too.
        num_classes (int): Classes in the data set.
        area (array-like): (G,) area in square pixels that decides the size
            range. Defaults to width times height.
        crowd (array-like): (G,) True for a crowd region: any number of
            detections may match it, overlap is taken over the detection's
            own area, and it is never counted. Defaults to all False.
        ignore (array-like): (G,) True for objects that are not counted, nor
            are the detections on them. Crowd regions always are. Defaults to
            ``crowd``.

    Raises:
        TypeError: If an array does not hold numbers.
        ValueError: If lengths differ, a position is out of range, or a value
            is not finite.
    """

    image: IntArray
    label: IntArray
    bbox: FloatArray
    area: FloatArray
    crowd: BoolArray
    ignore: BoolArray
    num_images: int
    num_classes: int

    def __init__(
        self,
        image: Any,
        label: Any,
        bbox: Any,
        *,
        num_images: int,
        num_classes: int,
        area: Any = None,
        crowd: Any = None,
        ignore: Any = None,
    ) -> None:
        columns = _common_columns(
            'ground truth', image, label, bbox, area, num_images, num_classes
        )
        size = len(columns['image'])
        columns['crowd'] = _flags('crowd', crowd, size)
        columns['ignore'] = columns['crowd'] | _flags('ignore', ignore, size)
        for name, column in columns.items():
            object.__setattr__(self, name, column)

    def __len__(self) -> int:
        return len(self.image)

    def __repr__(self) -> str:
        return (
            f'GroundTruths({len(self)} objects, {self.num_images} images, '
            f'{self.num_classes} classes)'
        )


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Detections:
    """Every scored detection of one detector on a data set, one row each.

    Rows may come in any order; among equal scores of one class the earlier
    image comes first, and inside an image the earlier row (pycocotools'
    stable order).

    Args:
        image (array-like): (N,) image position of each detection.
        label (array-like): (N,) class position of each detection.
        bbox (array-like): (N, 4) boxes ``x, y, width, height`` in absolute
            pixels, continuous coordinates (no ``+1``).
        score (array-like): (N,) confidences; any finite numbers.
        num_images (int): Images in the data set.
        num_classes (int): Classes in the data set.
        area (array-like): (N,) area in square pixels that decides the size
            range of an unmatched detection. Defaults to width times height.

    Raises:
        TypeError: If an array does not hold numbers.
        ValueError: If lengths differ, a position is out of range, or a value
            is not finite.
    """

    image: IntArray
    label: IntArray
    bbox: FloatArray
    score: FloatArray
    area: FloatArray
    num_images: int
    num_classes: int

    def __init__(
        self,
        image: Any,
        label: Any,
        bbox: Any,
        score: Any,
        *,
        num_images: int,
        num_classes: int,
        area: Any = None,
    ) -> None:
        columns = _common_columns(
            'detection', image, label, bbox, area, num_images, num_classes
        )
        size = len(columns['image'])
        columns['score'] = _numbers('score', score, (size,))
        for name, column in columns.items():
            object.__setattr__(self, name, column)

    def __len__(self) -> int:
        return len(self.image)

    def __repr__(self) -> str:
        return (
            f'Detections({len(self)} detections, {self.num_images} images, '
            f'{self.num_classes} classes)'
        )


def _common_columns(
    what: str,
    image: Any,
    label: Any,
    bbox: Any,
    area: Any,
    num_images: int,
    num_classes: int,
) -> dict[str, Any]:
    """Check and convert the columns that both kinds of rows have."""
    images = _positions(f'{what} image', image, num_images)
    labels = _positions(f'{what} label', label, num_classes)
    if len(labels) != len(images):
        raise ValueError(
            f'Expected one label per {what}, but got {len(images)} images '
            f'and {len(labels)} labels.'
        )
    if len(images) == 0:
        bbox = np.reshape(bbox, (0, 4))
    boxes = _numbers(f'{what} bbox', bbox, (len(images), 4))
    if area is None:
        areas = boxes[:, 2] * boxes[:, 3]
    else:
        areas = _numbers(f'{what} area', area, (len(images),))
    return {
        'image': images,
        'label': labels,
        'bbox': boxes,
        'area': areas,
        'num_images': int(num_images),
        'num_classes': int(num_classes),
    }


def _positions(what: str, values: Any, count: int) -> IntArray:
    """Return values as positions below count, or say what is wrong."""
    array = np.asarray(values)
    if array.size == 0:
        return np.zeros(0, np.int64)
    if array.ndim != 1 or array.dtype.kind not in 'iu':
        raise TypeError(
            f'Expected {what} to be a one-dimensional array of integer '
            f'positions, but got shape {array.shape} of {array.dtype}.'
        )
    low, high = int(array.min()), int(array.max())
    if low < 0 or high >= count:
        row = int(np.argmax((array < 0) | (array >= count)))
        raise ValueError(
            f'Expected every {what} to be in 0..{count - 1}, but row {row} '
            f'has {array[row]}.'
        )
    return array.astype(np.int64, copy=False)


def _numbers(what: str, values: Any, shape: tuple[int, ...]) -> FloatArray:
    """Return values as finite float64 of the shape, or say what is wrong."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f'Expected {what} to hold numbers, but got {error}.'
        ) from error
    if array.shape != shape:
        raise ValueError(
            f'Expected {what} to have shape {shape}, but got {array.shape}.'
        )
    finite = np.isfinite(array)
    if not finite.all():
        row = int(np.argwhere(~finite)[0][0])
        raise ValueError(
            f'Expected {what} to be finite, but row {row} has {array[row]}.'
        )
    return array


def _flags(what: str, values: Any, size: int) -> BoolArray:
    """Return values as (size,) flags; None means all False."""
    if values is None:
        return np.zeros(size, np.bool_)
    array = np.asarray(values)
    if array.shape != (size,):
        raise ValueError(
            f'Expected {what} to have shape ({size},), but got {array.shape}.'
        )
    return array.astype(np.bool_)
