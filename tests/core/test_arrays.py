"""Input columns: what they become, and what is refused."""

import numpy as np
import pytest

from mmdet_cppe5.core import Detections, GroundTruths, evaluate

WORLD = {'num_images': 2, 'num_classes': 3}
BOXES = [[0, 0, 2, 3], [1, 1, 4, 5]]


def test_defaults():
    gt = GroundTruths([0, 1], [2, 0], BOXES, **WORLD)
    assert gt.area.tolist() == [6, 20]
    assert not gt.crowd.any()
    assert not gt.ignore.any()
    assert len(gt) == 2
    assert repr(gt) == 'GroundTruths(2 objects, 2 images, 3 classes)'
    dt = Detections([1], [2], [BOXES[0]], [0.5], **WORLD)
    assert dt.area.tolist() == [6]
    assert repr(dt) == 'Detections(1 detections, 2 images, 3 classes)'


def test_crowds_are_ignored_whatever_else_is():
    gt = GroundTruths([0, 1], [0, 0], BOXES, crowd=[1, 0], **WORLD)
    assert gt.ignore.tolist() == [True, False]
    gt = GroundTruths(
        [0, 1], [0, 0], BOXES, crowd=[1, 0], ignore=[0, 1], **WORLD
    )
    assert gt.ignore.tolist() == [True, True]


def test_nothing_has_four_columns():
    gt = GroundTruths([], [], [], **WORLD)
    dt = Detections([], [], [], [], **WORLD)
    assert gt.bbox.shape == dt.bbox.shape == (0, 4)


@pytest.mark.parametrize(
    ('change', 'error', 'message'),
    [
        (
            {'image': [0, 2]},
            ValueError,
            r'image to be in 0..1, but row 1 has 2',
        ),
        ({'label': [-1, 0]}, ValueError, r'label to be in 0..2.*row 0 has -1'),
        ({'label': [0]}, ValueError, '2 images and 1 labels'),
        ({'image': [0.0, 1.0]}, TypeError, 'integer positions.*float64'),
        ({'image': [[0, 1]]}, TypeError, r'one-dimensional.*\(1, 2\)'),
        ({'bbox': [[0, 0, 1]] * 2}, ValueError, r'\(2, 4\), but got \(2, 3\)'),
        ({'bbox': [['x'] * 4] * 2}, TypeError, 'bbox to hold numbers'),
        ({'area': [1, np.inf]}, ValueError, 'area to be finite, but row 1'),
        ({'score': [1]}, ValueError, r'score to have shape \(2,\)'),
        ({'score': [np.nan, 1]}, ValueError, 'score to be finite, but row 0'),
    ],
)
def test_wrong_columns(change, error, message):
    columns = {
        'image': [0, 1],
        'label': [0, 0],
        'bbox': BOXES,
        'score': [0.5, 0.5],
    }
    with pytest.raises(error, match=message):
        Detections(**{**columns, **change}, **WORLD)


def test_wrong_flags():
    with pytest.raises(ValueError, match=r'crowd to have shape \(2,\)'):
        GroundTruths([0, 1], [0, 0], BOXES, crowd=[0], **WORLD)


@pytest.mark.parametrize(
    ('settings', 'message'),
    [
        ({'iou_thrs': []}, 'thresholds'),
        ({'iou_thrs': [0.5, 1.1]}, 'thresholds'),
        ({'iou_thrs': [0]}, 'thresholds'),
        ({'max_dets': []}, 'caps'),
        ({'max_dets': [0, 1]}, 'caps'),
        ({'area_ranges': {}}, 'size ranges'),
    ],
)
def test_wrong_settings(settings, message):
    gt = GroundTruths([], [], [], **WORLD)
    dt = Detections([], [], [], [], **WORLD)
    with pytest.raises(ValueError, match=message):
        evaluate(gt, dt, **settings)


def test_both_sides_must_mean_the_same_images_and_classes():
    gt = GroundTruths([], [], [], **WORLD)
    dt = Detections([], [], [], [], num_images=2, num_classes=4)
    with pytest.raises(
        ValueError, match='num_classes of the ground truths, 3'
    ):
        evaluate(gt, dt)


def test_lookups_name_what_there_is():
    evaluation = evaluate(
        GroundTruths([], [], [], **WORLD), Detections([], [], [], [], **WORLD)
    )
    with pytest.raises(ValueError, match='0.55'):
        evaluation.ap(0.52)
    with pytest.raises(ValueError, match="all, small.*'tiny'"):
        evaluation.ap(area='tiny')
    with pytest.raises(ValueError, match='100.*50'):
        evaluation.ar(50)
