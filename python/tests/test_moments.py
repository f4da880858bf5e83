from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivelab.moments import pooled

LATENCIES = st.lists(st.integers(0, 10**13), min_size=1, max_size=30)


@given(st.lists(LATENCIES, min_size=1, max_size=6))
def test_parts_put_together_are_the_whole(parts: list[list[int]]) -> None:
    mean, stddev = pooled(
        [len(part) for part in parts],
        [statistics.fmean(part) for part in parts],
        [statistics.pstdev(part) for part in parts],
    )
    whole = [value for part in parts for value in part]
    assert mean == pytest.approx(statistics.fmean(whole), rel=1e-12)
    assert stddev == pytest.approx(statistics.pstdev(whole), rel=1e-9, abs=1e-3)


def test_long_and_almost_equal_times_keep_their_deviation() -> None:
    hour = 3.6e12
    assert pooled([1000, 1000], [hour, hour + 2], [0.0, 0.0]) == (hour + 1, 1.0)
