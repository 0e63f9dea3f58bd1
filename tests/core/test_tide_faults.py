"""Inputs on which tidecv 1.0.1 fails, with the right answers.

The letters are those of our notes on tidecv; faults about files, plots and
printing are tested where files, plots and printing are.
"""

import numpy as np
import pytest
from coco_reference import Case

from mmdet_cppe5.core import Detections, evaluate, tide, tide_range

B = [10, 10, 50, 50]
B2 = [200, 200, 50, 50]
FAR = [400, 400, 20, 20]


def run(gts, dts, pos_thr=0.5, **world):
    """TIDE of ``(image, label, box)`` and ``(image, label, score, box)``."""
    gts = [(*gt, {}) if len(gt) == 3 else gt for gt in gts]
    return tide(evaluate(*Case(gts, dts, **world).core()), pos_thr)


def test_a1_no_detection_is_one_miss():
    result = run([(0, 0, B)], [])
    assert result.ap == 0
    assert result.counts['Miss'] == 1
    assert result.delta_ap['Miss'] == result.delta_ap['FalseNeg'] == 1


def test_a2_no_ground_truth_is_undefined_and_counted():
    result = run([], [(0, 0, 0.9, B)])
    assert np.isnan(result.ap)
    assert all(np.isnan(value) for value in result.delta_ap.values())
    assert result.counts['Bkg'] == result.counts['FalsePos'] == 1


def test_a4_no_image_is_undefined():
    result = run([], [], images=0)
    assert np.isnan(result.ap)
    assert set(result.counts.values()) == {0}


def test_a5_no_error_costs_nothing():
    result = run([(0, 0, B)], [(0, 0, 0.9, B)])
    assert result.ap == pytest.approx(1, abs=1e-12)
    assert set(result.delta_ap.values()) == {0}


def test_c1_class_without_ground_truth_does_not_count():
    result = run([(0, 0, B)], [(0, 0, 0.9, B), (0, 1, 0.3, FAR)], classes=2)
    assert result.ap == pytest.approx(1, abs=1e-12)
    assert result.delta_ap['Bkg'] == 0
    assert result.counts['Bkg'] == 1


def test_c2_cap_is_per_class():
    noise = [(0, 1, 0.99 - i / 1000, FAR) for i in range(100)]
    result = run([(0, 0, B), (0, 1, B2)], [*noise, (0, 0, 0.5, B)], classes=2)
    assert result.ap == pytest.approx(1 / 2, abs=1e-12)


def test_c3_last_of_equal_ground_truths():
    result = run(
        [(0, 0, [0, 0, 10, 10]), (0, 0, [4, 0, 10, 10])],
        [(0, 0, 0.9, [2, 0, 10, 10]), (0, 0, 0.8, [0, 0, 10, 10])],
    )
    assert result.ap == pytest.approx(1, abs=1e-12)


def test_c4_ties_by_image_whatever_the_order_of_rows():
    result = run(
        [(0, 0, B), (1, 0, B2)],
        [(1, 0, 0.5, FAR), (0, 0, 0.5, B)],
        images=2,
    )
    assert result.ap == pytest.approx(51 / 101, abs=1e-12)


def test_c5_recall_of_exactly_035():
    boxes = [[30 * i, 0, 20, 20] for i in range(20)]
    dts = [(0, 0, 0.9 - i / 100, box) for i, box in enumerate(boxes[:14])]
    dts.append((0, 0, 0.835, FAR))
    result = run([(0, 0, box) for box in boxes], dts)
    assert result.ap == pytest.approx((35 + 35 * 14 / 15) / 101, abs=1e-12)


def test_c6_crowd_matches_at_the_threshold():
    crowd = (0, 0, [100, 100, 10, 10], {'iscrowd': 1})
    result = run(
        [crowd, (0, 0, B)],
        [(0, 0, 0.9, [105, 100, 10, 10]), (0, 0, 0.5, B)],
    )
    assert result.ap == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize('extra', [[], [(0, 1, 0.3, FAR)]])
def test_c8_c9_class_whose_only_object_is_missed(extra):
    """With or without a false alarm: the other class is what is left."""
    result = run([(0, 0, B), (0, 1, B2)], [(0, 0, 0.9, B), *extra], classes=2)
    assert result.ap == pytest.approx(1 / 2, abs=1e-12)
    assert result.delta_ap['Miss'] == pytest.approx(1 / 2, abs=1e-12)
    assert result.delta_ap_per_class['Miss'] == pytest.approx([0, 1])


def test_d1_one_error_per_object_over_all_kinds():
    loc = [10, 10, 50, 20]  # IoU 0.4
    result = run([(0, 0, B)], [(0, 0, 0.9, loc), (0, 1, 0.8, B)], classes=2)
    assert (result.counts['Loc'], result.counts['Cls']) == (1, 1)
    assert result.delta_ap['Loc'] == pytest.approx(1, abs=1e-12)
    assert result.delta_ap['Cls'] == 0


def test_d2_any_score_will_do():
    result = run([(0, 0, B), (0, 1, B2)], [(0, 1, -2, B)], classes=2)
    assert result.counts['Cls'] == 1
    assert result.delta_ap['Cls'] == pytest.approx(1 / 2, abs=1e-12)


def test_d3_nan_scores_are_refused():
    with pytest.raises(ValueError, match='score to be finite.*row 1'):
        Detections(
            [0, 0],
            [0, 0],
            [B, FAR],
            [0.5, np.nan],
            num_images=1,
            num_classes=1,
        )


def test_d7_boxes_may_be_tuples():
    result = run([(0, 0, tuple(B))], [(0, 0, 0.9, tuple(B))])
    assert result.ap == pytest.approx(1, abs=1e-12)


def test_e1_e2_any_evaluated_thresholds_and_rounding():
    gt, dt = Case([(0, 0, B, {})], [(0, 0, 0.9, [10, 10, 50, 35])]).core()
    evaluation = evaluate(gt, dt, iou_thrs=[0.6, 0.75])
    low, high = tide_range(evaluation)
    assert (low.counts['Loc'], high.counts['Loc']) == (0, 1)
    steps = evaluate(gt, dt, iou_thrs=np.arange(0.5, 1, 0.05))
    assert tide(steps, 0.6).counts == low.counts


def test_f1_detection_on_a_crowd_is_no_error():
    result = run([(0, 0, B, {'iscrowd': 1})], [(0, 0, 0.9, [20, 20, 5, 5])])
    assert set(result.counts.values()) == {0}


def test_f5_more_than_100_objects_are_cut_by_the_cap_alone():
    """120 perfect boxes of one class: 20 are beyond the cap, as in COCO."""
    boxes = [[20 * i, 0, 10, 10] for i in range(120)]
    gts = [(0, 0, box, {}) for box in boxes]
    dts = [(0, 0, 0.9, box) for box in boxes]
    gt, dt = Case(gts, dts).core()
    assert tide(evaluate(gt, dt)).counts['Miss'] == 20
    roomy = tide(evaluate(gt, dt, max_dets=(200,)))
    assert roomy.counts['Miss'] == 0
    assert roomy.delta_ap['Miss'] == 0


def test_g1_a_fix_does_not_reorder_ties():
    result = run([(0, 0, B)], [(0, 0, 0.5, B), (0, 0, 0.5, FAR)])
    assert result.ap == pytest.approx(1, abs=1e-12)
    assert result.delta_ap['FalseNeg'] == 0
    assert result.delta_ap['Bkg'] == 0
