"""The drawn data set on disk, in the exact form of CPPE-5."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from mmdet_cppe5.classes import CLASSES
from mmdet_cppe5.drawn.compositions import COMPOSITIONS
from mmdet_cppe5.drawn.scene import draw_scene
from mmdet_cppe5.files import PathLike, atomic_path, write_json

# The first image id of each split, as in CPPE-5.
FIRST_IDS = {'train': 1, 'test': 1001}


@dataclass(frozen=True)
class DrawnPaths:
    """Where a drawn data set lies.

    Attributes:
        root: its folder, a ``data_root`` for ``CPPE5Dataset``.
        train: annotation file of the training images.
        test: annotation file of the test images.
        images: folder with the images of both.
    """

    root: Path
    train: Path
    test: Path
    images: Path


def write_drawn_dataset(
    root: PathLike, num_train: int = 200, num_test: int = 29, seed: int = 0
) -> DrawnPaths:
    """Draw a small data set and write it in the form of CPPE-5.

    An image depends on the seed, its split and its id only: a larger data
    set begins with the images of a smaller one. The same call writes the
    same bytes wherever NumPy's and Pillow's versions are the same.

    Args:
        root: folder to write to; existing files are replaced.
        num_train: number of training images, with ids from 1.
        num_test: number of test images, with ids from 1001.
        seed: another seed draws other scenes.

    Returns:
        The paths of what was written.

    Raises:
        ValueError: if a number is negative, or so many training images are
            asked for that their ids would run into those of the test images.
    """
    if num_train < 0 or num_test < 0 or seed < 0:
        raise ValueError(
            'Expected numbers of images and a seed of at least 0, but got '
            f'num_train={num_train}, num_test={num_test}, seed={seed}.'
        )
    if num_train >= FIRST_IDS['test']:
        raise ValueError(
            f'Expected at most {FIRST_IDS["test"] - 1} training images, '
            f'because test ids begin at {FIRST_IDS["test"]}, but got '
            f'{num_train}.'
        )
    root = Path(root)
    annotations = root / 'annotations'
    paths = DrawnPaths(
        root=root,
        train=annotations / 'train.json',
        test=annotations / 'test.json',
        images=root / 'images',
    )
    # The annotations come last: where they are, the images are complete.
    train = _write_images(paths.images, 'train', num_train, seed)
    test = _write_images(paths.images, 'test', num_test, seed)
    write_json(paths.train, train)
    write_json(paths.test, test)
    return paths


def _write_images(
    folder: Path, split: str, count: int, seed: int
) -> dict[str, Any]:
    """Draw the images of one split; return its annotation file's content."""
    first = FIRST_IDS[split]
    kinds = list(COMPOSITIONS)
    images, annotations = [], []
    for image_id in range(first, first + count):
        rng = np.random.default_rng([seed, image_id])
        kind = kinds[(image_id - first) % len(kinds)]
        picture, boxes = draw_scene(rng, kind)
        name = f'{image_id}.png'
        with atomic_path(folder / name) as path:
            Image.fromarray(picture).save(path, format='PNG', compress_level=1)
        height, width = picture.shape[:2]
        images.append(
            dict(file_name=name, height=height, width=width, id=image_id)
        )
        for box in boxes:
            annotation = dict(
                area=box.width * box.height,
                iscrowd=0,
                bbox=[box.x, box.y, box.width, box.height],
                category_id=box.category,
                ignore=0,
                segmentation=[],
                image_id=image_id,
                id=len(annotations) + 1,
            )
            annotations.append(annotation)
    return dict(
        images=images,
        type='instances',
        annotations=annotations,
        categories=[
            dict(supercategory='none', id=number, name=name)
            for number, name in enumerate(CLASSES, start=1)
        ],
    )
