"""Parts of a data set: by shape, crowding, border, light, or any column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Optional

import numpy as np

from mmdet_cppe5.core import Detections, GroundTruths
from mmdet_cppe5.files import PathLike
from mmdet_cppe5.reports.framing import box_iou
from mmdet_cppe5.reports.photos import find_photo
from mmdet_cppe5.reports.study import DataSet

# More values of a column are no slices any more.
MOST_VALUES = 20
# More photos take long to look through.
MOST_PHOTOS = 500
BORDER = 2.0  # pixels
OVERLAP = 0.1  # IoU


@dataclass(frozen=True, eq=False)
class Slice:
    """Some of the objects, or some of the images with all that is on them.

    Attributes:
        kind: what the data set is sliced by.
        value: which slice it is.
        objects: bool ``(G,)``; None for a slice of images.
        images: bool ``(N,)``; None for a slice of objects.
    """

    kind: str
    value: str
    objects: Optional[np.ndarray] = None
    images: Optional[np.ndarray] = None

    def problem(
        self, truth: GroundTruths, found: Detections
    ) -> tuple[GroundTruths, Detections]:
        """Return the slice's objects and detections.

        Objects outside are ignored, as are the detections on them. False
        positives count in every slice of objects, and in the slice of their
        image.
        """
        if self.images is not None:
            rows = self.images[found.image]
            names = ('image', 'label', 'bbox', 'score', 'area')
            found = replace(
                found, **{name: getattr(found, name)[rows] for name in names}
            )
        return replace(truth, ignore=~self.counted(truth)), found

    def counted(self, truth: GroundTruths) -> np.ndarray:
        """Return which objects are counted, bool ``(G,)``."""
        inside = self.objects
        if self.images is not None:
            inside = self.images[truth.image]
        return ~truth.ignore & inside


def slices(
    data: DataSet,
    keys: Sequence[str] = (),
    photos: Optional[PathLike] = None,
) -> list[Slice]:
    """Return the slices of a data set.

    Args:
        data: the data set.
        keys: fields of the images or annotations to slice by.
        photos: folder of the photos, for brightness and sharpness.

    Raises:
        ValueError: if no record has a field, or it has too many values.
    """
    truth = data.ground_truths
    ratio = truth.bbox[:, 2] / np.maximum(truth.bbox[:, 3], 1e-9)
    number = np.bincount(
        truth.image[~truth.ignore], minlength=truth.num_images
    )
    touches = _touches_border(data)
    overlaps = _overlaps(data)
    made = [
        *_objects('Width / height', {
            'below 1/2': ratio < 0.5,
            '1/2 to 2': (ratio >= 0.5) & (ratio <= 2),
            'above 2': ratio > 2,
        }),
        *_images('Objects in the image', {
            '1 to 3': (number >= 1) & (number <= 3),
            '4 to 9': (number >= 4) & (number <= 9),
            '10 or more': number >= 10,
        }),
        *_objects('Overlap with another object', {
            f'IoU below {OVERLAP:g}': ~overlaps,
            f'IoU {OVERLAP:g} or more': overlaps,
        }),
        *_objects('Border of the image', {
            'away': ~touches, 'touched': touches,
        }),
    ]  # fmt: skip
    if photos is not None and truth.num_images <= MOST_PHOTOS:
        made += _by_light(data, photos)
    for key in keys:
        made += _by_key(data, key)
    return made


def _objects(kind: str, parts: Mapping[str, np.ndarray]) -> list[Slice]:
    return [Slice(kind, value, objects=rows) for value, rows in parts.items()]


def _images(kind: str, parts: Mapping[str, np.ndarray]) -> list[Slice]:
    return [Slice(kind, value, images=rows) for value, rows in parts.items()]


def _touches_border(data: DataSet) -> np.ndarray:
    boxes = data.ground_truths.bbox
    sizes = data.image_sizes[data.ground_truths.image]
    far = boxes[:, :2] + boxes[:, 2:]
    return ((boxes[:, :2] <= BORDER) | (far >= sizes - BORDER)).any(axis=1)


def _overlaps(data: DataSet) -> np.ndarray:
    boxes = data.ground_truths.bbox
    result = np.zeros(len(boxes), bool)
    for rows in data.rows_by_image:
        for row in rows:
            others = rows[rows != row]
            overlap = box_iou(boxes[row], boxes[others])
            result[row] = bool((overlap >= OVERLAP).any())
    return result


def _by_key(data: DataSet, key: str) -> list[Slice]:
    """Slice by a field of the images, or else of the annotations."""
    for records, make in (
        (data.truth.images, _images),
        (data.truth.records.items, _objects),
    ):
        values = [record.get(key) for record in records]
        if any(value is not None for value in values):
            return make(key, _parts(key, values))
    raise ValueError(
        f"Expected '--slice' to name a field of the images or annotations of "
        f'{data.truth.source}, but none has {key!r}.'
    )


def _parts(key: str, values: Sequence[Any]) -> dict[str, np.ndarray]:
    texts = ['none' if value is None else str(value) for value in values]
    known = sorted(set(texts))
    if len(known) > MOST_VALUES:
        raise ValueError(
            f'Expected at most {MOST_VALUES} values of {key!r} to slice by, '
            f'but it has {len(known):,}, such as {known[0]!r}.'
        )
    column = np.array(texts)
    return {value: column == value for value in known}


def _by_light(data: DataSet, folder: PathLike) -> list[Slice]:
    """Slice by brightness and sharpness of the photos, in thirds."""
    looks = np.array(
        [_look(find_photo(folder, name)) for name in data.image_names]
    ).reshape(-1, 2)
    made: list[Slice] = []
    for kind, column, names in (
        ('Brightness of the image', 0, ('darkest', 'middle', 'brightest')),
        ('Sharpness of the image', 1, ('least', 'middle', 'most')),
    ):
        values = looks[:, column]
        known = values[np.isfinite(values)]
        if len(known) < len(names):
            continue
        low, high = np.quantile(known, [1 / 3, 2 / 3])
        parts = (values <= low, (values > low) & (values <= high),
                 values > high)  # fmt: skip
        made += _images(
            kind,
            {f'{n} third': rows for n, rows in zip(names, parts)},
        )
    return made


def _look(path: Optional[Path]) -> tuple[float, float]:
    """Return mean brightness and sharpness; NaN for no readable photo.

    Sharpness is the standard deviation of the Laplacian of the photo at 256
    pixels.
    """
    from PIL import Image

    unknown = float('nan'), float('nan')
    if path is None:
        return unknown
    try:
        with Image.open(path) as image:
            image.draft('L', (512, 512))
            grey = image.convert('L')
            grey.thumbnail((256, 256))
            values = np.asarray(grey, dtype=np.float64)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return unknown
    if min(values.shape) < 3:
        return unknown
    around = values[:-2, 1:-1] + values[2:, 1:-1]
    around = around + values[1:-1, :-2] + values[1:-1, 2:]
    laplacian = around - 4 * values[1:-1, 1:-1]
    return float(values.mean()), float(laplacian.std())
