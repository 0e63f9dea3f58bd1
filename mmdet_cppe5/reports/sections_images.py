"""The parts of a report that show images: misses, examples, every image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mmdet_cppe5 import figures
from mmdet_cppe5.core.per_image import ImageCounts, image_counts
from mmdet_cppe5.reports.cells import count, points, word
from mmdet_cppe5.reports.gallery import Group, photo_boxes
from mmdet_cppe5.reports.page import Column, Gallery, Row, Section, Table
from mmdet_cppe5.reports.photos import Photo
from mmdet_cppe5.reports.study import HIT_IOU, DataSet, Study

LISTED = 500
# Of a detector that the page is not about.
OTHER_BOXES = 40


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


def worst_images(counts: ImageCounts) -> np.ndarray:
    """Return the images by number of errors, most first."""
    errors = counts.false_positives + counts.false_negatives
    return np.argsort(-errors, kind='stable')


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
    counts = image_counts(study.evaluation, score, HIT_IOU)
    order = worst_images(counts)[:LISTED]
    right, wrong, missed, f1 = (
        counts.true_positives,
        counts.false_positives,
        counts.false_negatives,
        counts.f1,
    )
    rows = [
        Row(
            [
                word(data.image_names[i]),
                count(right[i] + missed[i]),
                count(right[i]),
                count(wrong[i]),
                count(missed[i]),
                points(f1[i]),
            ],
            i if i in with_photos else None,
        )
        for i in order.tolist()
    ]
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
    others: Sequence[Study],
    chosen: Sequence[int],
    addresses: Sequence[str | None],
    score: float,
) -> list[Photo]:
    """Return what the lightbox shows.

    Args:
        data: the data set.
        study: the detector.
        others: detectors whose boxes can be shown instead.
        chosen: positions of the images.
        addresses: ``data:`` address of each one's photo, or None.
        score: the threshold of the counts.
    """
    counts = image_counts(study.evaluation, score, HIT_IOU)
    photos = []
    for image, href in zip(chosen, addresses):
        width, height = data.image_sizes[image].tolist()
        tp, fp, fn = (
            int(each[image])
            for each in (
                counts.true_positives,
                counts.false_positives,
                counts.false_negatives,
            )
        )
        photos.append(
            Photo(
                image,
                data.image_names[image],
                width,
                height,
                href,
                photo_boxes(data, study, image),
                f'{tp} TP, {fp} FP, {fn} FN at score ≥ {score:.2f}',
                {
                    each.name: photo_boxes(data, each, image, OTHER_BOXES)
                    for each in others
                },
            )
        )
    return photos
