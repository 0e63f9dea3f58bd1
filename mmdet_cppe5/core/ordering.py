"""The order in which detections are looked at.

COCO looks at the detections of one image and class by descending score, and
at those of one class over all images by descending score; among equal scores
the earlier image comes first, and inside an image the earlier row.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmdet_cppe5.core.arrays import Detections, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Ranking:
    """Detections within the cap, in both orders.

    Attributes:
        rows: (D,) row of each detection in *class order*: by class, then
            descending score, then image, then row. "Place" means an index
            into this array.
        class_start: (K + 1,) first place of each class, and D.
        by_group: (D,) places in *group order*: by image, class, then rank.
        group_key: (Y,) ``image * K + class`` of each group, ascending.
        group_size: (Y,) its number of detections.
        place: (N,) place of each row, -1 for detections beyond the cap.
        score_rank: (D,) rank of each place among the detections of all
            classes, by score, then image, then row.
        cap: Most detections looked at per image and class.
    """

    rows: IntArray
    class_start: IntArray
    by_group: IntArray
    group_key: IntArray
    group_size: IntArray
    place: IntArray
    score_rank: IntArray
    cap: int

    @cached_property
    def rank(self) -> IntArray:
        """(D,) rank of each place in its image and class, from 0."""
        start = np.cumsum(self.group_size) - self.group_size
        rank = np.empty(len(self.rows), np.int64)
        rank[self.by_group] = np.arange(len(self.rows)) - np.repeat(
            start, self.group_size
        )
        return rank

    def class_key(self, label: IntArray, rank: IntArray) -> IntArray:
        """Number that sorts by class, then by a rank in ``0..N``."""
        return label * (len(self.place) + 1) + rank

    @cached_property
    def label(self) -> IntArray:
        """(D,) class of each place."""
        classes = np.arange(len(self.class_start) - 1)
        return np.repeat(classes, np.diff(self.class_start))

    @cached_property
    def class_keys(self) -> IntArray:
        """(D,) :meth:`class_key` of each place by score; ascending."""
        return self.class_key(self.label, self.score_rank)

    def tie_rank(self, score: FloatArray, image: IntArray) -> IntArray:
        """(D,) rank of each place's score and image among all such pairs.

        Args:
            score: (D,) scores by place.
            image: (D,) images by place.
        """
        order = np.argsort(self.score_rank)
        score, image = score[order], image[order]
        new = np.zeros(len(order), np.bool_)
        new[1:] = (score[1:] != score[:-1]) | (image[1:] != image[:-1])
        rank = np.empty(len(order), np.int64)
        rank[order] = np.cumsum(new)
        return rank


def rank_detections(detections: Detections, cap: int) -> Ranking:
    """Order the detections and leave out those beyond the cap.

    Args:
        detections: N detections.
        cap: Most detections looked at per image and class.
    """
    by_score = _by_score(detections)
    labels = detections.label[by_score]
    score_rank = argsort_stable(labels, detections.num_classes)
    rows = by_score[score_rank]
    per_class = np.bincount(labels, minlength=detections.num_classes)
    labels = np.repeat(np.arange(detections.num_classes), per_class)
    images = detections.image[rows]
    by_group = argsort_stable(images, detections.num_images)
    keys = images[by_group] * detections.num_classes + labels[by_group]
    start = run_starts(keys)
    size = np.diff(np.append(start, len(keys)))
    if size.max(initial=0) > cap:
        in_group = np.arange(len(keys)) - np.repeat(start, size)
        by_group = by_group[in_group < cap]
        keep = np.zeros(len(keys), np.bool_)
        keep[by_group] = True
        by_group = (np.cumsum(keep) - 1)[by_group]
        rows, labels, score_rank = rows[keep], labels[keep], score_rank[keep]
        size = np.minimum(size, cap)
    place = np.full(len(detections), -1)
    place[rows] = np.arange(len(rows))
    classes = np.arange(detections.num_classes + 1)
    return Ranking(
        rows=rows,
        class_start=np.searchsorted(labels, classes),
        by_group=by_group,
        group_key=keys[start],
        group_size=size,
        place=place,
        score_rank=score_rank,
        cap=cap,
    )


def run_starts(keys: IntArray) -> IntArray:
    """Index of the first of every run of equal neighbours."""
    first = np.ones(len(keys), np.bool_)
    first[1:] = keys[1:] != keys[:-1]
    return np.flatnonzero(first)


def argsort_descending(values: FloatArray) -> IntArray:
    """Argsort from large to small; equal values keep their order.

    As ``np.argsort(-values, kind='stable')``, but several times faster on
    processors where numpy's unstable sort is vectorised: sort unstably, then
    put every run of equal values right.
    """
    order: IntArray = np.argsort(-values)
    ordered = values[order]
    equal = np.flatnonzero(ordered[1:] == ordered[:-1])
    if len(equal):
        in_run = np.zeros(len(order), np.bool_)
        in_run[equal] = True
        in_run[equal + 1] = True
        where = np.flatnonzero(in_run)
        first = np.ones(len(where), np.bool_)
        first[1:] = ordered[where[1:]] != ordered[where[:-1]]
        run = np.cumsum(first) * len(order)
        order[where] = np.sort(run + order[where]) - run
    return order


def argsort_stable(values: NDArray[Any], bound: int) -> IntArray:
    """Stable argsort of integers in ``0..bound-1``, 16 bits at a time.

    numpy sorts 16-bit integers by radix, much faster than wider ones.
    """
    order: IntArray = np.argsort(values.astype(np.uint16), kind='stable')
    shift = 16
    while bound > 1 << shift:
        digit = (values[order] >> shift).astype(np.uint16)
        order = order[np.argsort(digit, kind='stable')]
        shift += 16
    return order


def _by_score(detections: Detections) -> IntArray:
    """Rows by descending score, then image, then row."""
    image, score = detections.image, detections.score
    if (image[1:] >= image[:-1]).all():
        return argsort_descending(score)
    by_image = argsort_stable(image, detections.num_images)
    return by_image[argsort_descending(score[by_image])]
