"""The permutation test: on exchanged files, by hand, and on known cases."""

from itertools import product

import numpy as np
import pytest
from coco_reference import Case, random_case
from tide_reference import slow_tide

from mmdet_cppe5.core import evaluate, permutation, permutation_ap
from mmdet_cppe5.core.permutation import (
    exchanged_differences,
    permutation_test,
)
from mmdet_cppe5.core.permutation_pair import by_rank

BOX = [10, 10, 50, 50]
SUMMARY = ('AP', 'AP50', 'AP75', 'APs', 'APm', 'APl')


def another(case, seed, shift=0.1):
    """Other detections of the same objects, scored on another scale."""
    rng = np.random.default_rng(seed)
    dts = []
    for image, label, score, box in case.dts:
        move = rng.normal(0, shift, 2) * box[2:]
        moved = [box[0] + move[0], box[1] + move[1], *box[2:]]
        if rng.random() < 0.8:
            score = round(score + rng.normal(0, 0.2), 1)
            dts.append((image, label, 100 + 50 * score, moved))
    return Case(case.gts, dts, case.images, case.classes)


def ranked(case):
    """The case with each score's rank in its class, written another way."""
    better = [
        len({s for _, k, s, _ in case.dts if k == label and s > score})
        for _, label, score, _ in case.dts
    ]
    return [
        (image, label, -rank, box)
        for rank, (image, label, _, box) in zip(better, case.dts)
    ]


def exchanged(first, second, flags):
    """The two cases with the flagged images' detections exchanged."""
    both = ranked(first), ranked(second)
    return [
        Case(
            first.gts,
            sorted(
                (
                    dt
                    for side, dts in enumerate(both)
                    for dt in dts
                    if side == (flags[dt[0]] != which)
                ),
                key=lambda dt: dt[0],
            ),
            first.images,
            first.classes,
        )
        for which in (False, True)
    ]


def found(images, missed, score=0.5):
    """One object an image, all found but some, no false alarms."""
    gts = [(k, 0, BOX, {}) for k in range(images)]
    dts = [(k, 0, score, BOX) for k in range(images) if k not in missed]
    return evaluate(*Case(gts, dts, images).core())


def test_ranks_leave_precision_as_it_is():
    case = random_case(41, images=12, decimals=1, crowd=0.1)
    gt, dt = case.core()
    ranks = by_rank(dt)
    assert ranks.score.max() == -1
    assert ranks.score.min() >= -11  # scores are 0.0, 0.1, ..., 1.0
    plain, changed = evaluate(gt, dt), evaluate(gt, ranks)
    np.testing.assert_array_equal(plain.precision, changed.precision)
    np.testing.assert_array_equal(plain.recall, changed.recall)


@pytest.mark.parametrize(
    'kind',
    [
        {},
        {'decimals': 1, 'crowd': 0.1},
        {'absent_class': True, 'no_gt': 0.3, 'no_dt': 0.2},
    ],
)
def test_exchanges_equal_pycocotools_on_exchanged_files(kind, monkeypatch):
    monkeypatch.setattr(permutation_ap, '_BLOCK', 50)  # some rows at a time
    first = random_case(42, images=9, detections=20, **kind)
    second = another(first, 1)
    flags = np.random.default_rng(0).random((3, 9)) < 0.5
    flags = np.concatenate([np.zeros((1, 9), bool), flags])
    expected = []
    for row in flags:
        stats = [
            case.coco().stats[:6] for case in exchanged(first, second, row)
        ]
        expected.append(stats[0] - stats[1])
    evaluations = [evaluate(*case.core()) for case in (first, second)]
    for metric, values in zip(SUMMARY, np.transpose(expected)):
        differences = exchanged_differences(*evaluations, metric)(flags)
        np.testing.assert_allclose(differences, values, rtol=0, atol=1e-12)


@pytest.mark.parametrize('name', ['Cls', 'Miss', 'FalsePos'])
def test_exchanges_of_tide_equal_tide_on_exchanged_files(name):
    first = random_case(43, images=8, detections=20)
    second = another(first, 2)
    flags = np.random.default_rng(1).random((2, 8)) < 0.5
    evaluations = [evaluate(*case.core()) for case in (first, second)]
    differences = exchanged_differences(*evaluations, f'dAP_{name}')(flags)
    for row, value in zip(flags, differences):
        one, other = exchanged(first, second, row)
        expected = slow_tide(one)[3][name] - slow_tide(other)[3][name]
        assert value == pytest.approx(expected, abs=1e-12)


def test_all_exchanges_of_six_images():
    """The sampled p is the share of all 64 choices, within 4 deviations."""
    truth = random_case(44, images=6, detections=15)
    cases = another(truth, 3), another(truth, 4, 0.2)
    pair = [evaluate(*case.core()) for case in cases]
    flags = np.array(list(product([False, True], repeat=6)))
    differences = np.abs(exchanged_differences(*pair, 'AP')(flags))
    share = np.mean(differences >= differences[0] - 1e-12)
    assert 2 / 64 < share < 0.9
    p = permutation_test(*pair, num_permutations=4000, enough=10**9)
    assert abs(p - share) < 4 * (share * (1 - share) / 4000) ** 0.5


def test_one_image_that_differs_proves_nothing():
    assert permutation_test(found(40, ()), found(40, (7,))) == 1


@pytest.mark.parametrize('image', [0, 7, 20])
def test_one_image_without_detections_proves_nothing(image):
    case = random_case(45, images=29)
    dts = [dt for dt in case.dts if dt[0] != image]
    fewer = Case(case.gts, dts, case.images, case.classes)
    pair = [evaluate(*each.core()) for each in (case, fewer)]
    assert permutation_test(*pair) >= 0.3


def test_five_misses_against_four_elsewhere_prove_nothing():
    """|4 - 5| or more of 9 fair coins' excess: always, 1 is the least."""
    first, second = found(40, range(4)), found(40, range(35, 40))
    assert permutation_test(first, second) == 1


def test_misses_by_hand():
    """12 images missed by one, 2 by the other: a sign test.

    AP only falls with the number of misses, so a choice is as extreme as what
    was observed if 12 or more of 14 fair coins agree.
    """
    first, second = found(30, range(2)), found(30, range(10, 22))
    share = 2 * (1 + 14 + 91) / 2**14
    p = permutation_test(first, second, num_permutations=20000, enough=10**9)
    assert abs(p - share) < 4 * (share / 20000) ** 0.5


def test_a_clearly_better_detector_gets_the_smallest_p():
    case = random_case(46, images=40)
    pair = [evaluate(*c.core()) for c in (case, another(case, 4, 0.3))]
    p = permutation_test(*pair, num_permutations=2000)
    assert p == 1 / 2001
    assert permutation_test(*reversed(pair), num_permutations=2000) == p


@pytest.fixture(scope='module')
def exchangeable():
    """200 pairs of detectors, each image's two outputs drawn alike."""
    pairs = []
    for seed in range(200):
        truth = random_case(1000 + seed, images=12, detections=8, classes=2)
        alike = (another(truth, 2 * seed + n, 0.2) for n in (0, 1))
        pairs.append([evaluate(*case.core()) for case in alike])
    return pairs


def test_equal_detectors_are_rarely_called_different(exchangeable):
    p = np.array(
        [permutation_test(*x, num_permutations=199) for x in exchangeable]
    )
    # Binomial: 20 of 200 at 0.05 and 58 at 0.2 have less than 0.2 % each.
    assert (p <= 0.05).sum() < 20
    assert (p <= 0.2).sum() < 58
    # Neither does it always say no.
    assert 0.4 < p.mean() < 0.6


def test_ending_early_decides_alike(exchangeable):
    def decide(enough):
        return [
            permutation_test(*x, num_permutations=1000, enough=enough) <= 0.05
            for x in exchangeable[:40]
        ]

    whole = decide(10**9)
    assert 0 < sum(whole) < 40
    assert decide(100) == decide(20) == whole


def test_ending_early_by_hand(exchangeable):
    pair = exchangeable[0]
    (flags,) = permutation._draw(12, 256, 5)
    differences = np.abs(exchanged_differences(*pair, 'AP')(flags))
    observed = abs(pair[0].ap() - pair[1].ap())
    extreme = np.flatnonzero(differences >= observed - 1e-12)
    assert len(extreme) > 10
    p = permutation_test(*pair, seed=5, enough=10)
    assert p == 10 / (extreme[9] + 1)
    never = permutation_test(*pair, seed=5, num_permutations=int(extreme[9]))
    assert never == 10 / (extreme[9] + 1)  # 9 and itself, of all and itself


def test_same_p_in_any_portions(exchangeable, monkeypatch):
    pair = exchangeable[1]
    p = permutation_test(*pair, num_permutations=300)
    monkeypatch.setattr(permutation_ap, '_AT_ONCE', 1)
    monkeypatch.setattr(permutation_ap, '_LEAST_STEP', 7)
    assert permutation_test(*pair, num_permutations=300) == p
