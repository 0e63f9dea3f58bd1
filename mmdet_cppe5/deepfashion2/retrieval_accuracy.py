"""Top-k accuracy of retrieving items from a gallery of images.

The measure of DeepFashion2's consumer-to-shop task: a query item counts as
retrieved within k when one of the first k entries that a detection lists for
it lies on a gallery item of the same pair and style.

Images are positions 0..n-1 or any other whole numbers that queries,
detections and gallery share; boxes are x, y, width, height in absolute
pixels, without ``+ 1``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: Image of a list entry that stands for no entry.
NO_IMAGE = -1
#: Minimum IoU of a retrieved box with the gallery item, inclusive.
IOU_THRESHOLD = 0.5


@dataclass(frozen=True)
class Queries:
    """The items of the query images, in their file's order.

    Attributes:
        images: image of each item, integer ``(Q,)``.
        boxes: float ``(Q, 4)``, x, y, width, height in pixels.
        labels: class of each item, integer ``(Q,)``.
        pairs: pair of each item, integer ``(Q,)``, >= 0.
        styles: style of each item, integer ``(Q,)``, >= 0. Items of style 0
            have no counterpart: they claim detections but are no queries.
    """

    images: np.ndarray
    boxes: np.ndarray
    labels: np.ndarray
    pairs: np.ndarray
    styles: np.ndarray


@dataclass(frozen=True)
class Retrievals:
    """Detected items of the query images with the entries they retrieved.

    Attributes:
        images: query image of each detection, integer ``(D,)``.
        boxes: float ``(D, 4)``.
        labels: predicted class, integer ``(D,)``; None if there is none, in
            which case classes are not compared.
        scores: confidence of each detection, float ``(D,)``.
        gallery_images: image of each retrieved entry, best first, integer
            ``(D, R)``; ``NO_IMAGE`` where a list has ended.
        gallery_boxes: box of each retrieved entry, float ``(D, R, 4)``.
    """

    images: np.ndarray
    boxes: np.ndarray
    labels: np.ndarray | None
    scores: np.ndarray
    gallery_images: np.ndarray
    gallery_boxes: np.ndarray


@dataclass(frozen=True)
class Gallery:
    """The items of the gallery's images.

    Attributes:
        images: image of each item, integer ``(G,)``, >= 0.
        boxes: float ``(G, 4)``.
        pairs: pair of each item, integer ``(G,)``, >= 0.
        styles: style of each item, integer ``(G,)``, >= 0.
    """

    images: np.ndarray
    boxes: np.ndarray
    pairs: np.ndarray
    styles: np.ndarray


@dataclass(frozen=True)
class RetrievalResult:
    """What became of each query; ``Q'`` queries are items of style > 0.

    Attributes:
        queries: which items are queries, integer ``(Q',)``.
        detections: the detection that stands for each query, integer
            ``(Q',)``; -1 where the query was missed.
        ranks: 0-based rank of the first right entry, integer ``(Q',)``; -1
            where there is none.
        counterparts: number of gallery items that would be right, integer
            ``(Q',)``.
        undetected: whether the query's image has no detection at all, bool
            ``(Q',)``; a part of the missed ones.
    """

    queries: np.ndarray
    detections: np.ndarray
    ranks: np.ndarray
    counterparts: np.ndarray
    undetected: np.ndarray

    def hits(self, k: int) -> int:
        """Count the queries with a right entry among the first ``k``."""
        return int(((self.ranks >= 0) & (self.ranks < k)).sum())

    def accuracy(self, k: int) -> float:
        """Return the top-k accuracy over all queries; NaN without any."""
        if not self.queries.size:
            return float('nan')
        return self.hits(k) / self.queries.size

    @property
    def missed(self) -> int:
        """Number of queries that no detection stands for."""
        return int((self.detections < 0).sum())

    @property
    def without_counterpart(self) -> int:
        """Number of queries that nothing in the gallery answers."""
        return int((self.counterparts == 0).sum())


def evaluate_retrieval(
    queries: Queries, retrievals: Retrievals, gallery: Gallery
) -> RetrievalResult:
    """Find for every query the rank of its first right entry.

    1. A detection belongs to the item of its image with the largest IoU,
       however small; of equals, to the first.
    2. A query is represented by the detection that belongs to it and has its
       class with the highest score; of equals, by the first. Without one it
       is missed.
    3. An entry is right if its image holds gallery items of the query's
       pair and style and its box has IoU >= 0.5 with one of them. Class is
       not compared, and an entry that is listed twice takes two ranks.

    A box of zero area has IoU 0 with everything.

    Args:
        queries: the items of the query images.
        retrievals: detections and what they retrieved.
        gallery: the items of the gallery.

    Returns:
        One outcome for each query.
    """
    owners = _owners(queries, retrievals)
    chosen = _representatives(queries, retrievals, owners)
    wanted, existing = _groups(queries, gallery)
    indices = np.flatnonzero(queries.styles > 0)
    return RetrievalResult(
        queries=indices,
        detections=chosen[indices],
        ranks=_ranks(
            chosen[indices], wanted[indices], existing, retrievals, gallery
        ),
        counterparts=np.bincount(
            existing, minlength=int(wanted.max(initial=0)) + 1
        )[wanted[indices]],
        undetected=~np.isin(queries.images[indices], retrievals.images),
    )


def _owners(queries: Queries, retrievals: Retrievals) -> np.ndarray:
    """Return the query item that each detection belongs to, or -1."""
    detection, item = _join(retrievals.images, queries.images)
    overlap = _paired_iou(retrievals.boxes[detection], queries.boxes[item])
    order = np.lexsort((item, -overlap, detection))
    first = _first_of_runs(detection[order])
    owners = np.full(len(retrievals.images), -1, dtype=np.intp)
    owners[detection[order][first]] = item[order][first]
    return owners


def _representatives(
    queries: Queries, retrievals: Retrievals, owners: np.ndarray
) -> np.ndarray:
    """Return the detection that stands for each query item, or -1."""
    eligible = owners >= 0
    if retrievals.labels is not None:
        eligible &= retrievals.labels == queries.labels[owners]
    detection = np.flatnonzero(eligible)
    item = owners[detection]
    order = np.lexsort((detection, -retrievals.scores[detection], item))
    first = _first_of_runs(item[order])
    chosen = np.full(len(queries.images), -1, dtype=np.intp)
    chosen[item[order][first]] = detection[order][first]
    return chosen


def _groups(
    queries: Queries, gallery: Gallery
) -> tuple[np.ndarray, np.ndarray]:
    """Number the (pair, style) combinations of queries and gallery."""
    pairs = np.concatenate([queries.pairs, gallery.pairs]).astype(np.int64)
    styles = np.concatenate([queries.styles, gallery.styles])
    keys = pairs * (int(styles.max(initial=0)) + 1) + styles
    _, numbers = np.unique(keys, return_inverse=True)
    return numbers[: len(queries.pairs)], numbers[len(queries.pairs) :]


def _ranks(
    detections: np.ndarray,
    wanted: np.ndarray,
    existing: np.ndarray,
    retrievals: Retrievals,
    gallery: Gallery,
) -> np.ndarray:
    """Return the rank of each query's first right entry, or -1."""
    detected = np.flatnonzero(detections >= 0)
    images = retrievals.gallery_images[detections[detected]]  # (q, R)
    boxes = retrievals.gallery_boxes[detections[detected]]  # (q, R, 4)
    depth = max(images.shape[1], 1)
    width = int(max(images.max(initial=0), gallery.images.max(initial=0))) + 1
    entry_keys = wanted[detected, None].astype(np.int64) * width + images
    entry_keys[images == NO_IMAGE] = -1
    entry, item = _join(
        entry_keys.ravel(), existing.astype(np.int64) * width + gallery.images
    )
    overlap = _paired_iou(boxes.reshape(-1, 4)[entry], gallery.boxes[item])
    right = entry[overlap >= IOU_THRESHOLD]
    ranks = np.full(len(detections), depth, dtype=np.intp)
    np.minimum.at(ranks, detected[right // depth], right % depth)
    return np.where(ranks < depth, ranks, -1)


def _join(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the index pairs of equal keys, by ascending left index."""
    order = np.argsort(right, kind='stable')
    ordered = right[order]
    start = np.searchsorted(ordered, left, side='left')
    count = np.searchsorted(ordered, left, side='right') - start
    repeated = np.repeat(np.arange(len(left)), count)
    # Position of each pair within its left key's run.
    ends = np.cumsum(count)
    offset = np.arange(len(repeated)) - np.repeat(ends - count, count)
    return repeated, order[np.repeat(start, count) + offset]


def _first_of_runs(values: np.ndarray) -> np.ndarray:
    """Mark the first of each run of equal values, bool ``(n,)``."""
    first = np.ones(len(values), dtype=bool)
    first[1:] = values[1:] != values[:-1]
    return first


def _paired_iou(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the IoU of box i of one with box i of the other, ``(n,)``."""
    low = np.maximum(one[:, :2], other[:, :2])
    high = np.minimum(one[:, :2] + one[:, 2:], other[:, :2] + other[:, 2:])
    shared = np.clip(high - low, 0, None).prod(axis=1)
    union = one[:, 2:].prod(axis=1) + other[:, 2:].prod(axis=1) - shared
    overlap: np.ndarray = np.divide(
        shared, union, out=np.zeros_like(union), where=union > 0
    )
    return overlap
