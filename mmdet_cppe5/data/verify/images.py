"""Checks of the image files, on all cores."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Optional

from mmdet_cppe5.images import (
    SUFFIXES,
    find_images,
    orientation,
    pillow,
    seen_size,
)
from mmdet_cppe5.progress import track
from mmdet_cppe5.data.verify.columns import Columns
from mmdet_cppe5.data.verify.findings import Findings
from mmdet_cppe5.data.verify.records import (
    declared_size,
    image_label,
    leads_outside,
)

THUMB = 16
_FEW = 32  # below this, starting processes costs more than it saves
_EIGHT_BIT = ('1', 'L', 'LA', 'P', 'PA', 'RGB', 'RGBA', 'YCbCr', 'RGBX')


@dataclass(frozen=True)
class ImageFacts:
    """What an image file holds.

    Attributes:
        error: why it cannot be read, or ``''``; the rest is then empty.
        format: by content, as Pillow names it.
        mode: Pillow's mode, such as ``'RGB'``.
        alpha: whether it has transparency.
        size: width and height after EXIF rotation, in pixels.
        stored: width and height before.
        orientation: EXIF orientation, 1 for upright.
        pixels: digest of the decoded pixels.
        hash: 64-bit perceptual hash.
        thumb: grey thumbnail, ``THUMB * THUMB`` bytes.
    """

    error: str = ''
    format: str = ''
    mode: str = ''
    alpha: bool = False
    size: tuple[int, int] = (0, 0)
    stored: tuple[int, int] = (0, 0)
    orientation: int = 1
    pixels: bytes = b''
    hash: int = 0
    thumb: bytes = b''


def look(path: Path, hashes: bool = True) -> ImageFacts:
    """Decode an image file whole and return what it holds.

    Args:
        path: the file.
        hashes: compute what finds (near-)identical images, too.
    """
    image_module = pillow()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')  # odd metadata, large images
            with image_module.open(path) as image:
                image.load()
                return _facts(image, hashes)
    except (
        OSError,
        SyntaxError,
        ValueError,
        EOFError,
        MemoryError,
        image_module.DecompressionBombError,
    ) as error:
        text = str(error) or type(error).__name__
        return ImageFacts(error=text.replace(str(path), path.name))


def _facts(image: Any, hashes: bool) -> ImageFacts:
    pixels, code, thumb = b'', 0, b''
    if hashes:
        from PIL import ImageOps

        upright = ImageOps.exif_transpose(image).convert('RGB')
        digest = hashlib.sha1(repr(upright.size).encode())
        digest.update(upright.tobytes())
        pixels = digest.digest()
        code = perceptual_hash(upright)
        thumb = upright.convert('L').resize((THUMB, THUMB)).tobytes()
    return ImageFacts(
        format=image.format or '',
        mode=image.mode,
        alpha='A' in image.mode or 'transparency' in image.info,
        size=seen_size(image),
        stored=image.size,
        orientation=orientation(image),
        pixels=pixels,
        hash=code,
        thumb=thumb,
    )


def perceptual_hash(image: Any) -> int:
    """Return ImageHash's 64-bit pHash of a Pillow image as an integer."""
    try:
        import imagehash
    except ImportError as error:
        raise ImportError(
            'Finding near-identical images needs ImageHash: '
            "pip install 'mmdet-cppe5[data]' (or leave it out with "
            '--no-duplicates).'
        ) from error
    return int(str(imagehash.phash(image)), 16)


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, 'sched_getaffinity'):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def look_at_all(
    paths: Sequence[Path],
    hashes: bool = True,
    workers: Optional[int] = None,
    progress: bool = True,
) -> list[ImageFacts]:
    """Decode many image files, on all cores.

    Args:
        paths: the files.
        hashes: as for :func:`look`.
        workers: number of processes; None takes one for each core.
        progress: show a bar on a terminal.
    """
    count = min(workers or cores(), len(paths))
    work = partial(look, hashes=hashes)
    if count <= 1 or len(paths) < _FEW:
        return list(_bar(map(work, paths), len(paths), progress))
    with multiprocessing.Pool(count) as pool:
        results = pool.imap(work, paths, chunksize=8)
        return list(_bar(results, len(paths), progress))


def _bar(
    results: Iterator[ImageFacts], total: int, show: bool
) -> Iterator[ImageFacts]:
    yield from track(results, total, 'Reading images', show)


def check_files(
    columns: Columns,
    folder: Path,
    findings: Findings,
    hashes: bool = True,
    workers: Optional[int] = None,
    progress: bool = True,
) -> dict[int, ImageFacts]:
    """Check the image files of one annotation file.

    Args:
        columns: the annotation file.
        folder: the folder that its file names are relative to.
        findings: where to add what is found.
        hashes: as for :func:`look`.
        workers: as for :func:`look_at_all`.
        progress: show a bar on a terminal.

    Returns:
        The facts of each readable image file by position among the images.
    """
    names = {
        position: image['file_name']
        for position, image in enumerate(columns.images)
        if isinstance(image, dict)
        and isinstance(image.get('file_name'), str)
        and image['file_name']
    }
    there, missing = {}, []
    for position, name in names.items():
        if (folder / name).is_file() and not leads_outside(name):
            there[position] = folder / name
        else:
            missing.append(position)
    labels = {
        position: image_label(columns.images[position], position)
        for position in names
    }
    findings.add(
        'file-missing',
        [labels[position] for position in missing],
        [_missing(labels[p], folder, names[p]) for p in missing[:100]],
    )
    facts = dict(
        zip(
            there, look_at_all(list(there.values()), hashes, workers, progress)
        )
    )
    _judge(columns, facts, there, labels, findings)
    return {
        position: fact for position, fact in facts.items() if not fact.error
    }


def unlisted(folder: Path, splits: Sequence[Columns]) -> list[str]:
    """Return the image files of a folder that no annotation file lists.

    Args:
        folder: the folder of image files.
        splits: all annotation files that refer to it.
    """
    listed = {
        (folder / image['file_name']).resolve()
        for columns in splits
        for image in columns.images
        if isinstance(image, dict) and isinstance(image.get('file_name'), str)
    }
    return [
        path.relative_to(folder).as_posix()
        for path in find_images(folder)
        if path.resolve() not in listed
    ]


def _missing(label: Any, folder: Path, name: str) -> str:
    """Say which file is missing, and which one it may be instead."""
    path = folder / name
    text = f'image {label!r}: {path}'
    if not path.parent.is_dir() or leads_outside(name):
        return text
    for other in sorted(path.parent.iterdir()):
        if other.name.lower() == path.name.lower() or other.stem == path.stem:
            return f'{text} (there is {other.name})'
    return text


def _judge(
    columns: Columns,
    facts: dict[int, ImageFacts],
    paths: dict[int, Path],
    labels: dict[int, Any],
    findings: Findings,
) -> None:
    """Turn the facts of the files into findings."""
    cases: dict[str, list[tuple[Any, str]]] = {}
    for position, fact in facts.items():
        declared = declared_size(columns.images[position])
        for code, text in _faults(fact, paths[position], declared):
            label = labels[position]
            cases.setdefault(code, []).append(
                (label, f'image {label!r}: {text}')
            )
    for code, found in cases.items():
        findings.add(
            code, [label for label, _ in found], [text for _, text in found]
        )


def _faults(
    fact: ImageFacts, path: Path, declared: Optional[tuple[float, float]]
) -> Iterator[tuple[str, str]]:
    """Yield code and detail of each thing worth saying about a file."""
    if fact.error:
        yield 'file-unreadable', f'{path.name}: {fact.error}'
        return
    promised = SUFFIXES.get(path.suffix.lower())
    if promised != fact.format:
        yield 'file-format', f'{path.name} is {fact.format}'
    if fact.alpha:
        yield 'file-alpha', f'{path.name} is {fact.mode}'
    if fact.mode not in _EIGHT_BIT:
        yield 'file-colour', f'{path.name} is {fact.mode}'
    if declared is None:
        return
    width, height = fact.size
    sizes = (
        f'declared {declared[0]:g} x {declared[1]:g}, {path.name} has '
        f'{width} x {height}'
    )
    if declared == fact.size:
        if fact.orientation != 1:
            yield 'file-rotated', f'{path.name}, EXIF {fact.orientation}'
    elif declared == fact.stored:
        yield 'size-before-rotation', f'{sizes} after rotation'
    elif declared == (height, width):
        yield 'size-differs', f'{sizes}: width and height are swapped'
    else:
        yield 'size-differs', sizes
