"""Pictures of detections beside the annotations, one per image."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Optional

from PIL import Image, ImageDraw, ImageFont

from mmdet_cppe5.classes import PALETTE
from mmdet_cppe5.files import PathLike, atomic_path

MARGIN = 12
HEADING = 26
MIN_SIDE = 640


class Mark(NamedTuple):
    """One box to draw.

    Attributes:
        category: position of its class, from 0.
        box: x, y, width, height in pixels of the image.
        score: 0 to 1, None for an annotation.
    """

    category: int
    box: Sequence[float]
    score: Optional[float] = None


def write_pictures(
    ground_truth: Mapping[str, Any],
    results: Iterable[Mapping[str, Any]],
    images: PathLike,
    folder: PathLike,
    min_score: float,
) -> list[Path]:
    """Draw annotations (left) and detections (right) of every image.

    Args:
        ground_truth: content of a COCO annotation file.
        results: content of a COCO result file.
        images: folder of the images.
        folder: where the pictures go, named after the images, as PNG.
        min_score: detections below are left out.

    Returns:
        The pictures' paths, in the order of the images.
    """
    categories = ground_truth['categories']
    names = [category['name'] for category in categories]
    places = {category['id']: n for n, category in enumerate(categories)}
    truth, found = defaultdict(list), defaultdict(list)
    for entry in ground_truth['annotations']:
        mark = Mark(places[entry['category_id']], entry['bbox'])
        truth[entry['image_id']].append(mark)
    for entry in results:
        if entry['score'] >= min_score:
            place = places[entry['category_id']]
            mark = Mark(place, entry['bbox'], entry['score'])
            found[entry['image_id']].append(mark)
    paths = []
    for image in ground_truth['images']:
        photo = Image.open(Path(images) / image['file_name']).convert('RGB')
        sides = truth[image['id']], found[image['id']]
        target = Path(folder) / f'{Path(image["file_name"]).stem}.png'
        with atomic_path(target) as path:
            draw_pair(photo, *sides, names).save(path, format='PNG')
        paths.append(target)
    return paths


def draw_pair(
    photo: Image.Image,
    truth: Sequence[Mark],
    found: Sequence[Mark],
    names: Sequence[str],
) -> Image.Image:
    """Return the annotated and the detected objects, side by side.

    Args:
        photo: the image, RGB; small ones are enlarged.
        truth: the annotations.
        found: the detections.
        names: the classes by position.
    """
    scale = max(1.0, MIN_SIDE / max(photo.size))
    size = (round(photo.width * scale), round(photo.height * scale))
    photo = photo.resize(size, Image.Resampling.LANCZOS)
    font = ImageFont.load_default(13)
    legend = ImageFont.load_default(15)
    wide, high = photo.size
    sheet = Image.new(
        'RGB', (2 * wide + 3 * MARGIN, high + 2 * HEADING + MARGIN), 'white'
    )
    pen = ImageDraw.Draw(sheet)
    panes = (('annotated', truth), ('detected', found))
    for index, (heading, marks) in enumerate(panes):
        left = MARGIN + index * (wide + MARGIN)
        pen.text((left, 4), f'{len(marks)} {heading}', 'black', legend)
        pane = photo.copy()
        _draw_marks(pane, marks, scale, font)
        sheet.paste(pane, (left, HEADING))
    left = MARGIN
    for place, name in enumerate(names):
        top = HEADING + high + 8
        pen.rectangle((left, top, left + 22, top + 14), _colour(place))
        pen.text((left + 30, top - 2), name, 'black', legend)
        left += 54 + round(legend.getlength(name))
    return sheet


def _draw_marks(
    pane: Image.Image,
    marks: Sequence[Mark],
    scale: float,
    font: Any,
) -> None:
    """Draw boxes in the class's colour, and scores on small tags."""
    pen = ImageDraw.Draw(pane)
    for mark in sorted(marks, key=lambda mark: mark.score or 0):
        x, y, width, height = (value * scale for value in mark.box)
        colour = _colour(mark.category)
        # A detection may reach beyond the image, by a fraction of a pixel.
        right, bottom = max(x, x + width - 1), max(y, y + height - 1)
        pen.rectangle((x, y, right, bottom), outline=colour, width=3)
        if mark.score is None:
            continue
        text = f'{100 * mark.score:.0f}'
        tag = (x, y, x + font.getlength(text) + 6, y + 15)
        pen.rectangle(tag, colour)
        pen.text((x + 3, y), text, 'white', font)


def _colour(place: int) -> tuple[int, int, int]:
    return PALETTE[place % len(PALETTE)]
