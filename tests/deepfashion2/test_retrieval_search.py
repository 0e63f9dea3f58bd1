"""The search for similar items, against plain loops over all of them."""

import numpy as np
import pytest

from mmdet_cppe5.deepfashion2 import retrieval_search
from mmdet_cppe5.deepfashion2.retrieval_search import most_similar


def plain(queries, gallery, count):
    """Sort every query's cosines; Python's sort keeps the order of ties."""
    rows = []
    for query in queries.tolist():
        cosines = []
        for item in gallery.tolist():
            product = sum(a * b for a, b in zip(query, item))
            square = sum(a * a for a in query) * sum(b * b for b in item)
            cosines.append(product / square**0.5 if square else 0.0)
        ranked = sorted(range(len(gallery)), key=lambda k: -cosines[k])
        rows.append(ranked[:count])
    return rows


@pytest.mark.parametrize('block', [1, 50, 1 << 24])
def test_equals_plain_loops_in_blocks_of_any_size(monkeypatch, block):
    monkeypatch.setattr(retrieval_search, '_BLOCK', block)
    rng = np.random.default_rng(0)
    queries = rng.normal(size=(23, 6))
    gallery = rng.normal(size=(31, 6))
    got = most_similar(queries, gallery, 20)
    assert got.tolist() == plain(queries, gallery, 20)


def test_ties_go_to_the_earlier_item():
    # Multiples of the four axes: every cosine is 0, 1 or -1 exactly.
    rng = np.random.default_rng(1)
    axes = np.eye(4)[rng.integers(4, size=60)]
    gallery = axes * rng.choice([-2.0, 1.0, 4.0], size=(60, 1))
    queries = np.eye(4) * 8
    got = most_similar(queries, gallery, 20)
    assert got.tolist() == plain(queries, gallery, 20)


def test_length_of_features_does_not_matter():
    gallery = np.array([[100.0, 1], [0, 0.01], [1, 1]])
    got = most_similar(np.array([[0.0, 7]]), gallery, 3)
    assert got.tolist() == [[1, 2, 0]]


def test_features_of_zero_are_unlike_everything():
    gallery = np.array([[-1.0, 0], [0, 0], [1, 0]])
    got = most_similar(np.array([[1.0, 0], [0, 0]]), gallery, 3)
    assert got.tolist() == [[2, 1, 0], [0, 1, 2]]


def test_small_and_empty_galleries_give_shorter_lists():
    queries = np.ones((2, 3))
    assert most_similar(queries, np.ones((4, 3)), 20).shape == (2, 4)
    assert most_similar(queries, np.ones((0, 3)), 20).shape == (2, 0)
    assert most_similar(queries[:0], np.ones((4, 3)), 20).shape == (0, 4)


def test_features_that_cannot_be_compared_are_explained():
    features = np.ones((2, 3))
    with pytest.raises(ValueError, match='one length .* got 3 and 2'):
        most_similar(features, features[:, :2], 1)
    broken = np.array([[1, 1, 1], [1, np.nan, 1]])
    with pytest.raises(ValueError, match='gallery item 1 .* 1 of the 2'):
        most_similar(features, broken, 1)
