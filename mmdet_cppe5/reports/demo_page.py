"""A page of photos with what was detected on them, without ground truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mmdet_cppe5.reports.cells import count, word
from mmdet_cppe5.reports.framing import Mark
from mmdet_cppe5.reports.gallery import Card, Group
from mmdet_cppe5.reports.page import (
    Column,
    Gallery,
    Headline,
    Page,
    Row,
    Section,
    Table,
)
from mmdet_cppe5.reports.photos import Photo

SHOWN = 120


@dataclass(frozen=True)
class DemoPhoto:
    """One photo and the detections on it.

    Attributes:
        name: what it is called.
        width: in pixels.
        height: in pixels.
        href: the scaled-down photo as a ``data:`` address, or None.
        labels: class positions, integer ``(n,)``.
        boxes: x, y, width, height in pixels, ``(n, 4)``.
        scores: ``(n,)``.
    """

    name: str
    width: int
    height: int
    href: str | None
    labels: np.ndarray
    boxes: np.ndarray
    scores: np.ndarray


def demo_page(
    title: str,
    class_names: Sequence[str],
    photos: Sequence[DemoPhoto],
    score: float,
    unreadable: Sequence[tuple[str, str]] = (),
) -> Page:
    """Put the page together.

    Args:
        title: its heading.
        class_names: the classes in label order.
        photos: what was detected on each photo.
        score: detections below it are not counted and first hidden.
        unreadable: name and reason of each file that could not be read.
    """
    shown = photos[:SHOWN]
    cards = tuple(
        _card(class_names, photo, key, score)
        for key, photo in enumerate(shown)
    )
    names = [n for n in class_names if any(n in c.classes for c in cards)]
    text = f'Detections with a score of {score:.2f} or more.'
    if len(shown) < len(photos):
        text += f' Shown: the first {len(shown)} of {len(photos):,} pictures.'
    group = Group('picture', 'What was detected', text, len(photos), cards)
    sections = [
        Section(
            'pictures',
            'Pictures',
            ['Open a picture to see all detections and to set the score.'],
            gallery=Gallery(
                [group], names, False, legend=[('det', 'detection')]
            ),
        ),
        Section(
            'counts',
            'Counts',
            tables=[_table(class_names, photos, score, len(shown))],
            filter='Find pictures:',
        ),
    ]
    if unreadable:
        sections.append(
            Section('unreadable', 'Not readable', facts=list(unreadable))
        )
    total = sum(int((photo.scores >= score).sum()) for photo in photos)
    headline = [
        Headline('Pictures', f'{len(photos):,}'),
        Headline('Detections', f'{total:,}'),
        Headline('Not readable', f'{len(unreadable):,}'),
    ]
    return Page(
        title,
        'Detections on photos',
        f'{len(photos):,} pictures, classes: {", ".join(class_names)}. '
        'There is no ground truth, so nothing here says what is right.',
        headline,
        sections=sections,
        photos=[
            _photo(class_names, photo, key, score)
            for key, photo in enumerate(shown)
        ],
        start_score=score,
    )


def _tally(
    class_names: Sequence[str], photo: DemoPhoto, score: float
) -> dict[str, int]:
    """Count the detections of each class that has some."""
    sure = photo.labels[photo.scores >= score]
    counts = np.bincount(sure, minlength=len(class_names))
    return {n: int(c) for n, c in zip(class_names, counts) if c}


def _card(
    class_names: Sequence[str], photo: DemoPhoto, key: int, score: float
) -> Card:
    tally = _tally(class_names, photo, score)
    said = ', '.join(f'{number} {name}' for name, number in tally.items())
    marks = tuple(
        Mark('det', *np.round(box, 1).tolist())
        for box in photo.boxes[photo.scores >= score]
    )
    view = (0.0, 0.0, float(photo.width), float(photo.height))
    return Card(
        'picture',
        key,
        photo.name,
        tuple(tally),
        said or 'nothing detected',
        '',
        said or 'nothing detected',
        view,
        photo.width / 17,
        marks,
        photo.href is not None,
    )


def _photo(
    class_names: Sequence[str], photo: DemoPhoto, key: int, score: float
) -> Photo:
    boxes = [
        (
            'det',
            *np.round(box, 1).tolist(),
            f'{class_names[label]} {confidence:.2f}',
            round(float(confidence), 4),
        )
        for label, box, confidence in zip(
            photo.labels, photo.boxes, photo.scores
        )
    ]
    number = int((photo.scores >= score).sum())
    return Photo(
        key,
        photo.name,
        photo.width,
        photo.height,
        photo.href,
        boxes,
        f'{number} detections at score ≥ {score:.2f}',
    )


def _table(
    class_names: Sequence[str],
    photos: Sequence[DemoPhoto],
    score: float,
    shown: int,
) -> Table:
    rows = []
    for key, photo in enumerate(photos):
        tally = _tally(class_names, photo, score)
        cells = [word(photo.name), count(sum(tally.values()))]
        cells += [count(tally.get(name, 0)) for name in class_names]
        rows.append(Row(cells, key if key < shown else None))
    return Table(
        'picture-table',
        'Every picture',
        [
            Column('Picture', False),
            Column('Detections'),
            *(Column(name) for name in class_names),
        ],
        rows,
        f'Detections with a score of {score:.2f} or more.',
    )
