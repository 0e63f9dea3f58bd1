"""The part of a report that sets detectors against each other by object."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from mmdet_cppe5.coco.records import counted
from mmdet_cppe5.reports.cells import count, word
from mmdet_cppe5.reports.framing import crop, tagged
from mmdet_cppe5.reports.gallery import Card, Group
from mmdet_cppe5.reports.object_pairs import (
    ALARM_OUTCOMES,
    OBJECT_OUTCOMES,
    ObjectPair,
    finders,
    object_pair,
)
from mmdet_cppe5.reports.page import Column, PairView, Row, Section, Table
from mmdet_cppe5.reports.study import HIT_IOU, DataSet, Study

SHOWN = 8
# More detectors are compared with the first only.
ALL_PAIRS = 4

_TEXTS = {
    'fixed': 'Missed by {a}, found by {b}.',
    'broken': 'Found by {a}, missed by {b}.',
    'missed by both': 'Missed by {a} and by {b}.',
    'gone': 'False positives of {a} that {b} does not have.',
    'new': 'False positives of {b} that {a} does not have.',
}


def pair_section(
    data: DataSet, studies: Sequence[Study], with_photos: set[int]
) -> Section:
    """Return every pair of detectors, object by object.

    Args:
        data: the data set.
        studies: the detectors, two or more.
        with_photos: positions of the images whose photo is in the page.
    """
    pairs = list(combinations(studies, 2))
    if len(studies) > ALL_PAIRS:
        pairs = pairs[: len(studies) - 1]
    return Section(
        'objects',
        'Object by object',
        [
            f'What changes from one detector to another at IoU {HIT_IOU:.2f}, '
            'each at the score threshold of its own best F1. Open a pair to '
            'see the objects; in the picture, choose whose detections are '
            'drawn.'
        ],
        pairs=[
            _view(data, object_pair(data, *pair), number, with_photos)
            for number, pair in enumerate(pairs, 1)
        ],
    )


def _view(
    data: DataSet, pair: ObjectPair, number: int, with_photos: set[int]
) -> PairView:
    a, b = pair.first.name, pair.second.name
    fixed, broken = (len(pair.objects[name]) for name in OBJECT_OUTCOMES[:2])
    groups = []
    for name, text in _TEXTS.items():
        rows = pair.objects.get(name, pair.alarms.get(name))
        if not len(rows):
            continue
        text = text.format(a=a, b=b)
        shown = _first(data, pair, name, rows)
        if len(shown) < len(rows):
            text += f' Shown: {len(shown)} of {len(rows):,}.'
        cards = tuple(
            _card(data, pair, name, row, with_photos) for row in shown
        )
        title = f'{name[0].upper()}{name[1:]} ({len(rows):,})'
        groups.append(Group(name, title, text, len(rows), cards))
    return PairView(
        f'{a} → {b}',
        f'{b} fixes {counted(fixed, "object")} and breaks {broken:,}',
        _table(data, pair, number),
        groups,
    )


def _first(
    data: DataSet, pair: ObjectPair, name: str, rows: np.ndarray
) -> list[int]:
    """Return the largest objects, or the false positives scored highest."""
    if name in pair.objects:
        keys = data.ground_truths.area[rows]
    else:
        study = pair.second if name == 'new' else pair.first
        keys = study.evaluation.detections.score[rows]
    return rows[np.argsort(-keys, kind='stable')][:SHOWN].tolist()


def _card(
    data: DataSet,
    pair: ObjectPair,
    name: str,
    row: int,
    with_photos: set[int],
) -> Card:
    truth = data.ground_truths
    study, score = pair.second, pair.scores[1]
    if name in ('broken', 'gone', 'in both'):
        study, score = pair.first, pair.scores[0]
    found = study.evaluation.detections
    if name in pair.objects:
        gt, det = row, int(finders(study, score)[row])
        image, label = int(truth.image[gt]), int(truth.label[gt])
        boxes = [truth.bbox[gt]] + ([found.bbox[det]] if det >= 0 else [])
    else:
        gt, det = -1, row
        image, label = int(found.image[det]), int(found.label[det])
        boxes = [found.bbox[det]]
    view = crop(np.array(boxes), data.image_sizes[image])
    font, marks = view[2] / 17, []
    category = data.class_names[label]
    if gt >= 0:
        role = 'missed' if name == 'missed by both' else 'gt'
        marks.append(tagged(role, truth.bbox[gt], category, view, font))
    text = 'not detected'
    if det >= 0:
        role = 'good' if gt >= 0 else 'det'
        text = f'score {found.score[det]:.2f}, {study.name}'
        tag = f'{category} {found.score[det]:.2f}'
        marks.append(tagged(role, found.bbox[det], tag, view, font))
    heading = f'{category}: {name}'
    return Card(
        name,
        image,
        data.image_names[image],
        (category,),
        heading,
        text,
        f'{heading}, {text}',
        view,
        font,
        tuple(marks),
        image in with_photos,
    )


def _table(data: DataSet, pair: ObjectPair, number: int) -> Table:
    """Return how many of each outcome, by class and by size."""
    truth = data.ground_truths
    detections = [
        each.evaluation.detections for each in (pair.first, pair.second)
    ]
    kinds = [
        (rows, truth.label[rows], truth.area[rows])
        for rows in pair.objects.values()
    ]
    for name, rows in pair.alarms.items():
        found = detections[name == 'new']
        kinds.append((rows, found.label[rows], found.area[rows]))
    lines = [('all', [len(rows) for rows, _, _ in kinds])]
    lines += [
        (name, [int(np.sum(labels == k)) for _, labels, _ in kinds])
        for k, name in enumerate(data.class_names)
    ]
    ranges = list(pair.first.evaluation.area_ranges.items())[1:]
    lines += [
        (
            size,
            [int(np.sum((low <= a) & (a <= high))) for _, _, a in kinds],
        )
        for size, (low, high) in ranges
    ]
    columns = [Column('Class or size', False)]
    columns += [Column(name.capitalize()) for name in OBJECT_OUTCOMES]
    columns += [
        Column(f'FP {name}', hint='false positives') for name in ALARM_OUTCOMES
    ]
    return Table(
        f'object-table-{number}',
        f'From {pair.first.name} to {pair.second.name}',
        columns,
        [
            Row([word(name), *(count(value) for value in values)])
            for name, values in lines
        ],
        f'Scores from {pair.scores[0]:.2f} and {pair.scores[1]:.2f} on.',
    )
