"""Recall levels and the parts that pycocotools cannot be asked about."""

import numpy as np
import pytest

from mmdet_cppe5.core.ordering import argsort_descending, argsort_stable
from mmdet_cppe5.core.precision_recall import (
    RECALL_LEVELS,
    average_precision,
    hits_needed,
    precision_at_recall,
)


def test_hits_needed_are_where_a_search_in_the_recalls_ends():
    totals = np.array([1, 2, 7, 20, 45, 61, 100, 101, 207, 999, 4747, 24043])
    needed = hits_needed(totals)
    for total, row in zip(totals, needed):
        recalls = np.arange(total + 1) / total
        found = np.searchsorted(recalls, RECALL_LEVELS, side='left')
        np.testing.assert_array_equal(row, found)


def test_precision_of_two_curves_and_an_empty_one():
    # Curve 0: hit, false alarm, hit of 4; curve 1: nothing of 2; curve 2: no
    # ground truth; curve 3: false alarm, hit of 1.
    precision = precision_at_recall(
        np.array([2, 0, 0, 1]), np.array([1, 3, 2]), np.array([4, 2, 0, 1])
    )
    assert precision[0] == pytest.approx(
        [1] * 26 + [2 / 3] * 25 + [0] * 50, abs=1e-12
    )
    assert (precision[1] == 0).all()
    assert np.isnan(precision[2]).all()
    assert precision[3] == pytest.approx([1 / 2] * 101, abs=1e-12)


def test_average_precision_is_the_mean_over_the_levels():
    rng = np.random.default_rng(2)
    hits = rng.integers(0, 300, 700) * (rng.random(700) < 0.8)
    positives = hits + rng.integers(0, 100, 700)
    counted = np.concatenate(
        [np.cumsum(rng.geometric(rng.uniform(0.1, 1), n)) for n in hits]
    ).astype(int)
    np.testing.assert_allclose(
        average_precision(hits, counted, positives),
        precision_at_recall(hits, counted, positives).mean(axis=1),
        rtol=0,
        atol=1e-13,
    )


@pytest.mark.parametrize('levels', [2, 10, 10**6])
def test_descending_order_is_stable(levels):
    rng = np.random.default_rng(levels)
    values = rng.integers(-levels, levels, 5000) / 7
    np.testing.assert_array_equal(
        argsort_descending(values), np.argsort(-values, kind='stable')
    )


@pytest.mark.parametrize('bound', [1, 5, 1 << 16, 1 << 17, 1 << 40])
def test_integer_order_is_stable_for_any_bound(bound):
    values = np.random.default_rng(1).integers(0, bound, 3000)
    values[0] = bound - 1
    np.testing.assert_array_equal(
        argsort_stable(values, bound), np.argsort(values, kind='stable')
    )
