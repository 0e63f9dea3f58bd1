"""The most telling examples of each kind of error, cut out of the photos."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Optional

import numpy as np

from mmdet_cppe5.core import MAIN_ERRORS
from mmdet_cppe5.reports.framing import Mark, box_iou, crop, tagged
from mmdet_cppe5.reports.study import DataSet, Study

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
    groups = []
    for kind in ('Label', *MAIN_ERRORS):
        pairs = _pairs(data, study, kind)
        if not pairs:
            continue
        chosen = _spread(data, study, pairs, limit)
        name, text = EXPLANATIONS[kind]
        if len(chosen) < len(pairs):
            text += f' Shown: {len(chosen)} of {len(pairs):,}.'
        cards = tuple(_card(data, study, kind, *pair) for pair in chosen)
        groups.append(Group(kind, name, text, len(pairs), cards))
    return groups


def _pairs(
    data: DataSet, study: Study, kind: str
) -> list[tuple[Optional[int], Optional[int]]]:
    """Return rows of detection and object of all errors, worst first."""
    tide, found = study.tide, study.evaluation.detections
    if kind == 'Miss':
        rows = np.flatnonzero(tide.missed)
        rows = rows[np.argsort(-data.ground_truths.area[rows], kind='stable')]
        return [(None, int(row)) for row in rows]
    if kind == 'Label':
        rows = _suspicious(study)
    else:
        rows = np.flatnonzero(tide.error == MAIN_ERRORS.index(kind))
    rows = rows[np.argsort(-found.score[rows], kind='stable')]
    return [
        (
            int(row),
            int(tide.error_gt[row]) if tide.error_gt[row] >= 0 else None,
        )
        for row in rows
    ]


def _suspicious(study: Study) -> np.ndarray:
    """Return wrong detections that are surer than nine in ten hits."""
    tide, found = study.tide, study.evaluation.detections
    hits = found.score[study.decisions.true_positive]
    if not len(hits):
        return np.zeros(0, int)
    kinds = [MAIN_ERRORS.index(kind) for kind in ('Cls', 'Bkg')]
    return np.flatnonzero(
        np.isin(tide.error, kinds) & (found.score >= np.quantile(hits, 0.9))
    )


def _spread(
    data: DataSet,
    study: Study,
    pairs: Sequence[tuple[Optional[int], Optional[int]]],
    limit: int,
) -> list[tuple[Optional[int], Optional[int]]]:
    """Take the first pairs, but few of each image while others remain."""
    taken: dict[int, int] = {}
    chosen, spare = [], []
    for det, gt in pairs:
        image = _image(data, study, det, gt)
        taken[image] = taken.get(image, 0) + 1
        (chosen if taken[image] <= PER_IMAGE else spare).append((det, gt))
        if len(chosen) == limit:
            return chosen
    return chosen + spare[: limit - len(chosen)]


def _image(
    data: DataSet, study: Study, det: Optional[int], gt: Optional[int]
) -> int:
    """Return the image of an error."""
    if det is None:
        return int(data.ground_truths.image[gt])
    return int(study.evaluation.detections.image[det])


def _card(
    data: DataSet,
    study: Study,
    kind: str,
    det: Optional[int],
    gt: Optional[int],
) -> Card:
    truth, found = data.ground_truths, study.evaluation.detections
    names = data.class_names
    image = _image(data, study, det, gt)
    nearest, overlap = _nearest(data, study, det, gt, image)
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
    )


def _nearest(
    data: DataSet,
    study: Study,
    det: Optional[int],
    gt: Optional[int],
    image: int,
) -> tuple[Optional[int], float]:
    """Return the object an error is about, and its overlap.

    Where the error names none, it is the one the detection overlaps most.
    """
    truth = data.ground_truths
    if det is None:
        return gt, float('nan')
    box = study.evaluation.detections.bbox[det]
    rows = np.flatnonzero(truth.image == image) if gt is None else [gt]
    if not len(rows):
        return None, 0.0
    overlaps = box_iou(box, truth.bbox[rows])
    best = int(np.argmax(overlaps))
    return int(rows[best]), float(overlaps[best])


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
