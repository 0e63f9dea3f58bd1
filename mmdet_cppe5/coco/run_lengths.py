"""COCO's compressed run lengths, decoded many at once to be checked.

A mask's runs of 0 and 1, column by column, are numbers of which each from
the fourth on is the difference to the one two before. A number is written
with five bits a character, least significant first, as ``chr(48 + bits)``;
32 in the bits announces a further character, 16 in the last one the sign
(https://github.com/cocodataset/cocoapi, common/maskApi.c, ``rleToString``).

pycocotools decodes such texts without a look at their ends, characters or
sums, so they are looked at here before it gets them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_CHARACTERS = 1 << 17  # decoded at a time: what a processor's cache holds
_LONGEST = 7  # characters of a number of 32 bits with its sign
_FURTHER = bytes(range(80, 112))  # characters that announce another one
_LAST = np.array([(bits & 31 ^ 16) - 16 for bits in range(64)], np.int32)


def right_strings(strings: Sequence[bytes], totals: np.ndarray) -> np.ndarray:
    """Tell which compressed run lengths are those of masks of given sizes.

    Args:
        strings: the compressed run lengths.
        totals: height × width of each mask, int64 ``(n,)``.

    Returns:
        Whether each decodes to runs that are not negative and add up to
        the mask's size, bool ``(n,)``.
    """
    right = np.zeros(len(strings), dtype=bool)
    numbers = np.array([len(s.translate(None, _FURTHER)) for s in strings])
    filled = np.flatnonzero(numbers)
    ends = np.cumsum([len(strings[row]) for row in filled.tolist()])
    start = 0
    while start < len(filled):
        before = ends[start - 1] if start else 0
        stop = int(np.searchsorted(ends, before + _CHARACTERS, 'right'))
        rows = filled[start : max(stop, start + 1)]
        block = [strings[row] for row in rows.tolist()]
        right[rows] = _right(block, numbers[rows], totals[rows])
        start += len(rows)
    return right


def _right(
    strings: list[bytes], numbers: np.ndarray, totals: np.ndarray
) -> np.ndarray:
    """Judge the strings of one block; see :func:`right_strings`.

    Args:
        strings: n strings.
        numbers: how many numbers each has, ``(n,)``, at least one.
        totals: as there.
    """
    # Odd ones get a number more, so that each begins at an even place.
    odd = numbers % 2 == 1
    padded = [s + b'0' * o for s, o in zip(strings, odd.tolist())]
    bits = np.frombuffer(b''.join(padded), np.uint8) - np.uint8(48)
    right = np.array([s[-1] not in _FURTHER for s in strings])
    if bits.max() > 63:
        right &= [max(s) < 112 and min(s) >= 48 for s in strings]
        bits = np.minimum(bits, 31)
    final = np.flatnonzero(bits < 32)  # last character of each number
    sizes = np.diff(final, prepend=-1)
    if not right.all() or sizes.max() > _LONGEST:
        return _one_by_one(strings, numbers, totals, right)
    values = _numbers(bits, final, sizes)
    ends = np.cumsum(numbers + odd) // 2
    starts = ends - (numbers + odd) // 2
    singles = values[2 * starts]
    values[2 * starts] = 0
    evens = _restarted(values[0::2], starts, ends)
    evens[starts] = singles
    odds = _restarted(values[1::2], starts, ends)
    odds[ends[odd] - 1] = 0
    lowest = np.minimum(
        np.minimum.reduceat(evens, starts), np.minimum.reduceat(odds, starts)
    )
    sums = np.add.reduceat(evens, starts, dtype=np.int64)
    sums += np.add.reduceat(odds, starts, dtype=np.int64)
    return (lowest >= 0) & (sums == totals)


def _one_by_one(
    strings: list[bytes],
    numbers: np.ndarray,
    totals: np.ndarray,
    right: np.ndarray,
) -> np.ndarray:
    """Judge strings that cannot be decoded together with the others."""
    if len(strings) == 1:
        return np.zeros(1, dtype=bool)
    found = right.copy()
    for row in np.flatnonzero(right).tolist():
        one = slice(row, row + 1)
        found[row] = _right(strings[one], numbers[one], totals[one])[0]
    return found


def _numbers(
    bits: np.ndarray, final: np.ndarray, sizes: np.ndarray
) -> np.ndarray:
    """Return the numbers that characters stand for, ``(m,)``.

    Args:
        bits: six bits a character, uint8.
        final: the last character of each number, ``(m,)``.
        sizes: how many characters each has, ``(m,)``.
    """
    values = _LAST[bits[final]]
    longest = int(sizes.max())
    if longest == _LONGEST:
        values = values.astype(np.int64)
    rows = np.flatnonzero(sizes > 1)
    for digit in range(1, longest):
        rows = rows[sizes[rows] > digit] if digit > 1 else rows
        values[rows] = values[rows] * 32 + (bits[final[rows] - digit] & 31)
    return values


def _restarted(
    values: np.ndarray, starts: np.ndarray, ends: np.ndarray
) -> np.ndarray:
    """Return running sums that begin anew at each start, ``(m,)``."""
    sums = values.cumsum(dtype=np.int64)
    before = np.concatenate([[0], sums[ends[:-1] - 1]])
    return sums - np.repeat(before, ends - starts)
