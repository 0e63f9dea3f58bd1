"""The evaluation card's recipe, worked by hand."""

import numpy as np
import pytest

from mmdet_cppe5.core import BoxIoU, Detections, GroundTruths
from mmdet_cppe5.scores.card_recall import card_recall


def recall(truths, found, thresholds=(0.5, 0.75), crowd=None):
    """Rows are (image, class, box); ``found`` in the order of the file."""
    sides = []
    for rows in (truths, found):
        image = np.array([row[0] for row in rows], int)
        label = np.array([row[1] for row in rows], int)
        boxes = np.array([row[2] for row in rows], float).reshape(-1, 4)
        sides.append((image, label, boxes))
    sizes = {'num_images': 2, 'num_classes': 2}
    gt = GroundTruths(*sides[0], crowd=crowd, **sizes)
    dt = Detections(*sides[1], np.arange(len(found), dtype=float), **sizes)
    return card_recall(gt, dt, BoxIoU(gt, dt), thresholds)


def test_threshold_decides():
    """IoU 6 / 10: matched at 0.5, not at 0.75."""
    got = recall([(0, 0, [0, 0, 10, 10])], [(0, 0, [0, 0, 10, 6])])
    assert got.tolist() == [1, 0]


def test_order_of_the_file_decides_not_the_score():
    """The first box takes the object the second one fits better.

    Boxes 10 wide at 0 and 4; the first detection, at 2, overlaps both by
    8 / 12 and takes one, so that the second, equal to that one, is left
    with the other at 6 / 14 < 0.5. By falling scores (here the later the
    higher) both would be matched.
    """
    truths = [(0, 0, [0, 0, 10, 10]), (0, 0, [4, 0, 10, 10])]
    middle, exact = (0, 0, [2, 0, 10, 10]), (0, 0, [0, 0, 10, 10])
    assert recall(truths, [middle, exact], (0.5,)).tolist() == [1 / 2]
    assert recall(truths, [exact, middle], (0.5,)).tolist() == [2 / 2]


def test_other_image_or_class_does_not_count():
    truths = [(0, 0, [0, 0, 10, 10])]
    found = [(1, 0, [0, 0, 10, 10]), (0, 1, [0, 0, 10, 10])]
    assert recall(truths, found).tolist() == [0, 0]


def test_one_detection_finds_one_object():
    truths = [(0, 0, [0, 0, 10, 10])] * 2
    assert recall(truths, [(0, 0, [0, 0, 10, 10])]).tolist() == [0.5, 0.5]


def test_classes_are_pooled():
    """3 of 4 objects, not the mean of 1/1 and 2/3."""
    truths = [(0, 0, [0, 0, 9, 9])]
    truths += [(1, 1, [20 * k, 0, 9, 9]) for k in range(3)]
    assert recall(truths, truths[:3]).tolist() == [3 / 4, 3 / 4]


def test_crowd_regions_do_not_count():
    truths = [(0, 0, [0, 0, 10, 10]), (0, 0, [50, 0, 10, 10])]
    found = [(0, 0, [50, 0, 10, 10])]
    assert recall(truths, found, crowd=[False, True]).tolist() == [0, 0]


@pytest.mark.parametrize('crowd', [None, [True]])
def test_without_objects_it_is_undefined(crowd):
    truths = [(0, 0, [0, 0, 10, 10])] if crowd else []
    assert np.isnan(recall(truths, [], crowd=crowd)).all()
