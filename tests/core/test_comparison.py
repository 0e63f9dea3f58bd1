"""Comparing detectors: by hand, and on detectors known to be equal or not."""

import numpy as np
import pytest
from coco_reference import Case, random_case

from mmdet_cppe5.core import (
    Detections,
    GroundTruths,
    bootstrap,
    compare,
    compare_classes,
    evaluate,
)
from mmdet_cppe5.core.class_comparison import of_class
from mmdet_cppe5.core.comparison import (
    PairedDifference,
    _groups,
    _ranks,
    holm,
)
from mmdet_cppe5.core.intervals import Interval, interval


def degraded(case, share, seed):
    """The case with a share of its detections moved far away."""
    rng = np.random.default_rng(seed)
    dts = [
        (image, label, score, [2000, 2000, 9, 9])
        if rng.random() < share
        else (image, label, score, box)
        for image, label, score, box in case.dts
    ]
    return Case(case.gts, dts, case.images, case.classes)


@pytest.fixture(scope='module')
def evaluations():
    case = random_case(31, images=30)
    return {
        'much worse': evaluate(*degraded(case, 0.8, 0).core()),
        'good': evaluate(*case.core()),
        'same again': evaluate(*case.core()),
    }


def test_equal_detectors_tie_and_a_bad_one_loses(evaluations):
    result = compare(evaluations, num_resamples=200)
    assert result.names == ('good', 'same again', 'much worse')
    tie, *losses = result.pairs
    assert (tie.first, tie.second) == ('good', 'same again')
    assert tie.difference.low == tie.difference.high == 0
    assert tie.difference.reason == 'the two do not differ anywhere'
    assert tie.p_value == tie.p_adjusted == 1
    assert [pair.significant for pair in losses] == [True, True]
    assert all(pair.difference.low > 0 for pair in losses)
    assert result.groups == (('good', 'same again'), ('much worse',))
    assert result.ranks == {
        'good': (1, 2),
        'same again': (1, 2),
        'much worse': (3, 3),
    }


def evaluate_without(evaluations, name, image):
    """AP of a detector, one image taken out of both sides."""
    evaluation = evaluations[name]
    gt, dt = evaluation.ground_truths, evaluation.detections
    world = {'num_images': 30, 'num_classes': gt.num_classes}
    kept, found = gt.image != image, dt.image != image
    return evaluate(
        GroundTruths(
            *(getattr(gt, n)[kept] for n in ('image', 'label', 'bbox')),
            area=gt.area[kept], crowd=gt.crowd[kept], **world,
        ),
        Detections(
            *(
                getattr(dt, n)[found]
                for n in ('image', 'label', 'bbox', 'score')
            ),
            **world,
        ),
    ).ap()  # fmt: skip


def test_differences_are_paired(evaluations):
    """The interval is over differences on the same images, hence narrow."""
    result = compare(evaluations, num_resamples=200, seed=5)
    alone = {
        name: bootstrap(evaluation, 200, seed=5, tide=False)
        for name, evaluation in evaluations.items()
    }
    for pair in result.pairs[1:]:
        theirs, others = alone[pair.first], alone[pair.second]
        samples = theirs.samples['AP'] - others.samples['AP']
        apart = np.array(
            [
                evaluate_without(evaluations, pair.first, image)
                - evaluate_without(evaluations, pair.second, image)
                for image in range(30)
            ]
        )
        expected = interval(
            pair.difference.estimate,
            2 * (samples.mean() - pair.difference.estimate),
            (apart.mean() - apart) * np.sqrt(29 / 30),
            support=30,
            lowest=-1,
        )
        assert pair.difference.low == pytest.approx(expected.low, abs=1e-12)
        assert pair.difference.high == pytest.approx(expected.high, abs=1e-12)
    for name, found in result.estimates.items():
        theirs = alone[name].intervals['AP']
        assert found.low == pytest.approx(theirs.low, abs=1e-12)


@pytest.mark.parametrize('metric', ['AP50', 'APs', 'dAP_Loc'])
def test_other_metrics(evaluations, metric):
    result = compare(
        evaluations, metric, num_resamples=20, num_permutations=100
    )
    for name, found in result.estimates.items():
        theirs = bootstrap(evaluations[name], 20, tide=True).intervals[metric]
        assert found.estimate == pytest.approx(theirs.estimate, abs=1e-12)


def test_holm_by_hand():
    adjusted = holm(np.array([0.01, 0.04, 0.03, np.nan, 0.5]))
    # Four tests: 0.01 * 4, 0.03 * 3, 0.04 * 2 (raised to the one before).
    np.testing.assert_allclose(
        adjusted, [0.01 * 4, 0.03 * 3, 0.03 * 3, np.nan, 0.5]
    )
    assert holm(np.array([0.9, 0.8])).tolist() == [1, 1]


def pairs_of(names, significant):
    nothing = Interval(0, 0, 0)
    return tuple(
        PairedDifference(a, b, nothing, 0, 0, a + b in significant)
        for n, a in enumerate(names)
        for b in names[n + 1 :]
    )


@pytest.mark.parametrize(
    ('significant', 'groups', 'ranks'),
    [
        ([], ['abcd'], [(1, 4)] * 4),
        (['ad'], ['abc', 'bcd'], [(1, 3), (1, 4), (1, 4), (2, 4)]),
        (
            ['ac', 'ad', 'bc', 'bd'],
            ['ab', 'cd'],
            [(1, 2), (1, 2), (3, 4), (3, 4)],
        ),
        (
            ['ab', 'ac', 'ad', 'bc', 'bd', 'cd'],
            ['a', 'b', 'c', 'd'],
            [(1, 1), (2, 2), (3, 3), (4, 4)],
        ),
        # c varies so much that it differs from none.
        (
            ['ab', 'ad', 'bd'],
            ['ac', 'bc', 'cd'],
            [(1, 2), (2, 3), (1, 4), (3, 4)],
        ),
    ],
)
def test_groups_and_ranks_by_hand(significant, groups, ranks):
    names = tuple('abcd')
    pairs = pairs_of(names, significant)
    assert _groups(names, pairs) == tuple(map(tuple, groups))
    assert list(_ranks(names, pairs).values()) == ranks


def test_undefined_metric_is_last_and_never_significant():
    """Detectors without any object of a size to be judged on."""
    case = Case([(0, 0, [0, 0, 200, 200], {})], [], classes=1)
    both = {name: evaluate(*case.core()) for name in 'ab'}
    result = compare(both, 'APs', num_resamples=10)
    assert np.isnan(result.pairs[0].p_value)
    assert result.groups == (('a', 'b'),)


def test_wrong_arguments(evaluations):
    good = evaluations['good']
    with pytest.raises(ValueError, match='at least two'):
        compare({'good': good})
    other = evaluate(*random_case(32, images=30).core())
    with pytest.raises(ValueError, match="'good' and 'other' differ in gro"):
        compare({'good': good, 'other': other})
    case = random_case(31, images=30)
    coarse = evaluate(*case.core(), iou_thrs=[0.5])
    with pytest.raises(ValueError, match='iou_thrs'):
        compare({'good': good, 'coarse': coarse})
    with pytest.raises(ValueError, match='F1'):
        compare(evaluations, 'F1')
    with pytest.raises(ValueError, match='at least 60 permutations'):
        compare(evaluations, num_permutations=50)


def test_a_class_alone_has_its_own_ap(evaluations):
    """Equal to the last bit, with the similarity read off the whole."""
    whole = evaluations['good']
    for label in range(whole.ground_truths.num_classes):
        alone = of_class(whole, label)
        for size in whole.area_ranges:
            expected = whole.ap(area=size, label=label)
            np.testing.assert_equal(alone.ap(area=size), expected)
        np.testing.assert_equal(alone.ap(0.5), whole.ap(0.5, label=label))


def test_classes_are_one_family(evaluations):
    """The second of two detectors loses one class; Holm over K classes."""
    good = evaluations['good']
    dt = good.detections
    moved = np.where((dt.label == 0)[:, None], dt.bbox + 5000, dt.bbox)
    world = {'num_images': dt.num_images, 'num_classes': dt.num_classes}
    worse = evaluate(
        good.ground_truths,
        Detections(dt.image, dt.label, moved, dt.score, area=dt.area, **world),
    )
    by_class = compare_classes({'worse': worse, 'good': good})
    assert len(by_class) == dt.num_classes
    (first,), *others = by_class
    assert (first.first, first.second) == ('good', 'worse')
    assert first.difference.estimate == pytest.approx(
        good.ap(label=0), rel=1e-12
    )
    assert first.p_adjusted == first.p_value * dt.num_classes
    assert first.significant
    assert all(pair.p_adjusted == 1 for (pair,) in others)
    assert not any(pair.significant for (pair,) in others)


def test_errors_cannot_be_compared_by_class(evaluations):
    with pytest.raises(ValueError, match='dAP_Cls, whose errors involve'):
        compare_classes(evaluations, 'dAP_Cls')
