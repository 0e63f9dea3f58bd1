"""What a COCO mask may hold, checked before pycocotools' C code gets it.

pycocotools trusts its input: a far vertex takes all memory, a number that is
none or a text cut short reads beyond its end, and counts that do not add up
give a score that means nothing.
"""

from __future__ import annotations

from typing import Any, Optional, Union

import numpy as np

from mmdet_cppe5.coco.records import shorten
from mmdet_cppe5.coco.run_lengths import WRONG, measure

Size = tuple[int, int]  # height and width in pixels

#: The farthest a vertex may lie from an image's corner, in pixels: no image
#: that people annotate has sides of a million pixels.
FARTHEST = 1_000_000
#: The longest outline of a polygon, in pixels: pycocotools walks along it in
#: fifths of a pixel and takes 80 bytes for each, so that this is 320 MB.
LONGEST_OUTLINE = 4_000_000
#: The most pixels of an image: pycocotools counts them in 32 bits.
MOST_PIXELS = (1 << 31) - 1
SIZES = f'whole numbers from 1 with a product of at most {MOST_PIXELS:,}'

NUMBERS = {int, float}


def as_size(value: Any) -> Optional[Size]:
    """Return a height and width, or None if they are no size of an image."""
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        return None
    if not set(map(type, value)) <= NUMBERS:
        return None
    if not all(
        1 <= side <= MOST_PIXELS and side == int(side) for side in value
    ):
        return None
    height, width = int(value[0]), int(value[1])
    return (height, width) if height * width <= MOST_PIXELS else None


def mask_fault(value: Any, size: Optional[Size] = None) -> str:
    """Say what a mask should be and is not.

    Args:
        value: the ``segmentation`` of one record.
        size: height and width of its image; None takes the mask's own.

    Returns:
        The end of a sentence ('Expected … to be'), ``''`` if all is right.
    """
    if isinstance(value, list) and value:
        return _polygons_fault(value, size)
    if isinstance(value, dict):
        return _run_lengths_fault(value, size)
    return (
        f'polygons or a run-length code, but got {shorten(value)}; without '
        'masks, evaluate boxes.'
    )


def _polygons_fault(polygons: list[Any], size: Optional[Size]) -> str:
    far = FARTHEST - max(size or (0,))
    for polygon in polygons:
        fault = _polygon_fault(polygon, far)
        if fault:
            return fault
    return ''


def _polygon_fault(polygon: Any, far: float) -> str:
    if not isinstance(polygon, list) or len(polygon) < 6:
        return (
            'polygons, each with at least three points, but got '
            f'{shorten(polygon)}.'
        )
    for value in polygon:
        if type(value) not in NUMBERS or not -far <= value <= far:
            return (
                f'polygons of finite numbers within {FARTHEST:,} pixels of '
                f'the image, but got {shorten(value)}.'
            )
    if len(polygon) % 2:
        return (
            'polygons of x and y in turn, but got an odd number of '
            f'coordinates ({len(polygon)}).'
        )
    points = np.array(polygon, np.float64).reshape(-1, 2)
    steps = np.abs(points - np.roll(points, 1, axis=0)).max(axis=1)
    if steps.sum() > LONGEST_OUTLINE:
        return (
            f'polygons with an outline of at most {LONGEST_OUTLINE:,} '
            f'pixels, but got one of {steps.sum():,.0f}.'
        )
    return ''


def _run_lengths_fault(value: dict[str, Any], size: Optional[Size]) -> str:
    if not {'counts', 'size'} <= set(value):
        missing = "'size'" if 'counts' in value else "'counts'"
        return (
            "a run-length code with 'size' and 'counts', but it has no "
            f'{missing}: {shorten(value)}.'
        )
    own = as_size(value['size'])
    if own is None:
        return (
            f"a run-length code whose 'size' is height and width, {SIZES}, "
            f'but got {shorten(value["size"])}.'
        )
    if size is not None and own != size:
        return (
            f"a run-length code of its image's height and width, {size[0]} "
            f'and {size[1]}, but got {own[0]} and {own[1]}.'
        )
    counts = value['counts']
    if isinstance(counts, (str, bytes)):
        return _text_fault(counts, own)
    if isinstance(counts, list):
        return _counts_fault(counts, own)
    return (
        "a run-length code whose 'counts' are a text or numbers, but got "
        f'{shorten(counts)}.'
    )


def as_text(counts: Union[str, bytes]) -> str:
    """Return compressed run lengths as text, each byte as a character."""
    return counts if isinstance(counts, str) else counts.decode('latin-1')


def _text_fault(text: Any, size: Size) -> str:
    if isinstance(text, str) and text[:2] in ("b'", 'b"'):
        return (
            'a run-length code, but its counts are the text of Python bytes '
            f"({shorten(text, 20)}): decode them ('ascii') before writing."
        )
    if measure([as_text(text)], np.array([size])).pixels[0] != WRONG:
        return ''
    return (
        'a run-length code that decodes to runs of together height × width '
        f'= {size[0] * size[1]:,} pixels, but the text {shorten(text)} does '
        'not.'
    )


def _counts_fault(counts: list[Any], size: Size) -> str:
    for count in counts:
        if (
            type(count) not in NUMBERS
            or not 0 <= count <= MOST_PIXELS
            or count != int(count)
        ):
            return (
                'a run-length code whose counts are whole numbers from 0, '
                f'but got {shorten(count)}.'
            )
    total = int(sum(counts))
    if total != size[0] * size[1]:
        return (
            'a run-length code whose counts add up to height × width = '
            f'{size[0] * size[1]:,}, but they add up to {total:,}.'
        )
    return ''
