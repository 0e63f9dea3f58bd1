"""The parts of a report that show images: misses, examples, every image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from . import figures
from .cells import count, points, word
from .gallery import Group, photo_boxes
from .page import Column, Gallery, Row, Section, Table
from .photos import Photo
from .study import HIT_IOU, DataSet, Study

LISTED = 500


def miss_section(data: DataSet, study: Study) -> Section:
    """Return where and at which sizes objects are missed."""
    truth = data.ground_truths
    counted = ~truth.ignore
    boxes = truth.bbox[counted]
    sizes = data.image_sizes[truth.image[counted]]
    centre = (boxes[:, :2] + boxes[:, 2:] / 2) / sizes
    missed = study.decisions.false_negative[counted]
    return Section(
        'misses',
        'Misses',
        [
            f'Objects that no detection of their class reaches at IoU '
            f'{HIT_IOU:.2f}, whatever its score.'
        ],
        [
            figures.miss_positions(
                centre[:, 0], centre[:, 1], missed, HIT_IOU
            ),
            figures.miss_sizes(boxes[:, 2], boxes[:, 3], missed, HIT_IOU),
        ],
    )


def example_section(
    data: DataSet, groups: Sequence[Group], with_photos: set[int]
) -> Section:
    """Return the gallery of errors.

    Args:
        data: the data set.
        groups: the examples.
        with_photos: positions of the images whose photo is in the page.
    """
    texts = [
        'The most telling errors of each kind. Open one to see its whole '
        'picture with every box.'
    ]
    if not any(group.cards for group in groups):
        texts = ['There is no error to show.']
    elif not with_photos:
        texts.append(
            'No photos were given (or found), so only the boxes are drawn.'
        )
    shown = [
        replace(
            group,
            cards=tuple(
                replace(card, has_pixels=card.photo in with_photos)
                for card in group.cards
            ),
        )
        for group in groups
    ]
    involved = {
        name
        for group in groups
        for card in group.cards
        for name in card.classes
    }
    classes = [name for name in data.class_names if name in involved]
    gallery = Gallery(shown, classes) if shown else None
    return Section('examples', 'Examples', texts, gallery=gallery)


def image_counts(
    data: DataSet, study: Study, score: float
) -> dict[str, np.ndarray]:
    """Count hits, false alarms and misses of every image.

    Args:
        data: the data set.
        study: the detector.
        score: detections below it do not count.

    Returns:
        ``objects``, ``tp``, ``fp``, ``fn``: int64 ``(N,)`` each.
    """
    truth, found = data.ground_truths, study.evaluation.detections
    size = truth.num_images
    sure = found.score >= score
    decisions = study.decisions

    def per_image(images: np.ndarray) -> np.ndarray:
        return np.bincount(images, minlength=size)

    objects = per_image(truth.image[~truth.ignore])
    hits = per_image(found.image[sure & decisions.true_positive])
    return {
        'objects': objects,
        'tp': hits,
        'fp': per_image(found.image[sure & decisions.false_positive]),
        'fn': objects - hits,
    }


def worst_images(counts: dict[str, np.ndarray]) -> np.ndarray:
    """Return the images by number of errors, most first."""
    return np.argsort(-(counts['fp'] + counts['fn']), kind='stable')


def image_section(
    data: DataSet, study: Study, score: float, with_photos: set[int]
) -> Section:
    """Return the table of images.

    Args:
        data: the data set.
        study: the detector.
        score: detections below it do not count.
        with_photos: positions of the images that the lightbox shows.
    """
    counts = image_counts(data, study, score)
    order = worst_images(counts)[:LISTED]
    rows = []
    for image in order.tolist():
        objects, tp, fp, fn = (int(each[image]) for each in counts.values())
        both = 2 * tp + fp + fn
        rows.append(
            Row(
                [
                    word(data.image_names[image]),
                    *(count(n) for n in (objects, tp, fp, fn)),
                    points(2 * tp / both if both else float('nan')),
                ],
                image if image in with_photos else None,
            )
        )
    columns = [
        Column('Image', False),
        Column('Objects'),
        Column('TP', hint='objects found'),
        Column('FP', hint='false alarms'),
        Column('FN', hint='objects missed'),
        Column('F1', hint='2 TP / (2 TP + FP + FN)'),
    ]
    text = (
        f'At score ≥ {score:.2f} and IoU ≥ {HIT_IOU:.2f}; most errors first. '
        'A dash: neither objects nor detections.'
    )
    if len(order) < len(data.image_names):
        text += (
            f' Listed: the {len(order)} images with the most errors of '
            f'{len(data.image_names):,}.'
        )
    return Section(
        'images',
        'Images',
        tables=[Table('image-table', 'Every image', columns, rows, text)],
        filter='Find images:',
    )


def photo_list(
    data: DataSet,
    study: Study,
    chosen: Sequence[int],
    addresses: Sequence[str | None],
    score: float,
) -> list[Photo]:
    """Return what the lightbox shows.

    Args:
        data: the data set.
        study: the detector.
        chosen: positions of the images.
        addresses: ``data:`` address of each one's photo, or None.
        score: the threshold of the counts.
    """
    counts = image_counts(data, study, score)
    photos = []
    for image, href in zip(chosen, addresses):
        width, height = data.image_sizes[image].tolist()
        tp, fp, fn = (int(counts[key][image]) for key in ('tp', 'fp', 'fn'))
        photos.append(
            Photo(
                image,
                data.image_names[image],
                width,
                height,
                href,
                photo_boxes(data, study, image),
                f'{tp} TP, {fp} FP, {fn} FN at score ≥ {score:.2f}',
            )
        )
    return photos
