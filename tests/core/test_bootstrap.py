"""Resampling against evaluating every resample from scratch."""

import numpy as np
import pytest
from coco_reference import Case, random_case
from tide_reference import slow_tide

from mmdet_cppe5.core import bootstrap, evaluate
from mmdet_cppe5.core.intervals import interval, t_quantile
from mmdet_cppe5.core.resampled_numbers import ResampledNumbers, draw_images

B = [10, 10, 50, 50]
FAR = [400, 400, 20, 20]


def copied(case, weights):
    """The case with its images copied, copies next to each other."""
    gts, dts, images = [], [], 0
    for image, copies in enumerate(weights):
        for _ in range(copies):
            gts += [(images, *gt[1:]) for gt in case.gts if gt[0] == image]
            dts += [(images, *dt[1:]) for dt in case.dts if dt[0] == image]
            images += 1
    return Case(gts, dts, images, case.classes)


def numbers_of(case):
    """The resampled numbers, by pycocotools; NaN where undefined."""
    run = case.coco()
    deltas = slow_tide(case)[3]
    classes = run.eval['precision'][:, :, :, 0, -1].mean(axis=(0, 1))
    names = ('Cls', 'Loc', 'Both', 'Dupe', 'Bkg', 'Miss')
    values = np.array(
        [
            *run.stats[:6],
            *(deltas[name] for name in (*names, 'FalsePos', 'FalseNeg')),
            *classes,
        ]
    )
    values[:6][values[:6] == -1] = np.nan
    values[-case.classes :][classes == -1] = np.nan
    return values


@pytest.mark.parametrize(
    'kind',
    [
        {},
        {'decimals': 1, 'crowd': 0.1},
        {'absent_class': True, 'no_gt': 0.3, 'no_dt': 0.2},
    ],
)
def test_resamples_equal_pycocotools_on_copied_images(kind):
    case = random_case(21, images=8, **kind)
    weights = draw_images(case.images, 4, seed=3)
    assert weights.max() > 1
    assert weights.min() == 0
    evaluation = evaluate(*case.core())
    numbers = ResampledNumbers(evaluation, tide=True).resample(weights)
    for row, copies in zip(numbers, weights):
        np.testing.assert_allclose(
            row, numbers_of(copied(case, copies)), rtol=0, atol=1e-12
        )


def test_copies_of_tied_detections_alternate():
    """Hit and false alarm of one score: hit, alarm, hit, alarm."""
    case = Case([(0, 0, B, {})], [(0, 0, 0.5, B), (0, 0, 0.5, FAR)])
    numbers = ResampledNumbers(evaluate(*case.core()), tide=False)
    (row,) = numbers.resample(np.array([[2]], np.int32))
    # Recall 1/2 at precision 1, recall 1 at precision 2/3.
    assert row[0] == pytest.approx((51 + 50 * 2 / 3) / 101, abs=1e-12)


def test_many_resamples_are_drawn_the_same_way_in_any_portions(monkeypatch):
    evaluation = evaluate(*random_case(22, images=12).core())
    whole = bootstrap(evaluation, 50, seed=7)
    monkeypatch.setattr('mmdet_cppe5.core.resampled_numbers._AT_ONCE', 1)
    single = bootstrap(evaluation, 50, seed=7)
    for name, values in whole.samples.items():
        np.testing.assert_allclose(
            values, single.samples[name], rtol=0, atol=1e-12
        )
    assert bootstrap(evaluation, 50, seed=8).samples['AP'][0] != values[0]


def test_result_names_and_estimates():
    evaluation = evaluate(*random_case(23, images=12).core())
    result = bootstrap(evaluation, 20)
    for name, value in evaluation.summary().items():
        if name.startswith('AP'):
            estimate = result.intervals[name].estimate
            assert estimate == pytest.approx(value, abs=1e-12)
    assert [i.estimate for i in result.class_intervals] == pytest.approx(
        evaluation.ap_per_class(), abs=1e-12
    )
    assert result.class_samples.shape == (20, 4)
    assert 'dAP_FalseNeg' in result.intervals
    plain = bootstrap(evaluation, 20, tide=False)
    assert not [name for name in plain.intervals if name.startswith('dAP')]


def test_t_interval_by_hand():
    """Bias 0.1; jackknife error of a mean of 3: deviation / sqrt(3)."""
    data = np.array([0.2, 0.3, 0.4])
    left_out = np.array([0.35, 0.3, 0.25, np.nan])
    found = interval(0.3, np.array([0.3, 0.5]), left_out)
    error = data.std(ddof=1) / np.sqrt(3)
    # 4.302652729749 is the 0.975 quantile of t with 2 degrees of freedom.
    assert found.low == pytest.approx(
        max(0.3 - 0.1 - 4.302652729749 * error, 0)
    )
    assert found.high == pytest.approx(0.3 - 0.1 + 4.302652729749 * error)
    below = interval(0.3, np.array([0.3, 0.5]), left_out, lowest=-1)
    assert below.low == pytest.approx(0.3 - 0.1 - 4.302652729749 * error)


def test_t_quantile_equals_scipy():
    stats = pytest.importorskip('scipy.stats')
    for freedom in (1, 2, 5, 28, 99, 199):
        for level in (0.005, 0.3, 0.5, 0.95, 0.975):
            expected = stats.t.ppf(level, freedom)
            found = t_quantile(level, freedom)
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_undefined_numbers_have_undefined_intervals():
    gts = [(image, 0, B, {}) for image in (0, 1)]
    dts = [(image, 0, 0.9, B) for image in (0, 1)]
    case = Case(gts, dts, images=2, classes=2)
    result = bootstrap(evaluate(*case.core()), 10)
    small = result.intervals['APs']
    assert np.isnan([small.estimate, small.low, small.high]).all()
    assert np.isnan(result.class_intervals[1].low)
    assert result.intervals['AP'].low == pytest.approx(1, abs=1e-12)


def test_one_image_tells_nothing_about_others():
    case = Case([(0, 0, B, {})], [(0, 0, 0.9, B)])
    found = bootstrap(evaluate(*case.core()), 10).intervals['AP']
    assert found.estimate == pytest.approx(1)
    assert np.isnan([found.low, found.high]).all()


@pytest.mark.slow
def test_intervals_hold_the_truth():
    """Of 60 samples of 29 images, nearly all intervals hold the whole's AP.

    95 % would be 57; the t interval's measured share is 93 %, and fewer than
    50 of 60 would come with a chance below 1 % then. Percentiles of the same
    resamples hold 63 %.
    """
    whole = random_case(60, images=600, detections=12)
    truth = evaluate(*whole.core()).ap()
    rng = np.random.default_rng(0)
    held = {'t': 0, 'percentile': 0}
    for _ in range(60):
        copies = np.zeros(600, int)
        copies[rng.choice(600, 29, replace=False)] = 1
        sample = evaluate(*copied(whole, copies).core())
        result = bootstrap(sample, 300, tide=False)
        found = result.intervals['AP']
        held['t'] += found.low <= truth <= found.high
        low, high = np.quantile(result.samples['AP'], [0.025, 0.975])
        held['percentile'] += low <= truth <= high
    assert held['t'] >= 50 > held['percentile']


@pytest.mark.parametrize(
    ('arguments', 'images', 'message'),
    [
        ({}, 0, 'at least one image'),
        ({'num_resamples': 0}, 1, 'num_resamples'),
        ({'confidence': 1}, 1, 'confidence'),
    ],
)
def test_wrong_settings(arguments, images, message):
    evaluation = evaluate(*Case([], [], images=images).core())
    with pytest.raises(ValueError, match=message):
        bootstrap(evaluation, **arguments)
