"""A fill: what it says of a cache is what the drive has, and of a drive without one nothing."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small import small_model

from drivelab import model
from drivelab.model import Model
from drivelab.procedures import PROCEDURES
from drivelab.procedures.fill import PIECES, bounds_on, cache_pieces
from drivelab.progress import TaskProgress
from drivelab.quantities import GB, MIB
from drivelab.targets import EngineTarget

FILL = PROCEDURES["fill"]


def measured(drive: Model, quick: bool = False) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    target = EngineTarget(drive, 1)
    found = FILL.measure(target, 1, quick, TaskProgress("fill")).found()
    rows = found["tables"][0]["rows"]
    once = target.counters()["host_write_bytes"] / GB
    assert once == pytest.approx(rows[-1]["written_gb"]), "everything is written once"
    return rows, {v["name"]: v["value"] for v in found["values"]}


@given(st.integers(100 * MIB, 10**13), st.sampled_from([PIECES // 4, PIECES, 5 * PIECES]))
def test_pieces_are_the_whole_drive_in_order(capacity_bytes: int, pieces: int) -> None:
    assert FILL.fits(capacity_bytes)
    bounds = bounds_on(capacity_bytes, pieces)
    assert bounds[0] == 0
    assert capacity_bytes - MIB < bounds[-1] <= capacity_bytes
    assert len(bounds) - 1 <= pieces
    assert all(start < end and not end % MIB for start, end in pairwise(bounds))


def test_a_cache_ends_where_the_speed_falls_at_once() -> None:
    assert cache_pieces([100.0] * 40 + [80.0] + [20.0] * 50) == 41
    assert cache_pieces([100.0] * 40 + [70.0] + [20.0] * 50) == 40
    # Full, and full again after it was emptied: the first time counts.
    assert cache_pieces([100.0] * 20 + [20.0] * 20 + [100.0] * 20 + [20.0] * 20) == 20
    # A pause of the drive is no end, nor is what zone after zone of a disk loses.
    assert cache_pieces([100.0] * 40 + [20.0] * 2 + [100.0] * 40) is None
    assert cache_pieces([100.0 - 0.3 * piece for piece in range(200)]) is None
    assert cache_pieces([100.0] * 3) is None
    # Too small to be told from a drive that begins fast: nothing is said of it.
    assert cache_pieces([100.0] * 2 + [20.0] * 48) is None
    assert cache_pieces([545.0, 545.0, 140.0] + [120.0] * 47) is None
    assert cache_pieces([100.0] * 3 + [20.0] * 47) == 3


def test_what_is_slow_for_less_than_was_fast_is_no_end() -> None:
    assert cache_pieces([100.0] * 60 + [40.0] * 4 + [100.0] * 60) is None
    # The cache ends behind it, or was one before that.
    assert cache_pieces([100.0] * 30 + [40.0] * 4 + [100.0] * 26 + [20.0] * 40) == 60
    assert cache_pieces([100.0] * 30 + [20.0] * 30 + [100.0] * 90) == 30
    # To the end of the drive is for long enough, and folding lets it be fast now and then.
    assert cache_pieces([100.0] * 96 + [20.0] * 4) == 96
    assert cache_pieces([100.0] * 40 + [60.0, 60.0, 60.0, 100.0] * 10) == 40


def test_a_dip_of_a_fill_is_no_cache() -> None:
    """Of the 192 pieces of a small Summit four in the middle are slow."""
    rows, values = measured(model.load("ocz-summit-128gb", (("scale_divisor", "64"),)))
    mb_per_s = [row["mb_per_s"] for row in rows]
    slow = [speed for speed in mb_per_s if speed < 0.97 * values["mean_mb_per_s"]]
    assert 3 <= len(slow) < len(rows) / 10
    assert values["cache_gb"] is values["cache_percent"] is None


def test_a_quick_fill_finds_a_cache_that_is_a_25th_of_its_drive() -> None:
    drive = model.load("samsung-870-qvo-1tb", (("scale_divisor", "64"),))
    _, values = measured(drive, quick=True)
    slc_gb = float(drive.value("slc_cache.max_bytes") or 0) / GB
    assert values["cache_gb"] == pytest.approx(slc_gb, rel=0.2)
    assert values["behind_mb_per_s"] < values["cached_mb_per_s"] / 3


@pytest.mark.parametrize("quick", [False, True])
def test_a_fill_finds_the_cache_of_its_drive(quick: bool) -> None:
    drive = model.load("samsung-980-pro-1tb", (("scale_divisor", "64"),))
    rows, values = measured(drive, quick)
    cache_gb = float(drive.value("slc_cache.max_bytes")) / GB
    assert values["cache_gb"] == pytest.approx(cache_gb, abs=1.5 * rows[0]["written_gb"])
    assert values["cache_percent"] == pytest.approx(
        100 * values["cache_gb"] / rows[-1]["written_gb"]
    )
    assert values["behind_mb_per_s"] < values["mean_mb_per_s"] < values["cached_mb_per_s"]
    assert values["lowest_mb_per_s"] == min(row["mb_per_s"] for row in rows)
    assert values["cached_mb_per_s"] == pytest.approx(rows[1]["mb_per_s"], rel=0.05)


def test_a_drive_without_a_cache_has_none_in_its_fill() -> None:
    without = (("scale_divisor", "64"), ("slc_cache.max_bytes", "0"))
    for drive in (small_model(), model.load("samsung-980-pro-1tb", without)):
        _, values = measured(drive)
        nothing = {"cache_gb", "cache_percent", "cached_mb_per_s", "behind_mb_per_s"}
        assert {name for name, value in values.items() if value is None} == nothing
        assert 0 < values["lowest_mb_per_s"] <= values["mean_mb_per_s"]


def test_what_a_write_buffer_takes_is_no_cache() -> None:
    # Of two pieces, emptied at three quarters of what fills it: 2 / (1 - 3 / 4) are fast.
    found = [133.0] * 8 + [100.0] * 92
    assert cache_pieces(found, 2) is None
    assert cache_pieces(found) == 8
    # What is more than twice as much something else has taken, and a cache may follow.
    assert cache_pieces([133.0] * 17 + [100.0] * 83, 2) == 17
    assert cache_pieces([*found[:50], *[20.0] * 50], 2) == 50


@pytest.mark.parametrize("name", ["ocz-vertex-120gb", "samsung-ssd-830-256gb"])
@pytest.mark.parametrize("divisor", [64, 128])
def test_a_small_version_of_a_drive_with_a_buffer_has_no_cache(name: str, divisor: int) -> None:
    rows, values = measured(model.load(name, (("scale_divisor", str(divisor)),)))
    assert values["cache_gb"] is values["cached_mb_per_s"] is values["behind_mb_per_s"] is None
    assert rows[0]["mb_per_s"] > 1.2 * values["mean_mb_per_s"], "the buffer is seen in the fill"
