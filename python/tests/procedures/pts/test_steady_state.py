from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivelab.procedures.pts.steady_state import judge, last_window

rates = st.floats(min_value=1e-3, max_value=1e6, allow_subnormal=False)
windows = st.lists(rates, min_size=5, max_size=5)


@pytest.mark.parametrize(
    ("window", "average", "excursion_percent", "slope_percent", "steady"),
    [
        ([228.90, 240.21, 240.60, 240.71, 240.71], 238.226, 4.957, 4.050, True),
        ([100, 110, 100, 90, 100], 100, 20.000, 8.000, True),
        ([100, 103, 105, 108, 110], 105.2, 9.506, 9.506, True),
        ([100, 104, 108, 112, 116], 108, 14.815, 14.815, False),
        ([120, 100, 100, 100, 99], 103.8, 20.231, 16.185, False),
    ],
)
def test_golden_windows(
    window: Sequence[float],
    average: float,
    excursion_percent: float,
    slope_percent: float,
    steady: bool,
) -> None:
    verdict = judge(window)
    assert verdict.average == pytest.approx(average, abs=5e-4)
    assert verdict.excursion_percent == pytest.approx(excursion_percent, abs=5e-4)
    assert verdict.slope_percent == pytest.approx(slope_percent, abs=5e-4)
    assert verdict.steady == steady


def test_limits_belong_to_the_steady_state_whatever_the_unit() -> None:
    # Least-squares rise of 1 per round at an average of 40: 4 / 40 = 10 %.
    for unit in (1, 3, 0.125, 2**20):
        assert judge([unit * y for y in (38, 39, 40, 41, 42)]).steady
        assert judge([unit * y for y in (100, 110, 100, 90, 100)]).steady
        assert not judge([unit * y for y in (37, 39, 40, 41, 42)]).steady
        assert not judge([unit * y for y in (100, 110.125, 100, 90, 100)]).steady


def test_a_drive_that_does_nothing_is_not_steady() -> None:
    verdict = judge([0, 0, 0, 0, 0])
    assert not verdict.steady
    assert verdict.excursion_percent is None
    assert verdict.slope_percent is None


def test_only_the_last_five_rounds_count() -> None:
    assert last_window([100, 100, 100, 100]) is None
    verdict = last_window([900, 500, 101, 100, 99, 100, 100])
    assert verdict is not None
    assert verdict.steady
    assert (verdict.first_round, verdict.last_round) == (3, 7)


@given(windows)
def test_the_line_is_the_least_squares_line(window: list[float]) -> None:
    slope, start = np.polyfit(range(5), window, 1)
    verdict = judge(window)
    scale = max(window)
    assert verdict.slope == pytest.approx(slope, abs=1e-9 * scale)
    assert verdict.line == pytest.approx([start + slope * x for x in range(5)], abs=1e-9 * scale)


@given(windows)
def test_a_falling_window_is_judged_as_the_rising_one(window: list[float]) -> None:
    forwards, backwards = judge(window), judge(window[::-1])
    assert forwards.steady == backwards.steady
    assert forwards.slope == -backwards.slope
