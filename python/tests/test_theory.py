"""Formulas at their ends, and what they can't be asked."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import lambertw

from drivelab.theory import (
    Part,
    fifo_write_amplification,
    mixed_write_amplification,
    separated_write_amplification,
)

SPARE = 1 / 0.875 - 1


@given(st.floats(1e-4, 100))
def test_what_is_valid_of_a_victim_is_lambert_s_function(spare_ratio: float) -> None:
    raw = 1 + spare_ratio
    valid = -float(lambertw(-raw * math.exp(-raw)).real) / raw
    found = fifo_write_amplification(spare_ratio)
    assert found == pytest.approx(1 / (1 - valid), rel=1e-6)


def test_hardly_any_spare_area_is_no_endless_way() -> None:
    for exponent in range(5, 18):
        assert fifo_write_amplification(10.0**-exponent) > 10 ** (min(exponent, 8) - 1)


def test_what_is_hardly_written_comes_near_to_what_is_never_written() -> None:
    never = [Part(0.2, 1.0), Part(0.8, 0.0)]
    hardly = [Part(0.2, 1 - 1e-9), Part(0.8, 1e-9)]
    for formula in (mixed_write_amplification, separated_write_amplification):
        assert formula(never, SPARE) == pytest.approx(formula(hardly, SPARE), rel=1e-3)
    # Apart, what is never written leaves all spare area to the rest.
    alone = fifo_write_amplification(SPARE / 0.2)
    assert separated_write_amplification(never, SPARE) == pytest.approx(alone, rel=1e-6)


def test_parts_that_are_alike_are_one() -> None:
    alike = [Part(0.3, 0.3), Part(0.7, 0.7)]
    one = fifo_write_amplification(SPARE)
    assert mixed_write_amplification(alike, SPARE) == pytest.approx(one, rel=1e-6)
    assert separated_write_amplification(alike, SPARE) == pytest.approx(one, rel=1e-4)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: fifo_write_amplification(0.0), "spare_ratio = 0: must be above 0"),
        (lambda: fifo_write_amplification(float("nan")), "spare_ratio = nan: must be above 0"),
        (lambda: mixed_write_amplification([Part(1, 1)], -0.5), "spare_ratio = -0.5: must be"),
        (lambda: separated_write_amplification([Part(0.5, 1)], 0.1), "data_share of all parts"),
        (lambda: mixed_write_amplification([Part(1, 0.5)], 0.1), "write_share of all parts = 0.5"),
        (lambda: Part(0, 0.5), "data_share = 0: must be above 0"),
        (lambda: Part(0.5, 1.5), "write_share = 1.5: must be 0 to 1"),
    ],
)
def test_what_can_not_be_is_refused(call: object, said: str) -> None:
    assert callable(call)
    with pytest.raises(ValueError, match=said):
        call()
