"""The tables of categories and sigmas, against the published facts."""

import hashlib
import json

import pytest

from mmdet_cppe5.deepfashion2.categories import (
    CATEGORIES,
    CLASSES,
    NUM_LANDMARKS,
    PALETTE,
    category_named,
)
from mmdet_cppe5.deepfashion2.sigmas import SIGMAS


def test_slots_tile_the_294_landmarks():
    taken = [
        slot
        for category in CATEGORIES
        for slot in range(category.slots.start, category.slots.stop)
    ]
    assert taken == list(range(294))
    assert NUM_LANDMARKS == 294
    assert [c.id for c in CATEGORIES] == list(range(1, 14))


def test_trousers_are_landmarks_169_to_182_as_the_data_set_says():
    trousers = CATEGORIES[7]
    assert trousers.name == 'trousers'
    assert (trousers.slots.start, trousers.slots.stop) == (169 - 1, 182)


def test_sigmas_have_the_published_digest():
    text = ','.join(f'{sigma:.4f}' for sigma in SIGMAS)
    assert hashlib.sha256(text.encode()).hexdigest() == (
        '713ae77775ff76243a4f56948143e88379252d27ec31cf3e98014c895fb4c897'
    )


def test_sigmas_equal_the_published_list(test_data):
    file = test_data / 'deepfashion2' / 'sigmas_294.json'
    assert SIGMAS.tolist() == json.loads(file.read_text())


def test_sigmas_add_up_by_category_as_published():
    sums = [SIGMAS[category.slots].sum() for category in CATEGORIES]
    # fmt: off
    published = [
        0.8325, 1.4715, 0.8510, 1.5403, 0.4881, 0.7217, 0.4235,
        0.5362, 0.3228, 1.2272, 1.5509, 0.6556, 0.8977,
    ]
    # fmt: on
    assert sums == pytest.approx(published, abs=1e-9)


def test_sigmas_cannot_be_changed_by_accident():
    with pytest.raises(ValueError, match='read-only'):
        SIGMAS[0] = 1


def test_both_name_sets_give_the_category():
    assert category_named('short_sleeved_shirt').id == 1
    assert category_named('short sleeve top').id == 1
    assert category_named('sling dress') == category_named('sling_dress')
    with pytest.raises(KeyError, match="got 'poncho'"):
        category_named('poncho')


def test_every_class_has_its_own_colour():
    assert len(set(PALETTE)) == len(CLASSES) == 13
