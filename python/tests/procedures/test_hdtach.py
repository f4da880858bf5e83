from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small import small_model

from drivelab import model, results
from drivelab.procedures import PROCEDURES
from drivelab.procedures.hdtach import ZONES_MAX, pass_record, zones
from drivelab.progress import TaskProgress
from drivelab.quantities import KIB, MIB
from drivelab.targets import EngineTarget

BLOCK = 64 * KIB


@given(st.integers(BLOCK, 10**12))
def test_zones_are_the_whole_drive_in_order(capacity_bytes: int) -> None:
    parts = zones(capacity_bytes, BLOCK)
    assert parts[0][0] == 0
    assert all(start + size == after for (start, size), (after, _) in pairwise(parts))
    assert capacity_bytes - BLOCK < sum(parts[-1]) <= capacity_bytes
    assert len(parts) <= ZONES_MAX
    sizes = [size for _, size in parts]
    assert max(sizes) - min(sizes) <= BLOCK
    assert min(sizes) > 0


def test_a_pass_counts_its_dips_and_averages_over_positions() -> None:
    record = pass_record(MIB, [100.0] * 90 + [10.0] * 2 + [100.0] * 5 + [20.0] + [100.0] * 2)
    assert record["dips"] == 2
    assert record["floor_mb_per_s"] == 10.0
    assert record["median_mb_per_s"] == 100.0
    assert record["mean_mb_per_s"] == pytest.approx(97.4)


@pytest.mark.parametrize("quick", [False, True])
def test_a_pass_moves_every_block_once(quick: bool) -> None:
    target = EngineTarget(small_model(), 1)
    test = PROCEDURES["hdtach-write"]
    measured = test.measure(target, 1, quick, TaskProgress(test.id))
    record = results.measured_record("m", "new", test, measured)
    share = 1 / 16 if quick else 1.0
    assert record["bytes"] == pytest.approx(share * target.capacity_bytes, rel=0.03)
    assert record["host_write_bytes"] == record["bytes"]
    latency = record["latency_us"]
    assert latency["min"] <= latency["mean"] <= latency["max"]
    assert sum(record["split_mean_us"].values()) == pytest.approx(latency["mean"])
    # Queue depth 1: one command after the other fills the time.
    assert latency["mean"] * record["ios"] / 1e6 == pytest.approx(record["duration_s"], rel=1e-6)
    assert record["mib_per_s"] * MIB / 1e6 == pytest.approx(
        record["pass"]["mean_mb_per_s"], rel=0.1
    )


def test_a_pass_read_of_a_new_drive_is_flat() -> None:
    target = EngineTarget(small_model(), 1)
    test = PROCEDURES["hdtach-read"]
    measured = test.measure(target, 1, True, TaskProgress(test.id)).more["pass"]
    assert measured["floor_mb_per_s"] == pytest.approx(measured["mean_mb_per_s"], rel=1e-6)
    assert measured["dips"] == 0


def test_samples_of_a_quick_pass_are_not_those_of_the_write_buffer() -> None:
    """A zone of this small version is less than its buffer, which takes a sample or is full."""
    drive = model.load("micron-7450-max-800gb", [("scale_divisor", "64")])
    test = PROCEDURES["hdtach-write"]
    measured = test.measure(EngineTarget(drive, 1), 1, True, TaskProgress(test.id))
    assert measured.report is not None
    mean = measured.report["jobs"][0]["write"]["bytes_per_s"] / 1e6
    found = measured.more["pass"]
    assert found["mean_mb_per_s"] == pytest.approx(mean, rel=0.05)
    assert found["floor_mb_per_s"] > 0.8 * mean
    assert found["dips"] == 0
