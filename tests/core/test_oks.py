"""Object keypoint similarity, against pycocotools and by hand."""

import contextlib
import io

import numpy as np
import pytest
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from mmdet_cppe5.core import GroundTruths
from mmdet_cppe5.core.oks import KeypointOKS


def random_objects(seed, count, slots):
    """Objects of one image: about one in five has no labelled keypoint."""
    rng = np.random.default_rng(seed)
    keypoints = rng.uniform(0, 100, (count, slots, 3))
    keypoints[:, :, 2] = rng.integers(0, 3, (count, slots))
    keypoints[rng.random(count) < 0.2, :, 2] = 0
    boxes = rng.uniform(1, 60, (count, 4))
    return keypoints, boxes, rng.uniform(1, 5000, count)


def pycocotools_oks(keypoints, boxes, areas, found, sigmas):
    """(detections, objects) similarities as COCOeval computes them."""
    coco = COCO()
    coco.dataset = {
        'images': [{'id': 1}],
        'categories': [{'id': 1}],
        'annotations': [
            {
                'id': number,
                'image_id': 1,
                'category_id': 1,
                'iscrowd': 0,
                'bbox': box.tolist(),
                'area': area,
                'keypoints': points.ravel().tolist(),
                'num_keypoints': int((points[:, 2] > 0).sum()),
            }
            for number, (points, box, area) in enumerate(
                zip(keypoints, boxes, areas.tolist()), 1
            )
        ],
    }
    entries = [
        {
            'image_id': 1,
            'category_id': 1,
            'score': 1 - number / 1000,
            'keypoints': np.insert(points, 2, 0, axis=1).ravel().tolist(),
        }
        for number, points in enumerate(found)
    ]
    with contextlib.redirect_stdout(io.StringIO()):
        coco.createIndex()
        evaluator = COCOeval(coco, coco.loadRes(entries), 'keypoints')
        evaluator.params.kpt_oks_sigmas = np.asarray(sigmas)
        evaluator.params.maxDets = [len(found)]
        evaluator._prepare()
    return evaluator.computeOks(1, 1)


@pytest.mark.parametrize(('seed', 'slots'), [(0, 17), (1, 294), (2, 1)])
def test_equals_pycocotools_bit_for_bit(seed, slots):
    keypoints, boxes, areas = random_objects(seed, 30, slots)
    rng = np.random.default_rng(seed + 10)
    found = keypoints[rng.integers(0, 30, 40), :, :2]
    found = found + rng.normal(0, 3, found.shape)
    sigmas = rng.uniform(0.01, 0.1, slots)
    expected = pycocotools_oks(keypoints, boxes, areas, found, sigmas)
    truth = GroundTruths(
        [0] * 30, [0] * 30, boxes, num_images=1, num_classes=1, area=areas
    )
    dt, gt = (axis.ravel() for axis in np.indices((40, 30)))
    got = KeypointOKS(truth, keypoints, found, sigmas)(dt, gt)
    assert (keypoints[:, :, 2] > 0).any(axis=1).sum() < 30
    np.testing.assert_array_equal(got.reshape(40, 30), expected)
    assert len(np.unique(expected)) > 100 or slots == 1


def one_object(visibility, found, unlabelled=None):
    """Score one detection of two points on an object of box 10, 10, 20, 20."""
    truth = GroundTruths(
        [0], [0], [[10, 10, 20, 20]], num_images=1, num_classes=1
    )
    points = [[15, 15, visibility[0]], [20, 20, visibility[1]]]
    oks = KeypointOKS(
        truth, np.array([points], float), np.array([found], float),
        [0.05, 0.1], None if unlabelled is None else np.array([unlabelled]),
    )  # fmt: skip
    return oks(np.array([0]), np.array([0]))[0]


def test_only_labelled_keypoints_count():
    exponent = 3**2 / (2 * 400 * (2 * 0.05) ** 2)
    got = one_object((1, 0), [[15, 18], [500, 500]])
    assert got == pytest.approx(np.exp(-exponent), rel=1e-12)


def test_unlabelled_object_measures_from_its_enlarged_box():
    # The enlarged box runs from 10 - 20 to 10 + 2 * 20.
    inside, outside = [-10, 50], [-10, 53]
    exponent = 3**2 / (2 * 400 * (2 * 0.1) ** 2)
    assert one_object((0, 0), [inside, inside]) == 1
    got = one_object((0, 0), [inside, outside])
    assert got == pytest.approx((1 + np.exp(-exponent)) / 2, rel=1e-12)


def test_unlabelled_object_can_compare_chosen_keypoints_only():
    far = [9000, 9000]
    assert one_object((0, 0), [[15, 15], far]) == pytest.approx(0.5)
    assert one_object((0, 0), [[15, 15], far], [True, False]) == 1
    # It does not concern objects that have labelled keypoints.
    assert one_object((0, 2), [[15, 15], far], [True, False]) < 1e-9


def test_shapes_must_go_together():
    truth = GroundTruths([0], [0], [[0, 0, 1, 1]], num_images=1, num_classes=1)
    with pytest.raises(ValueError, match=r'for 3 sigmas, but got \(1, 2, 3\)'):
        KeypointOKS(truth, np.ones((1, 2, 3)), np.ones((0, 3, 2)), [0.1] * 3)
