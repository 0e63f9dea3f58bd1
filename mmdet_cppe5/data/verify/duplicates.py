"""Identical and near-identical images."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mmdet_cppe5.data.verify.boxes import pairs_within
from mmdet_cppe5.data.verify.image_facts import THUMB, ImageFacts

# The perceptual hashes of the near-identical CPPE-5 test images 1003 and
# 1011 are equal, and their thumbnails differ by 0.7 of 255 grey levels; of
# the 405 other pairs of that split the nearest differ in 20 of 64 bits.
BITS = 6
LEVELS = 12.0
_BITS_TOTAL = 64


@dataclass(frozen=True)
class Twins:
    """Two images that look the same.

    Attributes:
        first, second: their positions in the list that was searched.
        bits: how many of the 64 bits of their hashes differ.
        levels: mean difference of their grey thumbnails, 0..255.
        identical: whether every pixel is the same.
    """

    first: int
    second: int
    bits: int
    levels: float
    identical: bool

    def __str__(self) -> str:
        if self.identical:
            return 'every pixel the same'
        return (
            f'pHash differs in {self.bits} of {_BITS_TOTAL} bits, thumbnails '
            f'by {self.levels:.1f} of 255 levels on average'
        )


def find_twins(facts: Sequence[ImageFacts], bits: int = BITS) -> list[Twins]:
    """Find all pairs of images that are identical or nearly so.

    Scaled, recompressed and slightly altered copies are found; mirrored,
    rotated and strongly cropped ones are not.

    Args:
        facts: the images.
        bits: how many of the 64 bits of the perceptual hashes may differ.

    Returns:
        The pairs, ``first < second``, in order.
    """
    if not 0 <= bits < _BITS_TOTAL // 2:
        raise ValueError(f'Expected 0 to 31 bits that may differ, got {bits}.')
    found = _identical(facts)
    copies = {twins.second for twins in found}
    index = np.array(
        [k for k in range(len(facts)) if k not in copies], dtype=np.intp
    )
    codes = np.array([facts[k].hash for k in index], dtype=np.uint64)
    thumbs = np.frombuffer(
        b''.join(facts[k].thumb for k in index), np.uint8
    ).reshape(len(index), THUMB * THUMB)
    near: dict[tuple[int, int], Twins] = {}
    for one, two in _candidates(codes, bits):
        differing = _popcount(codes[one] ^ codes[two])
        close = np.flatnonzero(differing <= bits)
        one, two, differing = one[close], two[close], differing[close]
        gap = thumbs[one].astype(np.int16) - thumbs[two]
        levels = np.abs(gap).mean(axis=1)
        for k in np.flatnonzero(levels <= LEVELS).tolist():
            a, b = sorted((int(index[one[k]]), int(index[two[k]])))
            values = int(differing[k]), float(levels[k])
            near[a, b] = Twins(a, b, *values, identical=False)
    return sorted(
        [*found, *near.values()], key=lambda twins: (twins.first, twins.second)
    )


def _identical(facts: Sequence[ImageFacts]) -> list[Twins]:
    """Pair each image with the first one of the very same pixels."""
    first: dict[bytes, int] = {}
    return [
        Twins(first[fact.pixels], k, 0, 0.0, identical=True)
        for k, fact in enumerate(facts)
        if first.setdefault(fact.pixels, k) != k
    ]


def _candidates(
    codes: np.ndarray, bits: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield index pairs, among them all that differ in at most ``bits``.

    If two codes differ in at most k bits, they are equal in at least one of
    k + 1 bands of bits, so only codes that share a band are compared.
    """
    edges = np.linspace(0, _BITS_TOTAL, bits + 2).astype(int)
    for low, high in zip(edges[:-1].tolist(), edges[1:].tolist()):
        mask = np.uint64((1 << (high - low)) - 1)
        band = (codes >> np.uint64(low)) & mask
        order = np.argsort(band, kind='stable')
        for first, second in pairs_within(band[order]):
            yield order[first], order[second]


def _popcount(values: np.ndarray) -> np.ndarray:
    """Count the ones in each uint64."""
    octets = np.ascontiguousarray(values).view(np.uint8).reshape(-1, 8)
    return np.unpackbits(octets, axis=1).sum(axis=1)


def groups_of(pairs: Sequence[tuple[int, int]], count: int) -> np.ndarray:
    """Number the groups that pairs connect, directly or by way of others.

    Args:
        pairs: index pairs below ``count``.
        count: number of items.

    Returns:
        A group number for each item, intp ``(count,)``: the smallest index
        in its group.
    """
    parent = list(range(count))

    def root(item: int) -> int:
        while parent[item] != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    for one, two in pairs:
        low, high = sorted((root(one), root(two)))
        parent[high] = low
    return np.array([root(item) for item in range(count)], dtype=np.intp)
