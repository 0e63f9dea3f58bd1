"""Score curves, confusion, calibration and image counts, worked by hand."""

import numpy as np
import pytest
from coco_reference import Case, random_case

from mmdet_cppe5.core import evaluate
from mmdet_cppe5.core.calibration import calibration
from mmdet_cppe5.core.confusion import confusion_matrix
from mmdet_cppe5.core.per_image import image_counts
from mmdet_cppe5.core.score_curves import score_curve

B = [10, 10, 50, 50]
B2 = [200, 200, 50, 50]
B3 = [10, 300, 50, 50]
FAR = [400, 400, 20, 20]


@pytest.fixture
def example():
    """Two classes and two images; class 2 has no objects."""
    gts = [
        (0, 0, B, {}),
        (0, 0, B2, {}),
        (1, 1, B, {}),
        (1, 0, B3, {'iscrowd': 1}),
    ]
    dts = [
        (0, 0, 0.9, B),  # hit
        (0, 0, 0.8, FAR),  # false alarm
        (0, 1, 0.8, B2),  # B2 taken for class 1
        (0, 0, 0.3, B2),  # hit
        (1, 1, 0.2, B),  # hit
        (1, 0, 0.6, B3),  # on the crowd: ignored
        (1, 2, 0.7, FAR),  # class without objects
    ]
    return evaluate(*Case(gts, dts, images=2, classes=3).core())


def test_score_curve_of_a_class(example):
    curve = score_curve(example, label=0)
    assert curve.score.tolist() == [0.9, 0.8, 0.3]
    assert curve.hits.tolist() == [1, 1, 2]
    assert curve.false_alarms.tolist() == [0, 1, 1]
    assert curve.precision.tolist() == [1, 1 / 2, 2 / 3]
    assert curve.recall.tolist() == [1 / 2, 1 / 2, 1]
    assert curve.f1.tolist() == [2 / 3, 2 / 4, 4 / 5]
    assert curve.best == 2


def test_score_curve_of_all_classes_takes_equal_scores_together(example):
    curve = score_curve(example)
    assert curve.score.tolist() == [0.9, 0.8, 0.3, 0.2]
    assert curve.hits.tolist() == [1, 1, 2, 3]
    assert curve.false_alarms.tolist() == [0, 2, 2, 2]
    assert curve.positives == 3


def test_score_curve_without_objects_or_detections(example):
    curve = score_curve(example, label=2)
    assert curve.positives == 0
    assert np.isnan(curve.f1).all()
    assert curve.best is None
    nothing = score_curve(evaluate(*Case([(0, 0, B, {})], []).core()))
    assert len(nothing.score) == 0
    assert nothing.best is None


def test_score_curve_ends_at_the_recall_of_the_evaluation():
    evaluation = evaluate(*random_case(41, images=10).core())
    for label in range(4):
        curve = score_curve(evaluation, 0.5, label)
        assert curve.recall[-1] == evaluation.recall[0, label, 0, -1]


def test_confusion_matrix(example):
    assert confusion_matrix(example, score_thr=0.5).tolist() == [
        [1, 1, 0, 0],
        [0, 0, 0, 1],
        [0, 0, 0, 0],
        [1, 0, 1, 0],
    ]
    # With the low score kept B2 is a hit, as for AP; what took it for
    # class 1 is then on no free object.
    assert confusion_matrix(example, score_thr=0.25).tolist() == [
        [2, 0, 0, 0],
        [0, 0, 0, 1],
        [0, 0, 0, 0],
        [1, 1, 1, 0],
    ]


def test_confusion_matrix_counts_everything_once():
    evaluation = evaluate(*random_case(42, images=20, crowd=0.1).core())
    decisions = evaluation.decisions(0.5)
    counts = confusion_matrix(evaluation, -np.inf)
    counted = decisions.true_positive | decisions.false_positive
    label = evaluation.detections.label
    np.testing.assert_array_equal(
        counts[:, :-1].sum(axis=0), np.bincount(label[counted])
    )
    np.testing.assert_array_equal(
        counts[:-1].sum(axis=1), evaluation.positives[0]
    )
    np.testing.assert_array_equal(
        np.diag(counts)[:-1], np.bincount(label[decisions.true_positive])
    )
    assert counts[:-1, :-1].sum() > np.trace(counts)


def test_calibration(example):
    bins = calibration(example, num_bins=4)
    assert bins.edges.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert bins.count.tolist() == [1, 1, 1, 3]
    assert bins.hits.tolist() == [1, 1, 0, 1]
    assert bins.mean_score == pytest.approx([0.2, 0.3, 0.7, 2.5 / 3])
    assert bins.precision == pytest.approx([1, 1, 0, 1 / 3])
    gaps = [0.8, 0.7, 0.7, 2.5 / 3 - 1 / 3]
    assert bins.expected_error == pytest.approx(
        (gaps[0] + gaps[1] + gaps[2] + 3 * gaps[3]) / 6
    )


def test_calibration_of_a_class_and_of_nothing(example):
    bins = calibration(example, num_bins=2, label=0, min_score=0.5)
    assert bins.count.tolist() == [0, 2]
    assert bins.expected_error == pytest.approx(0.85 - 1 / 2)
    nothing = calibration(example, min_score=1)
    assert np.isnan(nothing.expected_error)


def test_calibration_puts_edges_above_and_one_in_the_last_bin():
    case = Case([(0, 0, B, {})], [(0, 0, 0.5, FAR), (0, 0, 1, B)])
    bins = calibration(evaluate(*case.core()), num_bins=2)
    assert bins.count.tolist() == [0, 2]


def test_calibration_wants_scores_that_can_be_shares(example):
    case = Case([(0, 0, B, {})], [(0, 0, -2, B)])
    with pytest.raises(ValueError, match='0..1'):
        calibration(evaluate(*case.core()), min_score=-5)
    with pytest.raises(ValueError, match='bin'):
        calibration(example, num_bins=0)


def test_image_counts(example):
    counts = image_counts(example, score_thr=0.5)
    assert counts.true_positives.tolist() == [1, 0]
    assert counts.false_positives.tolist() == [2, 1]
    assert counts.false_negatives.tolist() == [1, 1]
    assert counts.f1.tolist() == [2 / 5, 0]
    only = image_counts(example, score_thr=0.0, label=1)
    assert only.true_positives.tolist() == [0, 1]
    assert only.false_positives.tolist() == [1, 0]
    assert only.false_negatives.tolist() == [0, 0]
    nowhere = image_counts(example, score_thr=2.0, label=2)
    assert np.isnan(nowhere.f1).all()
