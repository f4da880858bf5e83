"""What random writes bring second by second, held against the requests that were counted."""

from __future__ import annotations

from typing import Any

import pytest
from small import small_model

from drivelab import model, states
from drivelab.procedures import PROCEDURES
from drivelab.procedures.consistency import (
    _after_fill,
    _not_written_over,
    _trough,
    _without_trough,
    seconds_of,
)
from drivelab.procedures.pace import TOGETHER, held_seconds
from drivelab.progress import TaskProgress
from drivelab.quantities import GIB, MIB
from drivelab.targets import EngineTarget

TEST = PROCEDURES["consistency"]
NEVER_FELL = "no 3 s together were slower than 0.9 of the first seconds' speed: there is no trough"


@pytest.fixture(scope="module")
def found() -> tuple[list[dict[str, Any]], dict[str, Any], EngineTarget]:
    target = EngineTarget(small_model(), 1)
    states.find("filled").prepare(target, lambda _: 1, TaskProgress("fill"))
    record = TEST.measure(target, 1, False, TaskProgress(TEST.id)).found()
    values = {v["name"]: v["value"] for v in record["values"]}
    return record["tables"][0]["rows"], values, target


def test_seconds_add_up_to_what_was_written(found: Any) -> None:
    rows, _, target = found
    counted = sum(row["iops"] for row in rows) * 4096
    filled = target.capacity_bytes
    written = target.counters()["host_write_bytes"] - filled
    # The second in which the writes ended is no whole one.
    assert 0 <= written - counted < 50 * MIB
    assert [row["second"] for row in rows] == [*range(1, len(rows) + 1)]


def test_full_speed_lasts_as_long_as_the_spare_area(found: Any) -> None:
    rows, values, _ = found
    drive = small_model()
    spare_gib = drive.engine.user_capacity_bytes * (drive.effective_spare_ratio or 0) / GIB
    a_second_gib = values["first_iops"] * 4096 / GIB
    assert values["full_speed_gib"] == pytest.approx(spare_gib, abs=2 * a_second_gib)
    assert values["trough_iops"] < values["last_iops"] <= 1.1 * values["overshoot_iops"]
    assert 0 < values["least_percent"] <= 100
    assert values["longest_ms"] >= max(row["max_ms"] or 0 for row in rows)


@pytest.mark.parametrize(
    ("iops", "told"),
    [
        ([9.0] * 30, "has not fallen yet"),
        ([9.0] * 25 + [3.0] * 5, "fell within the last third"),
        ([9.0] * 5 + [3.0] * 25, "the pace may change"),
    ],
)
def test_a_drive_that_was_not_written_over_says_that_its_pace_is_none_that_remains(
    iops: list[float], told: str
) -> None:
    rows = [{"second": index + 1, "iops": each} for index, each in enumerate(iops)]
    flash = EngineTarget(small_model(), 1)
    [note] = _not_written_over(rows, 0.091, flash)
    assert note.startswith("the time was over when 9.1 % of the drive were written: ")
    assert told in note
    [note] = _not_written_over(rows, 0.996, flash)
    assert note.startswith("the time was over when 99.6 % of")
    assert _not_written_over(rows, 1.0, flash) == ()


def test_a_minute_of_a_drive_says_so() -> None:
    target = EngineTarget(model.load("intel-x25-m-g1-80gb", [("scale_divisor", "16")]), 1)
    states.find("filled").prepare(target, lambda _: 1, TaskProgress("fill"))
    notes = TEST.measure(target, 1, True, TaskProgress(TEST.id)).notes
    assert [note[:17] for note in notes] == ["the time was over", "a small version, "]


def test_a_drive_that_was_written_over_says_when_and_a_hard_disk_that_it_never_falls() -> None:
    target = EngineTarget(small_model(), 1)
    states.find("filled").prepare(target, lambda _: 1, TaskProgress("fill"))
    found = TEST.measure(target, 1, False, TaskProgress(TEST.id))
    seconds = len(found.tables[0].rows)
    assert found.notes == (
        f"the drive was written 1.5 times over in {seconds} of 1800 s, which ended the test: "
        f"its last third is {seconds // 3} s",
    )
    disk = EngineTarget(model.load("wd-velociraptor-300gb", []), 1)
    found = TEST.measure(disk, 1, True, TaskProgress(TEST.id))
    assert found.notes == (NEVER_FELL,)
    missing = {value.name for value in found.values if value.value is None}
    assert missing == {"full_speed_gib", "trough_iops", "overshoot_iops"}


@pytest.mark.parametrize(
    ("iops", "said", "notes"),
    [
        ([9.0] * 30, False, (NEVER_FELL,)),
        ([9.0] * 30, True, ()),
        ([9.0] * 25 + [3.0] * 5, False, ("fell 5 s before the end",)),
        ([9.0] * 20 + [3.0] * 10, True, ("fewer than 10 s follow",)),
        ([9.0] * 5 + [3.0] * 10 + [4.0] * 5, False, ("fewer than 10 s follow",)),
        ([9.0] * 5 + [3.0] * 25, False, ()),
    ],
)
def test_values_that_are_missing_are_missing_for_a_reason(
    iops: list[float], said: bool, notes: tuple[str, ...]
) -> None:
    """A disk had three without a word, and so had a drive whose speed fell at the end."""
    told = _without_trough([{"iops": each} for each in iops], said)
    assert len(told) == len(notes)
    assert all(note in each for note, each in zip(notes, told, strict=True))
    values = {value.name: value.value for value in _after_fill([{"iops": i} for i in iops])}
    assert (None in values.values()) == bool(told or said)


def test_the_speed_falls_where_several_seconds_are_slower() -> None:
    assert held_seconds([10, 10, 10, 4, 4, 4, 9]) == 3
    assert held_seconds([10, 10, 4, 10, 10, 10, 10]) is None
    assert held_seconds([10]) is None


def test_what_follows_the_trough_is_not_the_trough() -> None:
    assert _trough([50.0] * TOGETHER + [40.0] * TOGETHER + [70.0] * TOGETHER) == (40.0, 70.0)
    assert _trough([50.0] * TOGETHER + [40.0] * TOGETHER) == (40.0, None)
    assert _trough([40.0] * (TOGETHER - 1)) == (None, None)


def test_a_second_without_a_request_has_no_latency() -> None:
    series = {
        "interval_ns": 10**9,
        "ios": [5, 0, 3, 1],
        "latency_mean_ns": [10**6, 0, 2 * 10**6, 1],
        "latency_p99_ns": [10**6, 0, 2 * 10**6, 1],
        "latency_max_ns": [10**6, 0, 2 * 10**6, 1],
    }
    rows = seconds_of(series)
    assert [row["iops"] for row in rows] == [5, 0, 3]
    assert [row["max_ms"] for row in rows] == [1, None, 2]
    assert rows[1] == {"second": 2, "iops": 0, "mean_ms": None, "p99_ms": None, "max_ms": None}
