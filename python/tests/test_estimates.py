from __future__ import annotations

import numpy as np
import pytest

from drivelab import verdicts
from drivelab.estimates import BOOTSTRAP, BOOTSTRAP_MIN, RESAMPLES, T, apart, estimate


def test_the_interval_of_a_few_values_is_that_of_the_table() -> None:
    # t of 95 % and two degrees of freedom is 4.303; the deviation of 9, 10, 11 is 1.
    found = estimate([9.0, 10.0, 11.0])
    assert found.method == T
    assert found.mean == 10
    assert found.plus_minus == pytest.approx(4.3027 / 3**0.5, rel=1e-4)
    assert (found.low + found.high) / 2 == pytest.approx(10)


def test_the_interval_of_many_values_is_a_bootstrap_and_the_same_every_time() -> None:
    values = np.random.default_rng(3).exponential(5.0, BOOTSTRAP_MIN)
    found = estimate(list(values))
    assert found.method == BOOTSTRAP
    assert found == estimate(list(values))
    assert found.low < found.mean < found.high
    # Of skewed values the interval is longer on the side of the tail.
    assert found.high - found.mean > found.mean - found.low


@pytest.mark.parametrize("count", [5, 12])
def test_an_interval_holds_the_mean_about_as_often_as_it_says(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("drivelab.estimates.RESAMPLES", 400)
    assert RESAMPLES == 9999
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(200):
        found = estimate(list(rng.normal(100.0, 7.0, count)))
        held += found.low <= 100.0 <= found.high
    assert 0.87 * 200 <= held < 200


def test_values_that_do_not_vary_have_an_interval_of_no_width() -> None:
    found = estimate([0.1, 0.1, 0.1])
    assert (found.low, found.mean, found.high) == (0.1, 0.1, 0.1)
    assert not apart([0.1, 0.1], [0.1, 0.1])
    assert apart([0.1, 0.1], [0.2, 0.2])
    nearly = [1.0, 1.0 + 1e-15, 1.0]
    assert estimate(nearly).plus_minus < 1e-14


@pytest.mark.parametrize("count", [3, 4, 10])
def test_a_difference_within_its_interval_is_none(count: int) -> None:
    rng = np.random.default_rng(5)
    same, far = rng.normal(100, 10, count), rng.normal(300, 10, count)
    near = rng.permutation(same) + 3
    assert apart(list(same), list(far))
    assert apart(list(far), list(same))
    assert not apart(list(same), list(near))
    # More than 2 % apart, and called none all the same.
    one, other = float(np.mean(same)), float(np.mean(near))
    assert verdicts.differ(one, other)
    assert not verdicts.differ(one, other, list(same), list(near))
    assert verdicts.differ(one, float(np.mean(far)), list(same), list(far))


def test_a_single_value_is_judged_by_the_interval_of_the_other_side() -> None:
    repeats = [9.0, 10.0, 11.0]
    assert not apart([11.5], repeats)
    assert apart([13.0], repeats)
    assert apart(repeats, [7.0])


def test_what_is_surely_different_but_tiny_is_called_the_same() -> None:
    assert apart([100.0, 100.1], [101.0, 101.1])
    assert not verdicts.differ(100.05, 101.05, [100.0, 100.1], [101.0, 101.1])
