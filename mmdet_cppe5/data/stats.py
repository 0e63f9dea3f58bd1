"""What a data set holds: counts, sizes, shapes, places, company."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mmdet_cppe5.coco import read_ground_truth
from mmdet_cppe5.coco.records import Records, counted
from mmdet_cppe5.files import PathLike
from mmdet_cppe5.scores.formats import UNDEFINED, Table

# COCO's bins by area, https://cocodataset.org/#detection-eval.
SIZES = ('small', 'medium', 'large')
_EDGES = (32.0**2, 96.0**2)
_QUANTILES = (0, 5, 25, 50, 75, 95, 100)


@dataclass(frozen=True)
class Statistics:
    """A data set's boxes and image sizes; crowd regions are left out.

    Attributes:
        source: the annotation file.
        class_names: K names in the order of their category ids.
        image_ids: the N image ids, ascending.
        image_sizes: declared width and height in pixels, ``(N, 2)``.
        image: position of each box's image, intp ``(n,)``.
        label: position of each box's class, intp ``(n,)``.
        boxes: x, y, width, height in pixels, ``(n, 4)``.
        areas: the annotations' areas in square pixels, ``(n,)``.
        crowds: number of crowd regions left out.
        notices: sentences about what was odd in the file.
    """

    source: str
    class_names: tuple[str, ...]
    image_ids: tuple[Any, ...]
    image_sizes: np.ndarray
    image: np.ndarray
    label: np.ndarray
    boxes: np.ndarray
    areas: np.ndarray
    crowds: int
    notices: tuple[str, ...] = ()

    @property
    def boxes_per_image(self) -> np.ndarray:
        """Number of boxes of each image, ``(N,)``."""
        return np.bincount(self.image, minlength=len(self.image_sizes))

    @property
    def size_bins(self) -> np.ndarray:
        """COCO's size bin of each box, 0 small, 1 medium, 2 large.

        An area on an edge counts as the larger one here; COCO counts it in
        both.
        """
        return np.searchsorted(_EDGES, self.areas, side='right')

    @property
    def class_sizes(self) -> np.ndarray:
        """Number of boxes by class and size bin, ``(K, 3)``."""
        flat = self.label * len(SIZES) + self.size_bins
        count = len(self.class_names) * len(SIZES)
        return np.bincount(flat, minlength=count).reshape(-1, len(SIZES))

    @property
    def presence(self) -> np.ndarray:
        """Whether an image has a class, bool ``(N, K)``."""
        shape = len(self.image_sizes), len(self.class_names)
        there = np.zeros(shape, dtype=bool)
        there[self.image, self.label] = True
        return there

    @property
    def together(self) -> np.ndarray:
        """Number of images that have both classes, ``(K, K)``.

        The diagonal holds the images that have the class at all.
        """
        there = self.presence.astype(np.int64)
        return there.T @ there

    @property
    def image_sides(self) -> np.ndarray:
        """Square root of width × height of each image, pixels, ``(N,)``."""
        return np.sqrt(self.image_sizes.prod(axis=1))

    @property
    def image_ratios(self) -> np.ndarray:
        """Width / height of each image, ``(N,)``."""
        return self.image_sizes[:, 0] / self.image_sizes[:, 1]

    @property
    def relative_sides(self) -> np.ndarray:
        """Square root of each box's share of its image, 0..1, ``(n,)``."""
        areas = self.boxes[:, 2:].prod(axis=1)
        return np.sqrt(areas / self.image_sizes[self.image].prod(axis=1))

    @property
    def box_ratios(self) -> np.ndarray:
        """Width / height of each box, ``(n,)``."""
        return self.boxes[:, 2] / self.boxes[:, 3]

    def coverage(self, label: int, cells: int = 48) -> np.ndarray:
        """Return how often a class's boxes cover each part of the image.

        Args:
            label: the class.
            cells: rows and columns of the grid laid over every image.

        Returns:
            Share of the boxes that cover the cell's centre, 0..1,
            ``(cells, cells)``, rows from the top.
        """
        mine = self.label == label
        scale = self.image_sizes[self.image[mine]] / cells
        boxes = self.boxes[mine]
        low = boxes[:, :2] / scale
        high = (boxes[:, :2] + boxes[:, 2:]) / scale
        # Centre k + 0.5 lies inside for k from ceil(low - 0.5) on.
        first = np.clip(np.ceil(low - 0.5), 0, cells).astype(int)
        last = np.clip(np.ceil(high - 0.5), 0, cells).astype(int)
        corners = np.zeros((cells + 1, cells + 1))
        for x, y, sign in (
            (first[:, 0], first[:, 1], 1),
            (last[:, 0], first[:, 1], -1),
            (first[:, 0], last[:, 1], -1),
            (last[:, 0], last[:, 1], 1),
        ):
            np.add.at(corners, (y, x), sign)
        counts = corners.cumsum(axis=0).cumsum(axis=1)[:-1, :-1]
        return counts / max(int(mine.sum()), 1)

    def as_json(self) -> dict[str, Any]:
        """Return all numbers as a JSON value."""
        per_image = self.boxes_per_image
        sizes, together = self.class_sizes, self.together
        return {
            'file': self.source,
            'images': len(self.image_sizes),
            'images_without_objects': int((per_image == 0).sum()),
            'boxes': len(self.boxes),
            'crowd_regions': self.crowds,
            'boxes_per_image': {
                'mean': _mean(per_image),
                'counts': np.bincount(per_image).tolist(),
            },
            'image_side': quantiles(self.image_sides),
            'image_width_over_height': quantiles(self.image_ratios),
            'sizes': dict(zip(SIZES, sizes.sum(axis=0).tolist())),
            'classes': {
                name: {
                    'boxes': int(sizes[k].sum()),
                    'images': int(together[k, k]),
                    'sizes': dict(zip(SIZES, sizes[k].tolist())),
                    'side': quantiles(np.sqrt(self.areas[self.label == k])),
                    'relative_side': quantiles(
                        self.relative_sides[self.label == k]
                    ),
                    'width_over_height': quantiles(
                        self.box_ratios[self.label == k]
                    ),
                }
                for k, name in enumerate(self.class_names)
            },
            'images_with_both': {
                name: dict(zip(self.class_names, together[k].tolist()))
                for k, name in enumerate(self.class_names)
            },
        }

    def parts(self) -> list[Table | str]:
        """Return the main numbers as tables under a line of text."""
        empty = int((self.boxes_per_image == 0).sum())
        line = (
            f'{self.source}: {counted(len(self.image_sizes), "image")} '
            f'({empty:,} without objects), '
            f'{counted(len(self.boxes), "box", "boxes")}, '
            f'{counted(len(self.class_names), "class", "classes")}'
        )
        if self.crowds:
            line += f'; {counted(self.crowds, "crowd region")} left out'
        tables = [self._image_table(), self._class_table()]
        if len(self.class_names) <= 12:
            tables.append(self._together_table())
        return [line, *tables]

    def _image_table(self) -> Table:
        rows = []
        for name, values, form in (
            ('boxes per image', self.boxes_per_image, '{:.0f}'),
            ('image side, √(w·h)', self.image_sides, '{:.0f}'),
            ('image w/h', self.image_ratios, '{:.2f}'),
        ):
            cells = [UNDEFINED] * 4
            if len(values):
                found = np.percentile(values, (0, 50, 100))
                cells = [
                    *(form.format(value) for value in found),
                    f'{values.mean():.2f}',
                ]
            rows.append([name, *cells])
        return Table(['images', 'min', 'median', 'max', 'mean'], rows)

    def _class_table(self) -> Table:
        sides = np.sqrt(self.areas)
        ratios = self.box_ratios
        rows = []
        for k, name in enumerate(self.class_names):
            mine = self.label == k
            share = mine.sum() / max(len(self.label), 1)
            counts = [self.together[k, k], *self.class_sizes[k]]
            rows.append(
                [
                    name,
                    f'{mine.sum()}',
                    f'{share:.1%}',
                    *map(str, counts),
                    f'{np.median(sides[mine]):.0f}'
                    if mine.any()
                    else UNDEFINED,
                    f'{np.median(ratios[mine]):.2f}'
                    if mine.any()
                    else UNDEFINED,
                ]
            )
        counts = [len(self.image_sizes), *self.class_sizes.sum(axis=0)]
        rows.append(['all', str(len(self.label)), '', *map(str, counts)])
        rows[-1] += ['', '']
        header = ['class', 'boxes', 'share', 'images', *SIZES, 'side', 'w/h']
        note = 'side: median √area in pixels; w/h: median'
        return Table(header, rows, notes=[note])

    def _together_table(self) -> Table:
        rows = [
            [
                name,
                *map(str, self.together[k, : k + 1]),
                *[''] * (len(self.class_names) - k - 1),
            ]
            for k, name in enumerate(self.class_names)
        ]
        header = ['class', *self.class_names]
        return Table(header, rows, 'images that have both classes')


def _mean(values: np.ndarray) -> float | None:
    return float(values.mean()) if len(values) else None


def quantiles(values: np.ndarray) -> dict[str, float] | None:
    """Return percentiles 0, 5, 25, 50, 75, 95, 100; None of nothing."""
    if not len(values):
        return None
    found = np.percentile(values, _QUANTILES).tolist()
    return {f'p{q}': value for q, value in zip(_QUANTILES, found)}


def read_statistics(path: PathLike) -> Statistics:
    """Read a COCO annotation file for counting.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is no COCO annotation file, or has an image or a
            box without width or height; ``verify`` lists all of these.
    """
    truth = read_ground_truth(path)
    images = Records(truth.images, truth.source, 'image')
    sizes = np.stack([images.floats('width'), images.floats('height')], axis=1)
    for what, values in (('image', sizes), ('box', truth.boxes[:, 2:])):
        if (values <= 0).any():
            raise ValueError(
                f'Expected a width and a height of every {what} in '
                f'{truth.source}, but {int((values <= 0).any(axis=1).sum())} '
                'have none: `mmdet-cppe5 verify` lists and can drop them.'
            )
    plain = ~truth.crowd
    return Statistics(
        truth.source,
        truth.class_names,
        tuple(truth.image_ids),
        sizes,
        truth.image[plain],
        truth.label[plain],
        truth.boxes[plain],
        truth.areas[plain],
        int(truth.crowd.sum()),
        truth.notices,
    )
