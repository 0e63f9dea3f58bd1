"""Retrieval, against a plain second implementation and worked examples."""

import math

import numpy as np
import pytest
from pycocotools import mask

from mmdet_cppe5.deepfashion2.retrieval_accuracy import (
    NO_IMAGE,
    Gallery,
    Queries,
    Retrievals,
    evaluate_retrieval,
)


def iou(one, other):
    """The reference's own IoU: COCO's box IoU of x, y, w, h."""
    value = mask.iou([list(one)], [list(other)], [0])[0, 0]
    return 0.0 if math.isnan(value) else value


def plain(queries, found, gallery):
    """The published selection rules, one query after the other."""
    outcomes = {}
    for image in sorted(set(queries.images.tolist())):
        items = [i for i in range(len(queries.images))
                 if queries.images[i] == image]  # fmt: skip
        owner = {
            d: max(items, key=lambda i: iou(found.boxes[d], queries.boxes[i]))
            for d in range(len(found.images))
            if found.images[d] == image
        }
        for item in items:
            if queries.styles[item] > 0:
                outcomes[item] = plain_query(
                    item, owner, queries, found, gallery
                )
    return [outcomes[item] for item in sorted(outcomes)]


def plain_query(item, owner, queries, found, gallery):
    mine = [d for d in owner if owner[d] == item]
    if found.labels is not None:
        mine = [d for d in mine if found.labels[d] == queries.labels[item]]
    if not mine:
        return -1, -1
    best = max(mine, key=lambda d: found.scores[d])
    for rank, (image, box) in enumerate(
        zip(found.gallery_images[best], found.gallery_boxes[best])
    ):
        for g in range(len(gallery.images)):
            if (
                gallery.images[g] == image
                and gallery.pairs[g] == queries.pairs[item]
                and gallery.styles[g] == queries.styles[item]
                and iou(box, gallery.boxes[g]) >= 0.5
            ):
                return best, rank
    return best, -1


def boxes(rng, *shape):
    corner = rng.integers(0, 2, (*shape, 2))
    return np.concatenate(
        [corner, rng.integers(0, 4, (*shape, 2))], axis=-1
    ).astype(float)


def random_case(seed):
    """Few distinct values, so that ties and coincidences are the rule."""
    rng = np.random.default_rng(seed)
    q, d, g, r = rng.integers(1, [12, 25, 25, 6])
    images = rng.integers(0, 4, q)
    queries = Queries(
        images=images,
        boxes=boxes(rng, q),
        labels=rng.integers(1, 3, q),
        pairs=images % 2,
        styles=rng.integers(0, 3, q),
    )
    found = Retrievals(
        images=rng.integers(0, 5, d),
        boxes=boxes(rng, d),
        labels=rng.integers(1, 3, d) if seed % 3 else None,
        scores=rng.integers(0, 3, d) / 2,
        gallery_images=rng.integers(NO_IMAGE, 2, (d, r)),
        gallery_boxes=boxes(rng, d, r),
    )
    gallery = Gallery(
        images=rng.integers(0, 2, g),
        boxes=boxes(rng, g),
        pairs=rng.integers(0, 2, g),
        styles=rng.integers(0, 3, g),
    )
    return queries, found, gallery


@pytest.mark.parametrize('seed', range(60))
def test_equals_the_plain_implementation(seed):
    case = random_case(seed)
    result = evaluate_retrieval(*case)
    assert list(zip(result.detections, result.ranks)) == plain(*case)


def test_the_random_cases_reach_every_outcome():
    ranks = []
    detections = []
    for seed in range(60):
        result = evaluate_retrieval(*random_case(seed))
        ranks += result.ranks.tolist()
        detections += result.detections.tolist()
    assert {-1, 0, 1, 2} <= set(ranks)
    assert min(detections) == -1 < max(detections)


def one_query(gallery_images=((5,),), gallery_boxes=(((0, 0, 10, 10),),)):
    """One query item, one detection on it, one right gallery item."""
    box = np.array([[0.0, 0, 10, 10]])
    one = np.array([1])
    return (
        Queries(one, box, one, one, one),
        Retrievals(
            one, box, one, np.array([0.5]),
            np.array(gallery_images), np.array(gallery_boxes, dtype=float),
        ),
        Gallery(np.array([5]), box, one, one),
    )  # fmt: skip


def test_iou_of_exactly_one_half_is_a_hit():
    half = evaluate_retrieval(*one_query(gallery_boxes=[[[0, 0, 5, 10]]]))
    less = evaluate_retrieval(*one_query(gallery_boxes=[[[0, 0, 4.9, 10]]]))
    assert (half.hits(1), less.hits(1)) == (1, 0)


def test_twice_the_same_wrong_entry_takes_two_ranks():
    case = one_query([[7, 7, 5]], [[[0, 0, 10, 10]] * 3])
    result = evaluate_retrieval(*case)
    assert result.ranks.tolist() == [2]
    assert (result.hits(2), result.hits(3)) == (0, 1)


def test_a_list_that_ends_early_misses_the_other_ranks():
    case = one_query([[7, NO_IMAGE]], [[[0, 0, 10, 10]] * 2])
    assert evaluate_retrieval(*case).hits(20) == 0
    empty = one_query(np.zeros((1, 0), int), np.zeros((1, 0, 4)))
    assert evaluate_retrieval(*empty).hits(20) == 0


def test_style_zero_items_claim_detections_but_are_no_queries():
    queries, found, gallery = one_query()
    twins = Queries(
        images=np.array([1, 1]),
        boxes=np.repeat(queries.boxes, 2, axis=0),
        labels=np.array([1, 1]),
        pairs=np.array([1, 1]),
        styles=np.array([0, 1]),
    )
    result = evaluate_retrieval(twins, found, gallery)
    assert (len(result.queries), result.missed) == (1, 1)
    assert not result.undetected.any()


def test_queries_without_counterpart_and_without_detection_are_counted():
    queries, found, gallery = one_query()
    elsewhere = Gallery(
        gallery.images, gallery.boxes, gallery.pairs, gallery.styles + 1
    )
    result = evaluate_retrieval(queries, found, elsewhere)
    assert (result.without_counterpart, result.accuracy(1)) == (1, 0)
    other = Queries(
        queries.images + 1, queries.boxes, queries.labels, queries.pairs,
        queries.styles,
    )  # fmt: skip
    result = evaluate_retrieval(other, found, gallery)
    assert result.undetected.tolist() == [True]
    assert (result.missed, result.without_counterpart) == (1, 0)


def test_no_query_has_no_accuracy():
    queries, found, gallery = one_query()
    none = Queries(
        queries.images, queries.boxes, queries.labels, queries.pairs,
        queries.styles * 0,
    )  # fmt: skip
    assert math.isnan(evaluate_retrieval(none, found, gallery).accuracy(1))
