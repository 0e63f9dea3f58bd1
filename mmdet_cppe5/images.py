"""What an image file is: format by content, size as a detector sees it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, Union

from mmdet_cppe5.files import PathLike
from mmdet_cppe5.image_names import is_hidden

# Formats that OpenCV, and so MMDetection, reads; the first bytes of each.
_MAGIC = (
    (b'\xff\xd8\xff', 'JPEG'),
    (b'\x89PNG\r\n\x1a\n', 'PNG'),
    (b'GIF8', 'GIF'),
    (b'BM', 'BMP'),
    (b'II*\0', 'TIFF'),
    (b'MM\0*', 'TIFF'),
)
SUFFIXES = {
    '.jpg': 'JPEG',
    '.jpeg': 'JPEG',
    '.jpe': 'JPEG',
    '.png': 'PNG',
    '.bmp': 'BMP',
    '.tif': 'TIFF',
    '.tiff': 'TIFF',
    '.webp': 'WEBP',
    '.gif': 'GIF',
}
_SWAPPED = (5, 6, 7, 8)  # EXIF orientations that turn by 90 degrees


def content_format(head: bytes) -> str:
    """Return the image format that a file's first bytes announce.

    Args:
        head: at least the first 12 bytes.

    Returns:
        The format as Pillow names it, or ``''`` for no known image format.
    """
    for magic, name in _MAGIC:
        if head.startswith(magic):
            return name
    if head[:4] == b'RIFF' and head[8:12] == b'WEBP':
        return 'WEBP'
    return ''


def pillow() -> Any:
    """Import Pillow's ``Image`` module, or say how to get it."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(
            'Reading image files needs Pillow: '
            "pip install 'mmdet-cppe5[data]'."
        ) from error
    return Image


def orientation(image: Any) -> int:
    """Return an opened image's EXIF orientation, 1 (upright) if not told."""
    value = image.getexif().get(0x0112, 1)
    return value if isinstance(value, int) and 1 <= value <= 8 else 1


def seen_size(image: Any) -> tuple[int, int]:
    """Return width and height after the rotation that EXIF asks for.

    OpenCV's colour reading, which MMDetection uses, applies that rotation,
    and so does Ultralytics; boxes refer to the rotated image.
    """
    width, height = image.size
    if orientation(image) in _SWAPPED:
        return height, width
    return width, height


def image_size(source: Union[PathLike, bytes], what: str) -> tuple[int, int]:
    """Read width and height in pixels from an image's header.

    Args:
        source: the path of the file, or its bytes.
        what: how to call the image in an error.

    Raises:
        ValueError: if it is not a readable image.
    """
    image_module = pillow()
    stream = io.BytesIO(source) if isinstance(source, bytes) else Path(source)
    try:
        with image_module.open(stream) as image:
            return seen_size(image)
    except (
        OSError,
        SyntaxError,
        ValueError,
        image_module.DecompressionBombError,
    ) as error:
        raise ValueError(
            f'Expected a readable image in {what}, but got: {error}.'
        ) from error


def find_images(folder: PathLike) -> list[Path]:
    """Return the image files below a folder, of any extension, sorted.

    Hidden files, which systems leave beside pictures, are none.
    """
    root = Path(folder)
    if not root.is_dir():
        raise FileNotFoundError(
            f'Expected a folder of images at {root}, but there is none.'
        )
    return sorted(
        path
        for path in root.rglob('*')
        if path.suffix.lower() in SUFFIXES
        and not is_hidden(path.relative_to(root))
        and path.is_file()
    )
