"""The most telling examples of each kind of error, cut out of the photos."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Optional

import numpy as np

from mmdet_cppe5.core import MAIN_ERRORS
from mmdet_cppe5.reports.errors import (
    Pair,
    error_pairs,
    image_of,
    nearest_object,
    suspicious,
)
from mmdet_cppe5.reports.framing import Mark, crop, tagged
from mmdet_cppe5.reports.study import DataSet, Study
from mmdet_cppe5.reports.worklist import WorkItem, work_item

PER_GROUP = 12
# No more of one kind from one image, or a single bad image fills a gallery.
PER_IMAGE = 3

EXPLANATIONS = {
    'Cls': (
        'Wrong class',
        'The box fits an object, but of another class. Highest scores first.',
    ),
    'Loc': (
        'Poorly localised',
        'Right class, but the box overlaps its object by less than IoU 0.50. '
        'Highest scores first.',
    ),
    'Both': (
        'Wrong class and poorly localised',
        'The box touches an object of another class, and not closely. '
        'Highest scores first.',
    ),
    'Dupe': (
        'Duplicate',
        'A second detection of an object that a higher score already found.',
    ),
    'Bkg': (
        'Background',
        'No object overlaps the box by more than IoU 0.10. Look twice: it '
        'may be an object that nobody annotated. Highest scores first.',
    ),
    'Miss': (
        'Missed',
        'Objects without a detection at any score. Largest first, since '
        'large ones should be the easiest to find.',
    ),
    'Label': (
        'Likely label error',
        'Detections with such high scores that the annotation deserves a '
        'second look: judged wrong, but scored higher than nine in ten true '
        'positives.',
    ),
}


@dataclass(frozen=True)
class Card:
    """One example.

    Attributes:
        error: the kind of error, a key of :data:`EXPLANATIONS`.
        photo: position of the image.
        image: name of the image.
        classes: the classes involved.
        heading: what happened.
        text: score and overlap.
        alt: both, for those who cannot see the picture.
        view: x, y, width, height of the part shown, in pixels.
        font: size of the tags in pixels of the photo.
        boxes: what is drawn.
        has_pixels: whether the photo is at hand.
        work: the error as an item of the worklist.
    """

    error: str
    photo: int
    image: str
    classes: tuple[str, ...]
    heading: str
    text: str
    alt: str
    view: tuple[float, float, float, float]
    font: float
    boxes: tuple[Mark, ...]
    has_pixels: bool = False
    work: Optional[WorkItem] = None


@dataclass(frozen=True)
class Group:
    """The examples of one kind of error, and how many there are in all."""

    id: str
    name: str
    text: str
    total: int
    cards: tuple[Card, ...] = field(default=())


def galleries(
    data: DataSet, study: Study, limit: int = PER_GROUP
) -> list[Group]:
    """Pick examples of every kind of error that occurs.

    Args:
        data: the data set.
        study: the detector judged on it.
        limit: examples per kind.
    """
    groups, shown = [], set()
    suspects = frozenset(suspicious(study).tolist())
    for kind in ('Label', *MAIN_ERRORS):
        pairs = error_pairs(data, study, kind)
        if not pairs:
            continue
        # A likely label error is not shown twice while there are others.
        fresh = [pair for pair in pairs if pair[0] not in shown]
        chosen = _spread(data, study, fresh or pairs, limit)
        if kind == 'Label':
            shown = {det for det, _ in chosen}
        name, text = EXPLANATIONS[kind]
        if len(chosen) < len(pairs):
            text += f' Shown: {len(chosen)} of {len(pairs):,}.'
        cards = tuple(
            _card(data, study, kind, *pair, suspects) for pair in chosen
        )
        groups.append(Group(kind, name, text, len(pairs), cards))
    return groups


def _spread(
    data: DataSet,
    study: Study,
    pairs: Sequence[Pair],
    limit: int,
) -> list[Pair]:
    """Take the first pairs, but few of each image while others remain."""
    taken: dict[int, int] = {}
    chosen, spare = [], []
    for pair in pairs:
        image = image_of(data, study, pair)
        taken[image] = taken.get(image, 0) + 1
        (chosen if taken[image] <= PER_IMAGE else spare).append(pair)
        if len(chosen) == limit:
            return chosen
    return chosen + spare[: limit - len(chosen)]


def _card(
    data: DataSet,
    study: Study,
    kind: str,
    det: Optional[int],
    gt: Optional[int],
    suspects: frozenset[int],
) -> Card:
    truth, found = data.ground_truths, study.evaluation.detections
    names = data.class_names
    image = image_of(data, study, (det, gt))
    nearest, overlap = nearest_object(data, study, (det, gt))
    shown_gt = nearest if overlap > 0 or det is None else None
    boxes = [
        box
        for box in (
            None if shown_gt is None else truth.bbox[shown_gt],
            None if det is None else found.bbox[det],
        )
        if box is not None
    ]
    view = crop(np.array(boxes), data.image_sizes[image])
    font = view[2] / 17
    marks = []
    if shown_gt is not None:
        role = 'missed' if det is None else 'gt'
        tag = names[truth.label[shown_gt]]
        marks.append(tagged(role, truth.bbox[shown_gt], tag, view, font))
    if det is not None:
        tag = f'{names[found.label[det]]} {found.score[det]:.2f}'
        marks.append(tagged('det', found.bbox[det], tag, view, font))
    involved = dict.fromkeys(
        ([] if det is None else [names[found.label[det]]])
        + ([] if shown_gt is None else [names[truth.label[shown_gt]]])
    )
    heading = _heading(data, study, kind, det, shown_gt)
    named = 'Miss' if det is None else MAIN_ERRORS[study.tide.error[det]]
    text = _words(data, study, det, shown_gt, overlap)
    return Card(
        kind,
        image,
        data.image_names[image],
        tuple(involved),
        heading,
        text,
        f'{heading}, {text}',
        view,
        font,
        tuple(marks),
        work=work_item(data, study, named, (det, gt), suspects),
    )


def _heading(
    data: DataSet,
    study: Study,
    kind: str,
    det: Optional[int],
    gt: Optional[int],
) -> str:
    names, found = data.class_names, study.evaluation.detections
    if det is None:
        return f'{names[data.ground_truths.label[gt]]} missed'
    said = names[found.label[det]]
    if gt is None:
        return f'{said} on background'
    if study.tide.error[det] == MAIN_ERRORS.index('Bkg'):
        return f'{said} on background'
    true = names[data.ground_truths.label[gt]]
    if said != true:
        return f'{true} detected as {said}'
    if kind == 'Dupe':
        return f'{said} found twice'
    return f'{said} poorly localised'


def _words(
    data: DataSet,
    study: Study,
    det: Optional[int],
    gt: Optional[int],
    overlap: float,
) -> str:
    if det is None:
        width, height = data.ground_truths.bbox[gt, 2:]
        return f'{width:.0f} × {height:.0f} pixels'
    score = f'score {study.evaluation.detections.score[det]:.2f}'
    if gt is None:
        return score
    if study.tide.error[det] == MAIN_ERRORS.index('Bkg'):
        near = data.class_names[data.ground_truths.label[gt]]
        return f'{score} · IoU {overlap:.2f} with {near}'
    return f'{score} · IoU {overlap:.2f}'


def photo_boxes(
    data: DataSet, study: Study, image: int, limit: int = 80
) -> list[tuple]:
    """Return all that is drawn on one whole photo; see :class:`Photo`.

    Args:
        data: the data set.
        study: the detector.
        image: position of the image.
        limit: how many detections, those with the highest scores.
    """
    truth, found = data.ground_truths, study.evaluation.detections
    names = data.class_names
    boxes = []
    for row in np.flatnonzero(truth.image == image):
        missed = study.decisions.false_negative[row]
        tag = names[truth.label[row]]
        if truth.ignore[row]:
            tag += ' (not counted)'
        boxes.append(
            ('missed' if missed else 'gt', *_rounded(truth.bbox[row]), tag, 1)
        )
    rows = np.flatnonzero((found.image == image) & ~study.decisions.capped)
    rows = rows[np.argsort(-found.score[rows], kind='stable')][:limit]
    for row in rows[::-1]:
        error = study.tide.error[row]
        tag = f'{names[found.label[row]]} {found.score[row]:.2f}'
        if error >= 0:
            tag += f' {MAIN_ERRORS[error]}'
        role = 'det' if study.decisions.false_positive[row] else 'good'
        score = round(float(found.score[row]), 4)
        boxes.append((role, *_rounded(found.bbox[row]), tag, score))
    return boxes


def _rounded(box: np.ndarray) -> list[float]:
    return [round(float(value), 1) for value in box]
