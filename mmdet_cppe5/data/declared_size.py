"""A declared image size that is not the file's: one rule for what to do.

``verify --fix`` and ``CPPE5Dataset(size_check='fix')`` both ask
:func:`remedy`; ``docs/data.md`` lists its cases. A box tells which frame it
was drawn in only by what it leaves: the boxes of a scaled copy may fit the
file by chance, but never the other way round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

Size = tuple[float, float]

# Half a pixel: COCO's own boxes are rounded to hundredths and overshoot.
MARGIN = 0.5
_SAME_SHAPE = 0.01


def remedy(
    declared: Optional[Size],
    actual: Size,
    boxes: np.ndarray,
    shaped: bool = False,
) -> str:
    """Decide what to do about a declared size that is not the file's.

    Args:
        declared: the declared width and height, None if unusable.
        actual: the file's width and height in pixels, as it is loaded.
        boxes: the image's boxes, x, y, width, height, ``(n, 4)``.
        shaped: whether masks or keypoints would have to follow the boxes.

    Returns:
        ``'set'`` if the boxes are in the file's frame, ``'scale'`` if they
        belong to a scaled copy of it, ``'unknown'`` if that cannot be told.
    """
    fits_file = fits(boxes, actual)
    if declared is None or not len(boxes):
        return 'set' if fits_file else 'unknown'
    fits_declared = fits(boxes, declared)
    one_side_agrees = declared[0] == actual[0] or declared[1] == actual[1]
    if fits_file:
        # Where one side agrees there is no scaled copy to take them from.
        sure = one_side_agrees or not fits_declared
        return 'set' if sure else 'unknown'
    shapes = declared[0] * actual[1] / (declared[1] * actual[0])
    scaled = abs(shapes - 1) <= _SAME_SHAPE and not one_side_agrees
    return 'scale' if fits_declared and scaled and not shaped else 'unknown'


def fits(boxes: np.ndarray, size: Size) -> bool:
    """Tell whether all boxes lie inside a frame, to half a pixel."""
    low, high = boxes[:, :2], boxes[:, :2] + boxes[:, 2:]
    return bool((low >= -MARGIN).all() and (high <= np.add(size, MARGIN)).all())


@dataclass(frozen=True)
class SizeFault:
    """An image whose declared size is not the size of its file.

    Attributes:
        image_id: the image's id.
        declared: width and height in the annotation file.
        actual: width and height of the image file.
        remedy: what :func:`remedy` says.
    """

    image_id: Any
    declared: Size
    actual: Size
    remedy: str

    @property
    def factors(self) -> np.ndarray:
        """What to multiply a box (x, y, width, height) with, ``(4,)``."""
        if self.remedy != 'scale':
            return np.ones(4)
        return np.tile(np.divide(self.actual, self.declared), 2)


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
    more = ', …' if len(faults) > 3 else ''
    counts = Counter(f.remedy for f in faults)
    done = {
        'report': 'nothing was changed',
        'drop': f'{len(faults)} images left out',
        'fix': f'{counts["set"]} given the size of their file, '
        f'{counts["scale"]} with their boxes rescaled to it, '
        f'{counts["unknown"]} left out',
    }[option]
    return (
        f'{len(faults)} of {total} images declare a wrong size ({shown}'
        f'{more}): {done}'
    )
