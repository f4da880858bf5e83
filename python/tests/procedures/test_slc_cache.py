"""Bursts say what a cache takes: as much as the model says where the drive is empty, less where it
is full, and again after a pause long enough to fold it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small import small_model

from drivelab import model
from drivelab.model import Model
from drivelab.procedures import PROCEDURES
from drivelab.procedures.pieces import mean
from drivelab.procedures.slc_cache import BEHIND, PIECES_MIN, SlcCache, fast_pieces, piece_bytes_on
from drivelab.progress import TaskProgress
from drivelab.quantities import GB, MIB
from drivelab.targets import EngineTarget
from drivelab.workload import Job

BY_FILL, AFTER_PAUSE = PROCEDURES["cache-by-fill"], PROCEDURES["cache-after-pause"]
SCALE = 64
CACHED = model.load("samsung-980-pro-1tb", (("scale_divisor", str(SCALE)),))
CACHE_GB = 114.0 / SCALE
"""6 GB that are always there and 108 GB of free flash, as its specification says; while it is
filled it is emptied already."""


def measured(test: Any, drive: Model) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    progress = TaskProgress(test.id)
    found = test.measure(EngineTarget(drive, 1), 1, False, progress).found()
    # An empty drive is not filled first.
    assert 0.9 < progress.fraction < 1.01
    return found["tables"][0]["rows"], {v["name"]: v["value"] for v in found["values"]}


@given(st.integers(PIECES_MIN * 8 * MIB, 10**14))
def test_pieces_fit_the_drive(capacity_bytes: int) -> None:
    assert BY_FILL.fits(capacity_bytes)
    size = piece_bytes_on(capacity_bytes)
    assert size % MIB == 0
    assert PIECES_MIN <= capacity_bytes // size <= 1.2 * 500


def test_pieces_are_fast_until_several_in_a_row_are_slow() -> None:
    assert fast_pieces([9, 9, 9, 1, 1, 1, 1], 5) == 3
    # One that waited for something is not the end.
    assert fast_pieces([1, 9, 9, 1, 9, 1, 1, 1], 5) == 5
    assert fast_pieces([1] * BEHIND, 5) == 0
    assert fast_pieces([9] * BEHIND, 5) == BEHIND
    assert mean([100, 50]) == pytest.approx(2 / (1 / 100 + 1 / 50))


def test_a_cache_of_free_flash_shrinks_with_it() -> None:
    rows, values = measured(BY_FILL, CACHED)
    sizes = [row["cache_gb"] for row in rows]
    assert sizes[0] == values["empty_gb"] == pytest.approx(CACHE_GB, rel=0.1)
    assert sizes == sorted(sizes, reverse=True)
    # A tenth of the flash is free, and the spare area: three bits of it take one.
    free_gb = 0.1 * CACHED.engine.user_capacity_bytes / GB
    assert free_gb / 3 < values["full_gb"] < 0.8 * sizes[0]
    assert all(row["first_mb_per_s"] > row["behind_mb_per_s"] for row in rows)


def test_what_a_drive_keeps_in_its_cache_takes_its_place() -> None:
    """It leaves data there however long it rests: the next burst is slow from the beginning."""
    lazy = model.load("intel-660p-1tb", (("scale_divisor", str(SCALE)),))
    rows, values = measured(BY_FILL, lazy)
    assert values["empty_gb"] == pytest.approx(140 / SCALE, rel=0.2)
    assert {row["cache_gb"] for row in rows[1:]} == {0}
    assert values["left_percent"] == 0


def test_a_cache_of_all_free_flash_is_what_is_free_over_the_bits_of_a_cell() -> None:
    drive = model.load("crucial-t500-2tb", (("scale_divisor", str(SCALE)),))
    rows, _ = measured(BY_FILL, drive)
    derived = drive.description["derived"]
    flash_bytes = derived["raw_capacity_bytes"] - derived["held_back_bytes"]
    for row in rows:
        written = row["full_percent"] / 100 * derived["user_capacity_bytes"]
        expected = (flash_bytes - written) / 3 / GB
        # A small drive has few pieces.
        assert row["cache_gb"] == pytest.approx(expected, rel=0.12, abs=0.2), row["full_percent"]


def test_a_pause_makes_room_again() -> None:
    rows, values = measured(AFTER_PAUSE, CACHED)
    assert values["cache_gb"] == pytest.approx(CACHE_GB, rel=0.1)
    fast = [row["fast_gb"] for row in rows]
    assert fast == sorted(fast)
    assert fast[0] == 0
    assert fast[-1] == pytest.approx(values["cache_gb"], rel=0.05)
    assert values["after_300_s_percent"] == pytest.approx(100, rel=0.05)
    assert rows[0]["first_mb_per_s"] == values["used_up_mb_per_s"] < rows[-1]["first_mb_per_s"] / 2


def test_a_drive_without_a_cache_has_none() -> None:
    rows, values = measured(BY_FILL, small_model())
    assert {row["cache_gb"] for row in rows} == {None}
    assert values["empty_gb"] is values["left_percent"] is None
    assert values["full_mb_per_s"] == pytest.approx(rows[0]["first_mb_per_s"], rel=0.05)
    rows, values = measured(AFTER_PAUSE, small_model())
    assert {row["fast_gb"] for row in rows} == {None}
    assert values["after_10_s_percent"] is None
    assert values["used_up_mb_per_s"] > 0


@pytest.mark.parametrize("name", ["ocz-vertex-120gb", "samsung-ssd-830-256gb"])
def test_what_a_write_buffer_takes_is_no_cache(name: str) -> None:
    """Small versions have a buffer of whole size, and pieces that are no larger."""
    drive = model.load(name, (("scale_divisor", "128"),))
    rows, values = measured(BY_FILL, drive)
    assert {row["cache_gb"] for row in rows} == {None}
    assert values["empty_gb"] is values["full_gb"] is values["left_percent"] is None
    rows, values = measured(AFTER_PAUSE, drive)
    assert {row["fast_gb"] for row in rows} == {None}
    assert values["cache_gb"] is values["after_10_s_percent"] is None


def test_a_dip_is_no_end_of_a_cache() -> None:
    """A small Summit has four slow pieces in the middle, wherever a burst begins."""
    drive = model.load("ocz-summit-128gb", (("scale_divisor", "64"),))
    rows, values = measured(BY_FILL, drive)
    assert {row["cache_gb"] for row in rows} == {None}
    assert values["full_gb"] is values["left_percent"] is None
    _, values = measured(AFTER_PAUSE, drive)
    assert values["cache_gb"] is values["after_10_s_percent"] is None


@dataclass
class Dips:
    """A drive with a cache of so many bytes, in which it is slow once."""

    cache: int
    dip: tuple[int, int]
    capacity_bytes: int = 5000 * MIB
    written: int = 0
    slow: float = 1e8
    """Bytes a second in the dip and behind the cache; behind the dip `late`."""
    late: float = 1e9

    def clone(self) -> Dips:
        return replace(self)

    def parameter(self, key: str) -> float | None:
        return 0.0

    def run(self, jobs: list[Job], progress: TaskProgress, share: float) -> dict[str, Any]:
        progress.add(share)
        size = jobs[0].span_bytes or 0
        is_fast = self.written < self.cache and not self.dip[0] <= self.written < self.dip[1]
        is_late = self.written >= self.dip[1]
        rate = (self.late if is_late else 1e9) if is_fast else self.slow
        self.written += size
        seconds = size / rate
        nothing = {"mean": 0, "max": 0, "percentiles": {}}
        done = {"ios": 1, "bytes": size, "runtime_ns": seconds * 1e9, "latency_ns": nothing}
        return {"jobs": [{"write": done}]}


def test_a_burst_ends_behind_the_cache_and_not_in_a_dip() -> None:
    """What was looked at further is no part of it, and not on a drive that goes on."""
    size = 10 * MIB
    for goes_on in (False, True):
        drive = Dips(cache=60 * size, dip=(20 * size, 24 * size))
        assert isinstance(BY_FILL, SlcCache)
        progress = TaskProgress("burst")
        found = BY_FILL.write(cast(Any, drive), (0, 200), 1, progress, 1, goes_on=goes_on)
        assert progress.fraction == pytest.approx(1)
        assert found.cached == 60
        assert found.cached_mb_per_s == pytest.approx(1000)
        assert len(found.mb_per_s) == 60 + BEHIND
        assert not goes_on or drive.written == (60 + BEHIND) * size
    # The dip alone is none, as long as it is.
    drive = Dips(cache=500 * size, dip=(40 * size, 44 * size))
    found = BY_FILL.write(cast(Any, drive), (0, 200), 1, TaskProgress("burst"), 1, goes_on=True)
    assert (found.cached, len(found.mb_per_s)) == (None, 200)
    assert drive.written == 200 * size


def test_a_drive_that_is_faster_behind_a_dip_has_no_cache() -> None:
    """And no fall is found where nothing has been written yet."""
    size = 10 * MIB
    for at in (10, 20):
        dip = (at * size, (at + 4) * size)
        drive = Dips(cache=500 * size, dip=dip, slow=5e8, late=1.5e9)
        found = BY_FILL.write(cast(Any, drive), (0, 200), 1, TaskProgress("burst"), 1)
        assert (found.cached, len(found.mb_per_s)) == (None, 200)
        assert found.behind_mb_per_s is None
