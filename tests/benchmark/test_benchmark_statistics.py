import numpy as np
import pytest

from mmdet_cppe5.benchmark.statistics import mean_interval, summarise


def test_percentiles_and_outliers_of_a_known_series():
    # 1..100 ms: numpy's linear percentiles of an arithmetic series.
    times = list(range(1, 101))
    result = summarise(times)
    assert result.count == 100
    assert result.median == 50.5
    assert result.p90 == pytest.approx(1 + 0.9 * 99)
    assert result.p99 == pytest.approx(1 + 0.99 * 99)
    assert result.outliers == 0


def test_a_slow_iteration_is_counted_and_stays_in_the_mean():
    times = [10.0, 11.0, 9.0] * 10 + [100.0]
    result = summarise(times)
    assert result.outliers == 1
    assert result.max == 100.0
    assert result.mean == pytest.approx((30 * 10 + 100) / 31)


def test_nothing_to_summarise_says_what_to_do():
    with pytest.raises(ValueError, match='lower num_warmup'):
        summarise([])


def test_interval_is_students_t():
    # t(0.975, 2 degrees of freedom) = 4.302653, from any printed table.
    low, high = mean_interval([9.0, 10.0, 11.0])
    margin = 4.302653 * np.sqrt(1 / 3)
    assert low == pytest.approx(10 - margin, abs=1e-5)
    assert high == pytest.approx(10 + margin, abs=1e-5)


def test_one_repeat_has_no_interval():
    assert mean_interval([10.0]) is None
