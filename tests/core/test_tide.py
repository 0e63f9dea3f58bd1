"""TIDE against a slow retelling that reruns pycocotools, and by hand."""

import numpy as np
import pytest
from coco_reference import Case, random_case
from hypothesis import given, settings
from hypothesis import strategies as st
from test_average_precision import EXTRAS, SMALL_BOX, WHERE
from tide_reference import slow_tide

from mmdet_cppe5.core import MAIN_ERRORS, evaluate, tide, tide_range


def assert_equals_slow_tide(case, pos_thr, bg_thr=0.1):
    result = tide(evaluate(*case.core()), pos_thr, bg_thr)
    kinds, fixed, missed, deltas = slow_tide(case, pos_thr, bg_thr)
    expected = [
        MAIN_ERRORS.index(kinds[row]) if row in kinds else -1
        for row in range(len(case.dts))
    ]
    np.testing.assert_array_equal(result.error, expected)
    assert set(np.flatnonzero(result.fixed)) == fixed
    assert set(np.flatnonzero(result.missed)) == missed
    for name, value in deltas.items():
        if np.isnan(value) and not np.isnan(result.ap):
            value = 1 - result.ap  # nothing is left to find
        assert result.delta_ap[name] == pytest.approx(
            value, abs=1e-9, nan_ok=True
        ), name


KINDS = {
    'plain': {},
    'crowd, ties': {'decimals': 1, 'crowd': 0.1},
    'absent class, empty images': {
        'absent_class': True,
        'no_gt': 0.3,
        'no_dt': 0.2,
    },
    'beyond the cap': {'detections': 150, 'images': 5, 'classes': 1},
}


@pytest.mark.parametrize('pos_thr', [0.5, 0.75])
@pytest.mark.parametrize('kind', KINDS)
def test_delta_ap_is_what_pycocotools_says_of_repaired_files(kind, pos_thr):
    case = random_case(11, **{'images': 15, **KINDS[kind]})
    assert_equals_slow_tide(case, pos_thr)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(*WHERE, SMALL_BOX, EXTRAS), max_size=8),
    st.lists(
        st.tuples(*WHERE, st.sampled_from([0.1, 0.5, 0.9]), SMALL_BOX),
        max_size=12,
    ),
)
def test_small_cases_full_of_ties(gts, dts):
    gts = [
        (image, label, box, {'iscrowd': extras['iscrowd']})
        for image, label, box, extras in gts
        if extras.get('area') is None
    ]
    assert_equals_slow_tide(Case(gts, dts, images=3, classes=2), 0.5, 0.2)


def test_range_is_one_result_per_threshold():
    evaluation = evaluate(*random_case(12, images=10).core())
    results = tide_range(evaluation)
    assert [r.pos_thr for r in results] == evaluation.iou_thrs.tolist()
    for result in results:
        alone = tide(evaluation, result.pos_thr)
        assert result.delta_ap == alone.delta_ap
        assert result.ap == evaluation.ap(result.pos_thr)


def test_classes_average_to_the_whole():
    result = tide(evaluate(*random_case(13, images=20).core()))
    for name, delta in result.delta_ap.items():
        classes = result.delta_ap_per_class[name]
        assert delta == pytest.approx(classes.mean(), abs=1e-12)
        assert result.counts[name] == result.counts_per_class[name].sum()


def test_members_are_what_is_counted():
    case = random_case(14, images=30, detections=8)
    evaluation = evaluate(*case.core())
    result = tide(evaluation)
    label = evaluation.detections.label
    for name in ('Cls', 'Loc', 'Both', 'Dupe', 'Bkg', 'FalsePos'):
        rows, gts = result.members(name)
        assert len(rows) == result.counts[name] > 0
        np.testing.assert_array_equal(
            np.bincount(label[rows], minlength=4),
            result.counts_per_class[name],
        )
        assert ((gts >= 0) == (name in ('Cls', 'Loc', 'Dupe'))).all() or (
            name == 'FalsePos'
        )
    for name in ('Miss', 'FalseNeg'):
        rows, gts = result.members(name)
        assert len(rows) == 0
        assert len(gts) == result.counts[name] > 0
    decisions = evaluation.decisions(0.5)
    np.testing.assert_array_equal(result.error >= 0, decisions.false_positive)
    np.testing.assert_array_equal(
        result.false_negative, decisions.false_negative
    )
    with pytest.raises(ValueError, match='Bogus'):
        result.members('Bogus')


def test_each_kind_by_hand():
    """Boxes on a line, 10 wide; overlap 10 - d gives IoU (10-d)/(10+d)."""

    def box(x):
        return [x, 0, 10, 10]

    gts = [(0, 0, box(100 * i), {}) for i in range(5)]
    gts += [(0, 1, box(600), {}), (0, 0, box(700), {})]
    dts = [
        (0, 0, 0.9, box(0)),  # hit
        (0, 0, 0.8, box(1)),  # Dupe: IoU 9/11
        (0, 0, 0.7, box(105)),  # Loc: 5/15
        (0, 1, 0.6, box(201)),  # Cls: 9/11 with class 0
        (0, 1, 0.5, box(305)),  # Both: 5/15 with class 0
        (0, 0, 0.4, box(409)),  # Bkg: 1/19
        (0, 1, 0.3, box(600)),  # hit
    ]
    result = tide(evaluate(*Case(gts, dts, classes=2).core()))
    names = [MAIN_ERRORS[code] if code >= 0 else '' for code in result.error]
    assert names == ['', 'Dupe', 'Loc', 'Cls', 'Both', 'Bkg', '']
    assert result.error_gt.tolist() == [-1, 0, 1, 2, -1, -1, -1]
    assert result.fixed.tolist() == [False, False, True, True] + [False] * 3
    # Objects 1 and 2 belong to the Loc and the Cls error.
    assert np.flatnonzero(result.missed).tolist() == [3, 4, 6]
    assert np.flatnonzero(result.false_negative).tolist() == [1, 2, 3, 4, 6]


@pytest.mark.parametrize('thresholds', [(0.5, 0.5), (0.5, 0), (0.5, 0.6)])
def test_background_must_be_below_foreground(thresholds):
    evaluation = evaluate(*Case([], []).core())
    with pytest.raises(ValueError, match='background threshold'):
        tide(evaluation, *thresholds)
