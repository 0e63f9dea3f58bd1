"""What image files hold, read on all cores."""

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

from mmdet_cppe5.images import orientation, pillow, seen_size
from mmdet_cppe5.progress import track

THUMB = 16
_FEW = 32  # below this, starting processes costs more than it saves


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
