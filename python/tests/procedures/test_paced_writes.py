"""Reads beside paced writes: what is asked for is written, and reads wait as busy dies say."""

from __future__ import annotations

from typing import Any

import pytest
from small import MODEL_NAME, OVERRIDES, small_model

from drivelab import model, states
from drivelab.model import Model
from drivelab.procedures import PROCEDURES
from drivelab.procedures.paced_writes import QUICK_SHARES, SHARES, _behind
from drivelab.progress import TaskProgress
from drivelab.targets import EngineTarget

TEST = PROCEDURES["paced-writes"]
WORD_LINES = (("scale_divisor", "72"),)


def measured(
    drive: Model, state: str, quick: bool = False
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    target = EngineTarget(drive, 1)
    states.find(state).prepare(target, lambda _: 1, TaskProgress(state))
    before = target.counters()
    found = TEST.measure(target, 1, quick, TaskProgress(TEST.id)).found()
    assert target.counters() == before, "points run on copies"
    return found["tables"][0]["rows"], {v["name"]: v["value"] for v in found["values"]}


def test_a_drive_writes_what_it_is_asked_for_and_reads_wait_the_more() -> None:
    rows, values = measured(small_model(), "used")
    assert [row["share_percent"] for row in rows] == [100 * share for share in SHARES]
    for row in rows:
        share = row["share_percent"] / 100
        assert row["writes_per_s"] == pytest.approx(share * values["saturation_iops"], rel=0.02)
    means = [row["mean_ms"] for row in rows]
    assert means == sorted(means)
    # A read alone meets nothing; beside writes some wait for the end of a program.
    assert rows[0]["max_ms"] == pytest.approx(rows[0]["p50_ms"], rel=0.05)
    program_ms = float(small_model().value("flash.program_ns")) / 1e6
    assert program_ms < values["last_p99_ms"] - values["alone_p99_ms"] < 2.5 * program_ms
    assert values["half_mean_times"] == pytest.approx(means[SHARES.index(0.5)] / means[0])


def test_reads_that_suspend_programs_wait_less() -> None:
    name = "micron-7450-max-800gb"
    _, suspending = measured(model.load(name, WORD_LINES), "filled", quick=True)
    longer = (*WORD_LINES, ("flash.program_suspend_ns", "300000"))
    _, slower = measured(model.load(name, longer), "filled", quick=True)
    assert suspending["alone_p99_ms"] == slower["alone_p99_ms"]
    assert slower["half_mean_times"] > 1.3 * suspending["half_mean_times"]
    program_ms = float(model.load(name).value("flash.program_ns")) / 1e6
    assert suspending["half_p99_ms"] < 0.3 * program_ms


def test_a_hard_disk_has_one_arm_for_both() -> None:
    rows, values = measured(model.load("wd-velociraptor-300gb"), "new", quick=True)
    assert [row["share_percent"] for row in rows] == [100 * share for share in QUICK_SHARES]
    assert values["half_mean_times"] > 1.3
    assert rows[-1]["reads_per_s"] < 0.5 * rows[0]["reads_per_s"]


def test_what_a_slow_drive_has_no_point_for_is_not_there() -> None:
    slow = (("write_buffer.size_bytes", "4096"), ("flash.program_ns", "3600000000000"))
    target = EngineTarget(model.load(MODEL_NAME, (*OVERRIDES, *slow)), 1)
    found = TEST.measure(target, 1, True, TaskProgress(TEST.id)).found()
    values = {v["name"]: v["value"] for v in found["values"]}
    assert values["half_p99_ms"] is None
    assert values["last_p99_ms"] is None
    assert values["half_mean_times"] is None
    assert [note.split(":")[0] for note in found["notes"]] == [
        "no point at 50 % of saturation",
        "no point at 90 % of saturation",
    ]


@pytest.mark.parametrize(
    ("drive", "state", "told"),
    [
        (("micron-7450-max-800gb", 32), "filled", "nothing was cleaned or folded while"),
        (("crucial-t500-2tb", 64), "filled", "% of the first's writes"),
        (("intel-x25-m-g1-80gb", 16), "used", "free blocks"),
        (("wd-velociraptor-300gb", 1), "new", ""),
    ],
)
def test_a_saturation_that_does_not_last_is_told(
    drive: tuple[str, int], state: str, told: str
) -> None:
    name, divisor = drive
    made = model.load(name, [("scale_divisor", str(divisor))] if divisor > 1 else [])
    target = EngineTarget(made, 1)
    if state != "new":
        states.find(state).prepare(target, lambda _: 1, TaskProgress("prepare"))
    notes = TEST.measure(target, 1, True, TaskProgress(TEST.id)).notes
    assert [told in note for note in notes] == ([True] if told else [])


def test_a_saturation_that_lasts_is_not_told() -> None:
    target = EngineTarget(small_model(), 1)
    states.find("used").prepare(target, lambda _: 1, TaskProgress("prepare"))
    assert TEST.measure(target, 1, False, TaskProgress(TEST.id)).notes == ()


def test_points_that_a_drive_does_not_keep_up_with_say_so() -> None:
    rows = [
        {"share_percent": 0.0, "writes_per_s": 0.0},
        # One of three is under way when the time is over.
        {"share_percent": 10.0, "writes_per_s": 2 / 2.25},
        {"share_percent": 75.0, "writes_per_s": 7300.0},
        {"share_percent": 90.0, "writes_per_s": 7700.0},
    ]
    [note] = _behind(rows, [0, 1, 7500, 9000], 2.25)
    assert note.startswith("at 90 % of saturation the drive did 7700 writes a second of 9000: ")
