"""Declared image sizes against the files, and what to do about a mismatch.

Some training images of CPPE-5 declare a width and height that their file
does not have. Which frame their boxes were drawn in must then be inferred:

* one side agrees: only the other number is wrong, the boxes are the file's;
* the shapes agree within 1 %: the file was resized after the boxes had been
  drawn, so boxes follow the file's scale;
* neither: nothing says where the boxes belong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from mmdet_cppe5.files import PathLike

Size = tuple[int, int]

# Exif orientations that exchange width and height on loading.
_QUARTER_TURNS = (5, 6, 7, 8)
_EXIF_ORIENTATION = 274


def file_size(path: PathLike) -> Size:
    """Return width and height of an image file, reading only its header.

    The size is the one the image has once loaded: Exif rotation, which
    MMDetection's loader applies, is taken into account.

    Raises:
        ValueError: if the file is no image that Pillow knows.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            width, height = image.size
            turned = image.getexif().get(_EXIF_ORIENTATION)
    except UnidentifiedImageError as error:
        raise ValueError(
            f'Expected an image in {path}, but its header is of no known '
            'image format; fetch the file again.'
        ) from error
    return (height, width) if turned in _QUARTER_TURNS else (width, height)


@dataclass(frozen=True)
class SizeFault:
    """An image whose declared size is not the size of its file.

    Attributes:
        image_id: the image's id.
        declared: width and height in the annotation file.
        actual: width and height of the image file.
    """

    image_id: Any
    declared: Size
    actual: Size

    @property
    def remedy(self) -> str:
        """``'kept'``, ``'rescaled'`` or ``'left out'``, of the boxes."""
        (width, height), (real_width, real_height) = self.declared, self.actual
        if width == real_width or height == real_height:
            return 'kept'
        shapes = width * real_height / (height * real_width)
        return 'rescaled' if abs(shapes - 1) <= 0.01 else 'left out'


def fit_to_file(
    fault: SizeFault, boxes: np.ndarray, areas: np.ndarray
) -> Optional[tuple[np.ndarray, np.ndarray]]:
    """Bring an image's boxes into the frame of its file.

    Args:
        fault: the mismatch.
        boxes: x, y, width, height in the declared frame, ``(n, 4)``.
        areas: the annotations' areas in pixels, ``(n,)``.

    Returns:
        Boxes cut at the file's border and their areas, rows as before (one
        wholly outside keeps no width or height); None where it cannot be
        told which frame the boxes are in. The area of an annotation shrinks
        by the share of its box that was cut off.
    """
    if fault.remedy == 'left out':
        return None
    if fault.remedy == 'rescaled':
        scale = np.divide(fault.actual, fault.declared)
        boxes, areas = boxes * np.tile(scale, 2), areas * scale.prod()
    low = np.clip(boxes[:, :2], 0, fault.actual)
    high = np.clip(boxes[:, :2] + boxes[:, 2:], 0, fault.actual)
    cut = np.hstack([low, high - low])
    whole = boxes[:, 2:].prod(axis=1)
    share = np.divide(
        cut[:, 2:].prod(axis=1), whole, out=np.ones_like(whole),
        where=whole > 0,
    )  # fmt: skip
    return cut, areas * share


def describe(faults: Sequence[SizeFault], total: int, option: str) -> str:
    """Say how many images declare a wrong size and what was done.

    Args:
        faults: the mismatches.
        total: how many images were checked.
        option: ``'report'``, ``'drop'`` or ``'fix'``.
    """
    if not faults:
        return f'all {total} images have the size that they declare'
    shown = ', '.join(
        f'id {f.image_id} declares {f.declared[0]}x{f.declared[1]}, its file '
        f'is {f.actual[0]}x{f.actual[1]}'
        for f in faults[:3]
    )
    more = ', ...' if len(faults) > 3 else ''
    counts = Counter(f.remedy for f in faults)
    done = {
        'report': 'nothing was changed',
        'drop': f'{len(faults)} images left out',
        'fix': f'{counts["kept"]} given the size of their file, '
        f'{counts["rescaled"]} with their boxes rescaled to it, '
        f'{counts["left out"]} left out',
    }[option]
    return (
        f'{len(faults)} of {total} images declare a wrong size ({shown}'
        f'{more}): {done}'
    )
