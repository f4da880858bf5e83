from __future__ import annotations

import math

import pytest

from drivelab.report import quantities as q


def plain(text: str) -> str:
    return text.replace(q.NBSP, " ")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (q.throughput(264.1), "264.1 MiB/s"),
        (q.throughput(9.996), "10.0 MiB/s"),
        (q.throughput(2.41), "2.41 MiB/s"),
        (q.throughput(0.0219), "0.022 MiB/s"),
        (q.throughput(0), "0.00 MiB/s"),
        (q.iops(5785.6), "5,786 IOPS"),
        (q.iops(5.61), "5.61 IOPS"),
        (q.latency(0.5), "500 ns"),
        (q.latency(999.4), "999 µs"),
        (q.latency(999.6), "1.00 ms"),
        (q.latency(532_200), "532 ms"),
        (q.latency(2_042_000), "2.04 s"),
        (q.latency(10_000, 1), "10 ms"),
        (q.latency_in(519, "ms"), "0.519 ms"),
        (q.size(4096), "4 KiB"),
        (q.size(512), "512 B"),
        (q.size(2 << 20), "2 MiB"),
        (q.size(8 << 30), "8 GiB"),
        (q.data(4_262_789_120), "3.97 GiB"),
        (q.capacity(80_026_361_856), "80.0 GB (74.5 GiB)"),
        (q.percent(-0.4123, signed=True), "−41 %"),
        (q.percent(0.0231, signed=True), "+2.3 %"),
        (q.percent(-0.0001, signed=True), "0.0 %"),
        (q.percent(0), "0 %"),
        (q.times(1.4), "1.40 ×"),
        (q.count(277766, "erases"), "277,766 erases"),
        (q.count(1, "erases"), "1 erase"),
        (q.duration(180), "3 min"),
        (q.duration(71.3), "71.3 s"),
        (q.power(0.06), "60.0 mW"),
        (q.energy(12_345), "12.3 kJ"),
        (q.exact(-3.5, "W"), "−3.5 W"),
        (q.parameter(50_000, "ns"), "50.0 µs"),
        (q.parameter([450_000, 1_350_000], "ns"), "450 µs, 1.35 ms"),
        (q.parameter(True, ""), "yes"),
        (q.parameter("greedy", ""), "greedy"),
        (q.parameter(277_000_000, "bytes/s"), "277 MB/s"),
    ],
)
def test_numbers_are_written_with_their_unit(written: str, expected: str) -> None:
    assert plain(written) == expected


@pytest.mark.parametrize("missing", [None, math.nan, math.inf, "fast", True, [], 10**400])
def test_what_is_missing_is_a_dash(missing: object) -> None:
    writers = (q.throughput, q.iops, q.latency, q.size, q.data, q.capacity, q.percent, q.times)
    assert {write(missing) for write in writers} == {q.DASH}
    assert q.power(missing) == q.energy(missing) == q.duration(missing) == q.DASH
    assert q.with_unit(missing, "J") == q.exact(missing, "J") == q.count(missing, "x") == q.DASH
    assert q.latency_in(missing, "ms") == q.DASH


def test_an_interval_has_the_unit_of_its_mean() -> None:
    assert q.latency_of(5216.0, 339.0).replace(q.NBSP, " ") == "5.22 ± 0.34 ms"
    assert q.latency_of(212.0, 0.143).replace(q.NBSP, " ") == "212 ± 0.14 µs"
    assert q.latency_of(0.5, 0.1).replace(q.NBSP, " ") == "500 ± 100 ns"
    assert q.throughput(55.2, 0.037).replace(q.NBSP, " ") == "55.2 ± 0.037 MiB/s"
    assert q.iops(6137.0, 398.0).replace(q.NBSP, " ") == "6,137 ± 398 IOPS"
    # What doesn't vary, or was measured once, has none.
    assert q.latency_of(212.0, 0.0) == q.latency_of(212.0, None) == q.latency(212.0)
    assert q.latency_of(None, 1.0) == q.DASH


def test_a_rate_of_0_is_no_limit_and_one_has_no_plural() -> None:
    assert q.parameter(0, "B/s") == "no limit"
    assert q.parameter(1, "commands") == f"1{q.NBSP}command"
    assert q.parameter(2, "commands") == f"2{q.NBSP}commands"
