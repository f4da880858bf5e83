from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivelab.fio import units


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("512", 512),
        ("4k", 4096),
        ("4K", 4096),
        ("4kb", 4096),
        ("4KiB", 4000),
        ("1.5m", 1572864),
        ("2g", 2 << 30),
        ("1t", 1 << 40),
        ("0x1000", 4096),
        ("7b", 7),
    ],
)
def test_sizes_follow_fio_with_its_default_base(text: str, expected: int) -> None:
    assert units.size_bytes(text) == expected


def test_with_kb_base_1000_units_mean_what_the_standards_say() -> None:
    assert units.size_bytes("4k", 1000) == 4000
    assert units.size_bytes("4KiB", 1000) == 4096


@pytest.mark.parametrize(
    "text", ["", "k", "4x", "-1", "4 4", "1e9", "nan", "4kk", "99999999t", "3.9", "0.3k"]
)
def test_sizes_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a number of bytes"):
        units.size_bytes(text)


@given(st.integers(0, 2**40), st.sampled_from(["", "k", "m"]))
def test_sizes_survive_writing_and_reading(value: int, unit: str) -> None:
    factor = {"": 1, "k": 2**10, "m": 2**20}[unit]
    assert units.size_bytes(f"{value}{unit}") == value * factor


@given(st.text(max_size=12))
def test_any_text_is_a_size_or_a_message(text: str) -> None:
    message = units.SIZE_ALLOWED
    try:
        assert units.size_bytes(text) >= 0
    except ValueError as error:
        message = str(error)
    assert message == units.SIZE_ALLOWED


@pytest.mark.parametrize(
    ("text", "unit", "expected_ns"),
    [
        ("90", "s", 90 * 10**9),
        ("250", "us", 250_000),
        ("3m", "s", 180 * 10**9),
        ("1h", "s", 3600 * 10**9),
        ("2d", "s", 172_800 * 10**9),
        ("1.5s", "s", 1_500_000_000),
        ("2.3ms", "s", 2_300_000),
        ("20ms", "s", 20_000_000),
        ("01:02:03", "s", 3_723 * 10**9),
    ],
)
def test_times_follow_fio(text: str, unit: str, expected_ns: int) -> None:
    assert units.time_ns(text, unit) == expected_ns


@pytest.mark.parametrize("text", ["", "3 weeks", "1:x", "-3s", "m", "0.5ns"])
def test_times_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="hh:mm:ss"):
        units.time_ns(text)


@given(st.floats(0, 100))
def test_a_share_of_a_drive_is_whole_sectors_within_it(percent: float) -> None:
    whole_bytes = 80_026_361_856
    found = units.size_or_percent(f"{percent:.6f}%", whole_bytes)
    assert found % 512 == 0
    assert 0 <= found <= whole_bytes


@pytest.mark.parametrize("value", ["101", "-1%", "half"])
def test_percentages_are_0_to_100(value: Any) -> None:
    with pytest.raises(ValueError, match="0 to 100"):
        units.percent(value)
