"""Stratified splits of a data set that keep look-alikes together.

Follows the idea of iterative stratification (Sechidis, Tsoumakas and
Vlahavas, "On the Stratification of Multi-Label Data", ECML PKDD 2011): what
is rare is shared out first, each time to the part that lacks it most. Here an
item is a group of images, and what is shared out are images, images with
each class, boxes of each class and boxes of each size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mmdet_cppe5.core.settings import listed
from mmdet_cppe5.data.stats import SIZES, Statistics
from mmdet_cppe5.data.verify.duplicates import find_twins, groups_of
from mmdet_cppe5.data.verify.image_facts import look_at_all
from mmdet_cppe5.files import PathLike
from mmdet_cppe5.image_names import ImageFolder
from mmdet_cppe5.scores.formats import Table


@dataclass(frozen=True)
class Partition:
    """A data set's images dealt out to parts.

    Attributes:
        part: number of the part of each image, intp ``(N,)``.
        shares: the share of the images that each part was to have.
        names: what was balanced.
        counts: how much of it each part has, ``(parts, names)``.
    """

    part: np.ndarray
    shares: np.ndarray
    names: tuple[str, ...]
    counts: np.ndarray

    def table(self, titles: Sequence[str]) -> Table:
        """Return the counts, with the share of the whole.

        Args:
            titles: a name for each part.
        """
        total = self.counts.sum(axis=0)
        rows = [
            [
                name,
                *(
                    f'{count:.0f} ({count / total[position]:.1%})'
                    for count in self.counts[:, position]
                ),
            ]
            for position, name in enumerate(self.names)
            if total[position]
        ]
        return Table(['', *titles], rows)


def partition(
    stats: Statistics,
    shares: Sequence[float],
    seed: int,
    groups: np.ndarray | None = None,
) -> Partition:
    """Deal a data set's images out to parts that resemble each other.

    The same data, shares, groups and seed always give the same parts.

    Args:
        stats: the data set.
        shares: the share of the images that each part is to have; they add
            up to 1.
        seed: of the random order among equals.
        groups: a group number for each image, ``(N,)``; images of a group
            stay together. None puts every image in a group of its own.

    Raises:
        ValueError: if the shares are not positive or do not add up to 1, or
            there are fewer groups than parts.
    """
    wanted = np.asarray(shares, dtype=np.float64)
    if wanted.ndim != 1 or (wanted <= 0).any() or abs(wanted.sum() - 1) > 1e-9:
        raise ValueError(
            'Expected positive shares that add up to 1, but got '
            f'{listed(shares)}.'
        )
    count = len(stats.image_sizes)
    if groups is None:
        groups = np.arange(count)
    _, group = np.unique(groups, return_inverse=True)
    number = int(group.max(initial=-1)) + 1
    if number < len(wanted):
        raise ValueError(
            f'Expected at least {len(wanted)} groups of images to make '
            f'{len(wanted)} parts, but {stats.source} has {number}.'
        )
    names, features = _features(stats)
    summed = np.zeros((number, features.shape[1]))
    np.add.at(summed, group, features)
    part = _deal(summed, wanted, np.random.default_rng(seed))[group]
    counts = np.zeros((len(wanted), features.shape[1]))
    np.add.at(counts, part, features)
    return Partition(part, wanted, names, counts)


def _features(stats: Statistics) -> tuple[tuple[str, ...], np.ndarray]:
    """Return names, and for each image how much it has of each."""
    count = len(stats.image_sizes)
    classes, bins = len(stats.class_names), len(SIZES)
    boxes = np.zeros((count, classes))
    np.add.at(boxes, (stats.image, stats.label), 1)
    sizes = np.zeros((count, bins))
    np.add.at(sizes, (stats.image, stats.size_bins), 1)
    names = [
        'images',
        *(f'images with {name}' for name in stats.class_names),
        *(f'{name} boxes' for name in stats.class_names),
        *(f'{name} boxes' for name in SIZES),
    ]
    columns = [np.ones((count, 1)), boxes > 0, boxes, sizes]
    return tuple(names), np.concatenate(columns, axis=1, dtype=np.float64)


def _deal(
    features: np.ndarray, shares: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Give each group to a part.

    Args:
        features: what each group has, ``(groups, quantities)``.
        shares: the share of the whole for each part.
        rng: decides the order among equals.

    Returns:
        The part of each group, intp ``(groups,)``.
    """
    totals = features.sum(axis=0)
    present = totals > 0
    scaled = features[:, present] / totals[present]
    half_an_image = 0.5 / totals[0]
    # Largest share of anything first; ties in random order.
    order = rng.permutation(len(features))
    order = order[np.argsort(-scaled[order].max(axis=1), kind='stable')]
    lack = np.outer(shares, np.ones(scaled.shape[1]))
    part = np.empty(len(features), dtype=np.intp)
    for item in order.tolist():
        before = np.square(lack).sum(axis=1)
        after = np.square(lack - scaled[item]).sum(axis=1)
        # Relative to its share, or the large part would get everything.
        gain = (before - after) / shares
        room = lack[:, 0] >= scaled[item, 0] - half_an_image
        if room.any():
            gain[~room] = -np.inf
        best = int(np.argmax(gain))
        part[item] = best
        lack[best] -= scaled[item]
    return _exchange(part, scaled, shares, rng)


def _exchange(
    part: np.ndarray,
    scaled: np.ndarray,
    shares: np.ndarray,
    rng: np.random.Generator,
    rounds: int = 4,
) -> np.ndarray:
    """Move and swap groups between parts as long as that evens them out.

    Numbers of images never get less even for the sake of boxes.
    """
    part = part.copy()
    have = np.zeros((len(shares), scaled.shape[1]))
    np.add.at(have, part, scaled)
    lack = np.outer(shares, np.ones(scaled.shape[1])) - have
    for _ in range(rounds):
        changed = False
        for item in rng.permutation(len(part)).tolist():
            other = int(rng.integers(len(part)))
            a, b = part[item], part[other]
            if a == b:
                continue
            for shift in (scaled[item] - scaled[other], scaled[item]):
                now = np.square(lack[a]) + np.square(lack[b])
                then = np.square(lack[a] + shift) + np.square(lack[b] - shift)
                if then[0] <= now[0] + 1e-15 and (then - now).sum() < -1e-15:
                    lack[a] += shift
                    lack[b] -= shift
                    part[item] = b
                    if shift is not scaled[item]:
                        part[other] = a
                    changed = True
                    break
        if not changed:
            break
    return part


def look_alikes(
    dataset: dict[str, Any], images: PathLike, progress: bool = True
) -> dict[Any, int]:
    """Number the groups of (near-)identical images of a data set.

    Args:
        dataset: the COCO data set.
        images: the folder of its image files.
        progress: show a bar on a terminal.

    Returns:
        A group number for each image id; equal for look-alikes.

    Raises:
        FileNotFoundError: if an image file is missing.
        ImportError: if Pillow or ImageHash is missing.
        ValueError: if an image file cannot be read.
    """
    folder, paths = ImageFolder(images), []
    for item in dataset['images']:
        path = folder.find(item['file_name'])
        if path is None:
            raise FileNotFoundError(
                f'Expected an image at {folder.folder / item["file_name"]}.'
            )
        paths.append(path)
    facts = look_at_all(paths, progress=progress)
    for path, fact in zip(paths, facts):
        if fact.error:
            raise ValueError(
                f'Expected a readable image in {path}, but got: {fact.error}.'
            )
    pairs = [(twins.first, twins.second) for twins in find_twins(facts)]
    groups = groups_of(pairs, len(paths))
    ids = [item['id'] for item in dataset['images']]
    return dict(zip(ids, groups.tolist()))


def select(dataset: dict[str, Any], ids: set[Any]) -> dict[str, Any]:
    """Return the part of a COCO data set that has the given image ids.

    Records stay as they are, ids included.
    """
    part = dict(dataset)
    part['images'] = [i for i in dataset['images'] if i['id'] in ids]
    part['annotations'] = [
        a for a in dataset['annotations'] if a['image_id'] in ids
    ]
    return part
