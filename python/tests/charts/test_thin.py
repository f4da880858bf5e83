from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from drivelab.charts.thin import thinned

VALUES = st.lists(st.one_of(st.none(), st.floats(-1e9, 1e9)), max_size=400)


@given(VALUES, st.integers(1, 20))
def test_no_extreme_of_a_column_of_pixels_is_lost(values: list[float | None], columns: int) -> None:
    kept = thinned(values, columns)
    assert kept == sorted(set(kept))
    for column in range(columns):
        begin, end = (len(values) * side // columns for side in (column, column + 1))
        whole = [v for v in values[begin:end] if v is not None]
        rest = [v for v in (values[i] for i in kept if begin <= i < end) if v is not None]
        if whole:
            assert (min(rest), max(rest)) == (min(whole), max(whole))
        # A line is broken where a column is empty.
        assert whole or begin == end or any(values[i] is None for i in kept if begin <= i < end)


def test_short_lines_are_drawn_whole_and_long_ones_stay_short() -> None:
    assert thinned([1.0] * 2400) == list(range(2400))
    wave = [math.sin(index / 1000) for index in range(1_000_000)]
    assert len(thinned(wave)) <= 4 * 600


def test_lines_full_of_gaps_stay_short_and_keep_their_values() -> None:
    for every in (2, 3, 7, 1000):
        gaps = [float(i) if i % every == 0 else None for i in range(200_000)]
        kept = thinned(gaps)
        assert len(kept) <= 4 * 600
        assert sum(gaps[i] is not None for i in kept) >= min(600, 200_000 // every)
