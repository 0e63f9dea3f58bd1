"""Converting raw DeepFashion2 annotations to one COCO-style file."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, Optional, TextIO

from mmdet_cppe5.deepfashion2.categories import CATEGORIES, NUM_LANDMARKS
from mmdet_cppe5.deepfashion2.raw_annotations import (
    image_id_of,
    read_annotations,
)
from mmdet_cppe5.files import PathLike, atomic_path
from mmdet_cppe5.images import pillow, seen_size
from mmdet_cppe5.progress import track

_FILES_PER_TASK = 64


class ConversionCounts(NamedTuple):
    """What a conversion wrote.

    Attributes:
        images: number of images.
        items: number of items (annotations).
        unlabelled: number of items without any labelled landmark; landmark
            evaluation ignores them.
        flat: number of items whose box has no width or no height; no
            detection can match them.
        empty: number of raw files without items; their images are kept.
    """

    images: int
    items: int
    unlabelled: int
    flat: int
    empty: int


class _Converted(NamedTuple):
    """One raw file as JSON text, so that workers do the encoding."""

    image: str
    annotations: list[str]
    unlabelled: int
    flat: int


def convert(
    annotations: PathLike,
    images: PathLike,
    output: PathLike,
    workers: Optional[int] = None,
    progress: bool = True,
) -> ConversionCounts:
    """Convert a folder of raw annotations to one COCO-style file.

    Image ids are the numbers in the files' names; annotation ids count from
    1 over the images by id and their items in the files' order. The file is
    written as it is read, so that the training set's 190,000 files need
    little memory. What an annotation holds:
    :func:`~mmdet_cppe5.deepfashion2.raw_annotations.read_annotations`.

    Args:
        annotations: folder of raw files ``NNNNNN.json`` (``annos``).
        images: folder of the images ``NNNNNN.jpg`` (``image``), whose sizes
            are read from the files.
        output: the COCO-style JSON file to write, whole or not at all.
        workers: number of processes; all cores if None.
        progress: show a progress bar if standard error is a terminal.

    Returns:
        What was written.

    Raises:
        FileNotFoundError: if a folder has no raw file or an image is
            missing.
        ValueError: if a raw file is not what it should be, with its name.
        ImportError: if Pillow is missing.
    """
    files = _raw_files(Path(annotations))
    one = functools.partial(_convert_one, images=Path(images))
    shown = functools.partial(
        track, total=len(files), text='raw files', show=progress
    )
    count = min(workers or os.cpu_count() or 1, len(files))
    if count == 1:
        return _write(output, shown(map(one, files)))
    with ProcessPoolExecutor(count) as pool:
        converted = pool.map(one, files, chunksize=_FILES_PER_TASK)
        try:
            return _write(output, shown(converted))
        except BaseException:
            # Leaving the pool would first convert every file that is left.
            pool.shutdown(cancel_futures=True)
            raise


def categories() -> list[dict[str, Any]]:
    """Return the ``categories`` of a DeepFashion2 COCO-style file."""
    names = [str(number) for number in range(1, NUM_LANDMARKS + 1)]
    return [
        {
            'id': category.id,
            'name': category.name,
            'supercategory': 'clothes',
            'keypoints': names,
            'skeleton': [],
        }
        for category in CATEGORIES
    ]


def _raw_files(folder: Path) -> list[Path]:
    """List a folder's raw files by ascending image id."""
    files = sorted(folder.glob('*.json'), key=image_id_of)
    if not files:
        raise FileNotFoundError(
            'Expected raw DeepFashion2 annotation files such as 000001.json '
            f'in {folder}, but there is none.'
        )
    return files


def _convert_one(file: Path, images: Path) -> _Converted:
    """Convert one raw file and read its image's size."""
    items = read_annotations(file)
    image = images / f'{file.stem}.jpg'
    width, height = _image_size(image)
    entry = {
        'id': image_id_of(file),
        'file_name': image.name,
        'width': width,
        'height': height,
    }
    return _Converted(
        json.dumps(entry),
        [json.dumps(item) for item in items],
        sum(item['num_keypoints'] == 0 for item in items),
        sum(item['area'] == 0 for item in items),
    )


def _image_size(image: Path) -> tuple[int, int]:
    """Read width and height in pixels, as a detector sees the image."""
    if not image.is_file():
        raise FileNotFoundError(
            f'Expected the image of a raw annotation at {image}, but there '
            'is no such file.'
        )
    with pillow().open(image) as opened:
        return seen_size(opened)


def _write(
    output: PathLike, converted: Iterable[_Converted]
) -> ConversionCounts:
    """Stream converted files into a COCO-style JSON file."""
    images: list[str] = []
    items = unlabelled = flat = empty = 0
    with atomic_path(output) as path, path.open('w') as stream:
        stream.write('{"info": {}, "licenses": [], "annotations": [')
        for one in converted:
            images.append(one.image)
            unlabelled += one.unlabelled
            flat += one.flat
            empty += not one.annotations
            items = _write_items(stream, one.annotations, items)
        stream.write('\n], "images": [')
        stream.writelines(_separated(images))
        stream.write(f'\n], "categories": {json.dumps(categories())}}}\n')
    return ConversionCounts(len(images), items, unlabelled, flat, empty)


def _write_items(stream: TextIO, items: list[str], written: int) -> int:
    """Write annotations with the ids after ``written``; return the last."""
    for item in items:
        comma = ',' if written else ''
        written += 1
        stream.write(f'{comma}\n{{"id": {written}, {item[1:]}')
    return written


def _separated(entries: list[str]) -> Iterator[str]:
    """Yield JSON entries of a list, one on a line."""
    for index, entry in enumerate(entries):
        yield f'{"," if index else ""}\n{entry}'
