"""Photos inside a page: found, scaled down, and kept within a budget."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from mmdet_cppe5.files import PathLike
from mmdet_cppe5.image_names import ImageFolder

if TYPE_CHECKING:
    from PIL.Image import Image

# Sides in pixels and bytes of one photo; bytes of all, before base64.
LARGEST_SIDE, SMALLEST_SIDE = 1280, 240
# Of a photo in a page of many, without a budget.
SMALL_SIDE = 720
QUALITY = 80
BUDGET = 5_500_000


@dataclass(frozen=True)
class Photo:
    """One image with everything drawn on it.

    Attributes:
        key: position of the image in the data set.
        name: what it is called.
        width: of the original in pixels.
        height: of the original in pixels.
        href: the scaled-down photo as a ``data:`` address, or None.
        boxes: ``(role, x, y, width, height, tag, score)`` of each box, in
            pixels of the original. Roles: ``gt`` and ``missed`` for objects,
            ``good`` and ``det`` for right and wrong detections.
        facts: a few words about it.
        others: name of another detector -> the same boxes with its own
            detections.
    """

    key: int
    name: str
    width: float
    height: float
    href: Optional[str] = None
    boxes: Sequence[tuple[Any, ...]] = field(default=())
    facts: str = ''
    others: Mapping[str, Sequence[tuple[Any, ...]]] = field(
        default_factory=dict
    )


def require_pillow() -> None:
    """Raise an ImportError that names the extra when Pillow is absent."""
    try:
        import PIL  # noqa: F401
    except ImportError as error:
        raise ImportError(
            'Photos in a report need Pillow, which is not installed; '
            "install it with: pip install 'mmdet-cppe5[report]'"
        ) from error


def find_photo(folder: PathLike, name: str) -> Optional[Path]:
    """Return where the photo of a name lies below a folder, or None.

    Args:
        folder: the images' folder.
        name: a ``file_name`` as annotation files have it, possibly with
            folders of its own that do not exist here (see
            :mod:`mmdet_cppe5.image_names`).
    """
    root = Path(folder).resolve()
    found = _pictures(root).find(name)
    path = None if found is None else found.resolve()
    return path if path and path.is_relative_to(root) else None


@lru_cache(maxsize=2)
def _pictures(root: Path) -> ImageFolder:
    """Return a folder whose list of files is made once, where needed."""
    return ImageFolder(root)


def encode_photo(
    path: PathLike, size: tuple[float, float], side: int = LARGEST_SIDE
) -> bytes:
    """Return a photo as JPEG of at most ``side`` pixels per side.

    Args:
        path: any file that Pillow reads.
        size: width and height that the annotations refer to. A photo that
            has them only when turned as its EXIF data says is turned.
        side: the longer side's limit in pixels.

    Raises:
        OSError: if the file is no image or is damaged.
    """
    require_pillow()
    from PIL import Image, ImageOps

    try:
        with Image.open(path) as image:
            image.draft('RGB', (side, side))
            turned = ImageOps.exif_transpose(image)
            if (turned.width < turned.height) == (size[0] < size[1]):
                image = turned
            rgba = image.convert('RGBA')
    except (ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise OSError(f'{path} cannot be read as an image: {error}') from error
    paper = Image.new('RGB', rgba.size, 'white')
    paper.paste(rgba, mask=rgba.getchannel('A'))
    return _jpeg(paper, side)


def jpeg_address(pixels: np.ndarray, side: int = SMALL_SIDE) -> str:
    """Return RGB pixels, uint8 ``(H, W, 3)``, as a ``data:`` address."""
    require_pillow()
    from PIL import Image

    image = Image.fromarray(np.ascontiguousarray(pixels))
    return _address(_jpeg(image, side))


def _jpeg(image: Image, side: int) -> bytes:
    """Scale an image in place to at most ``side`` and return it as JPEG."""
    image.thumbnail((side, side))
    stream = io.BytesIO()
    image.save(stream, 'JPEG', quality=QUALITY, optimize=True)
    return stream.getvalue()


def embed_photos(
    paths: Sequence[Optional[Path]],
    sizes: Sequence[tuple[float, float]],
    budget: int = BUDGET,
) -> tuple[list[Optional[str]], list[str]]:
    """Encode photos for a page, together within a number of bytes.

    Args:
        paths: where each lies; None where there is none.
        sizes: width and height of each as annotated.
        budget: bytes of all photos together.

    Returns:
        Each photo's ``data:`` address or None, and what went wrong.
    """
    side, problems = LARGEST_SIDE, []
    photos: list[Optional[bytes]] = []
    while True:
        photos, problems = _encode_all(paths, sizes, side)
        total = sum(len(photo) for photo in photos if photo)
        if total <= budget or side <= SMALLEST_SIDE:
            break
        # Bytes grow a little slower than the number of pixels.
        side = max(
            int(side * min((budget / total) ** 0.6, 0.9)), SMALLEST_SIDE
        )
    addresses = [photo and _address(photo) for photo in photos]
    return addresses, problems


def _encode_all(
    paths: Sequence[Optional[Path]],
    sizes: Sequence[tuple[float, float]],
    side: int,
) -> tuple[list[Optional[bytes]], list[str]]:
    photos: list[Optional[bytes]] = []
    problems = []
    for path, size in zip(paths, sizes):
        photo = None
        if path is not None:
            try:
                photo = encode_photo(path, size, side)
            except OSError as error:
                problems.append(f'{path.name}: {error}')
        photos.append(photo)
    return photos, problems


def _address(photo: bytes) -> str:
    return 'data:image/jpeg;base64,' + base64.b64encode(photo).decode('ascii')
