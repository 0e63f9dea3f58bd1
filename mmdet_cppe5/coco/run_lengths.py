"""COCO's compressed run lengths, decoded many at once to be checked.

A mask's runs of 0 and 1, column by column, are numbers of which each from
the fourth on is the difference to the one two before. A number is written
with five bits a character, least significant first, as ``chr(48 + bits)``;
32 in the bits announces a further character, 16 in the last one the sign
(https://github.com/cocodataset/cocoapi, common/maskApi.c, ``rleToString``).

pycocotools decodes such texts without a look at their ends, characters or
sums, so they are looked at here before it gets them. What it would count by
decoding them once more, pixels and bounds, is told along the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Optional

import numpy as np

WRONG = -1

_CHARACTERS = 1 << 18  # decoded at a time: what a processor's cache holds
_LONGEST = 7  # characters of a number of 32 bits with its sign
_FURTHER = bytes(range(80, 112))  # characters that announce another one
#: Five bits with their sign, as a byte, for each last character.
_DIGITS = bytes((((c - 48) & 31 ^ 16) - 16) & 255 for c in range(256))


class Measures(NamedTuple):
    """What masks measure.

    Attributes:
        pixels: how many pixels each mask has, int64 ``(n,)``; :data:`WRONG`
            for a text that does not decode to runs which are not negative
            and add up to the mask's size.
        boxes: x, y, width, height of each mask's bounds in pixels, float64
            ``(n, 4)``; NaN where they are not known.
    """

    pixels: np.ndarray
    boxes: np.ndarray


def measure(
    texts: Sequence[str], sizes: np.ndarray, bounds: bool = False
) -> Measures:
    """Check masks that are compressed run lengths, and measure them.

    Args:
        texts: the compressed run lengths.
        sizes: height and width of each mask, int64 ``(n, 2)``.
        bounds: whether to tell the bounds too.
    """
    found = Measures(
        np.empty(len(texts), np.int64), np.full((len(texts), 4), np.nan)
    )
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    cuts = np.flatnonzero(np.diff(np.cumsum(lengths) // _CHARACTERS)) + 1
    ends = [*cuts.tolist(), len(texts)] if len(texts) else []
    for start, end in zip([0, *ends], ends):
        rows = slice(start, end)
        runs = None
        if lengths[rows].all():
            runs = _decoded(texts[rows], lengths[rows])
        pixels = None if runs is None else _pixels(runs, sizes[rows])
        if runs is None or pixels is None:  # one is wrong, or unusual
            pairs = zip(texts[rows], sizes[rows].prod(axis=1).tolist())
            pixels = np.array([_one(*pair) for pair in pairs], np.int64)
        elif bounds:
            found.boxes[rows] = _bounds(runs, sizes[rows])
        found.pixels[rows] = pixels
    return found


class _Runs(NamedTuple):
    """Runs of some masks, one after another: each a gap, then pixels.

    Attributes:
        gaps: lengths of the runs of 0, int32 ``(m,)``.
        pixels: lengths of the runs of 1 behind them, int32 ``(m,)``; 0 where
            a mask ends with a gap.
        ends: where each mask ends in them, int64 ``(n,)``.
        open: which masks end with a gap, bool ``(n,)``.
    """

    gaps: np.ndarray
    pixels: np.ndarray
    ends: np.ndarray
    open: np.ndarray

    @property
    def starts(self) -> np.ndarray:
        """Where each mask starts, int64 ``(n,)``."""
        return np.concatenate([[0], self.ends[:-1]])


def _decoded(texts: Sequence[str], lengths: np.ndarray) -> Optional[_Runs]:
    """Decode some texts at once; None unless all are right.

    The arithmetic is that of pycocotools, modulo 2^32: runs that come out
    not negative as 32 bits with a sign are those that it sees.

    Args:
        texts: n texts, none empty.
        lengths: how many characters each has, ``(n,)``.
    """
    try:
        # Most masks end with a gap, and with a number more in whole pairs.
        joined = ('0'.join(texts) + '0').encode('ascii')
    except UnicodeEncodeError:
        return None
    bits = np.frombuffer(joined, np.uint8) - np.uint8(48)
    ends = np.cumsum(lengths + 1)
    if bits.max() > 63 or (bits[ends - 2] > 31).any():
        return None
    further = np.flatnonzero(bits > 31)
    values = _numbers(joined, bits, further)
    if values is None:
        return None
    ends -= np.searchsorted(further, ends)  # in numbers from here on
    closed = np.diff(ends, prepend=0) % 2 == 1
    if closed.any():
        values = np.delete(values, ends[closed] - 1)
        ends -= np.cumsum(closed)
    return _restarted(values, ends // 2, ~closed)


def _numbers(
    joined: bytes, bits: np.ndarray, further: np.ndarray
) -> Optional[np.ndarray]:
    """Return the numbers that characters stand for, int32 ``(m,)``.

    Args:
        joined: the characters.
        bits: the six bits of each, uint8.
        further: places of those that announce another one; the last does
            not.

    Returns:
        None if a number has more than 32 bits.
    """
    last = joined.translate(_DIGITS, _FURTHER)
    values = np.frombuffer(last, np.int8).astype(np.int32)
    long = np.flatnonzero(bits[further + 1] < 32)
    places, rows = further[long] + 1, further[long] - long
    for digit in range(1, _LONGEST):
        values[rows] = values[rows] * 32 + (bits[places - digit] & 31)
        before = places - digit - 1
        more = (before >= 0) & (bits[before] > 31)
        if not more.any():
            return values
        places, rows = places[more], rows[more]
    return None


def _restarted(
    values: np.ndarray, ends: np.ndarray, padded: np.ndarray
) -> Optional[_Runs]:
    """Turn differences into runs; None if one is negative.

    Args:
        values: the numbers, an even number for each mask.
        ends: end of each mask in pairs of numbers.
        padded: whether each mask's last number is a padding.
    """
    runs = _Runs(values[0::2].copy(), values[1::2].copy(), ends, padded)
    starts = runs.starts
    # Each sum starts anew where what the last one came to is taken off.
    longer = starts[ends - starts > 1]
    runs.gaps[longer + 1] -= runs.gaps[longer]  # the third is no difference
    for lane in (runs.gaps, runs.pixels):
        lane[starts[1:]] -= np.add.reduceat(lane, starts)[:-1]
        np.cumsum(lane, dtype=np.int32, out=lane)
    runs.pixels[ends[padded] - 1] = 0
    lowest = min(runs.gaps.min(), runs.pixels.min())
    return None if lowest < 0 else runs


def _pixels(runs: _Runs, sizes: np.ndarray) -> Optional[np.ndarray]:
    """Count the pixels of masks; None if runs do not add up to the sizes."""
    gaps, pixels = (
        np.add.reduceat(lane, runs.starts, dtype=np.int64)
        for lane in (runs.gaps, runs.pixels)
    )
    return pixels if (gaps + pixels == sizes.prod(axis=1)).all() else None


def _bounds(runs: _Runs, sizes: np.ndarray) -> np.ndarray:
    """Return the bounds of masks as pycocotools counts them, ``(n, 4)``.

    They are NaN where runs of no length make that doubtful.

    Args:
        runs: runs that add up to the sizes.
        sizes: height and width of each mask, ``(n, 2)``.
    """
    starts, ends = runs.starts, runs.ends
    heights = sizes[:, 0].astype(np.int32)
    after = runs.gaps + runs.pixels  # the place behind each run of pixels
    after[starts[1:]] -= sizes[:-1].prod(axis=1).astype(np.int32)
    np.cumsum(after, dtype=np.int32, out=after)
    first, last = after - runs.pixels, after - 1
    # A mask that ends with a gap has no last pixels.
    lone = runs.open & (ends - starts == 1)
    for place in (first, last):
        open_ends = ends[runs.open & ~lone] - 1
        place[open_ends] = place[open_ends - 1]
    height = (
        heights[0]
        if (heights == heights[0]).all()
        else np.repeat(heights, ends - starts)
    )
    left, right = first // height, last // height
    tops, bottoms = first - left * height, last - right * height
    low, high = np.minimum(tops, bottoms), np.maximum(tops, bottoms)
    across = np.flatnonzero(right > left)  # into another column
    low[across] = 0
    high[across] = (height if np.ndim(height) == 0 else height[across]) - 1
    x = np.minimum(left[starts], right[starts])
    y = np.minimum.reduceat(low, starts)
    width = np.maximum(left[ends - 1], right[ends - 1]) - x + 1
    tall = np.maximum.reduceat(high, starts) - y + 1
    boxes = np.stack([x, y, width, tall], axis=1).astype(np.float64)
    boxes[lone] = 0
    boxes[_with_empty_runs(runs)] = np.nan
    return boxes


def _with_empty_runs(runs: _Runs) -> np.ndarray:
    """Return masks with runs of no length, but for the first gap.

    Encoders do not write them, and pycocotools' releases differ on them.
    """
    gaps, pixels = runs.gaps == 0, runs.pixels == 0
    gaps[runs.starts] = pixels[runs.ends[runs.open] - 1] = False
    if not (gaps.any() or pixels.any()):
        return np.zeros(0, np.int64)
    places = np.flatnonzero(gaps | pixels)
    return np.searchsorted(runs.ends, places, 'right')


def _one(text: str, total: int) -> int:
    """Count the pixels of one mask, character by character."""
    runs: list[int] = []
    value = shift = 0
    for bits in (ord(character) - 48 for character in text):
        if not 0 <= bits < 64 or shift >= 5 * _LONGEST:
            return WRONG
        value |= (bits & 31) << shift
        shift += 5
        if bits & 32:
            continue
        if bits & 16:
            value -= 1 << shift
        runs.append(value + runs[-2] if len(runs) > 2 else value)
        value = shift = 0
    if shift or not runs or min(runs) < 0 or sum(runs) != total:
        return WRONG
    return sum(runs[1::2])
