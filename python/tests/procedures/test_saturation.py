"""A light queue beside full ones: what it waits follows from how a drive takes commands in."""

from __future__ import annotations

from typing import Any

import pytest

from drivelab import model, states
from drivelab.procedures import PROCEDURES
from drivelab.progress import TaskProgress
from drivelab.targets import EngineTarget

TEST = PROCEDURES["saturation"]


def measured(name: str, scale: int, **changes: str) -> tuple[dict[int, Any], dict[str, Any]]:
    overrides = {"scale_divisor": str(scale)} | {
        key.replace("__", "."): value for key, value in changes.items()
    }
    target = EngineTarget(model.load(name, tuple(overrides.items())), 1)
    states.find("used").prepare(target, lambda _: 1, TaskProgress("used"))
    found = TEST.measure(target, 1, True, TaskProgress(TEST.id)).found()
    rows = {row["full_queues"]: row for row in found["tables"][0]["rows"]}
    return rows, {v["name"]: v["value"] for v in found["values"]}


def notes(name: str, state: str, quick: bool) -> tuple[str, ...]:
    target = EngineTarget(model.load(name, [("scale_divisor", "64")]), 1)
    states.find(state).prepare(target, lambda _: 1, TaskProgress(state))
    return tuple(TEST.measure(target, 1, quick, TaskProgress(TEST.id)).notes)


def test_one_queue_makes_all_wait_alike() -> None:
    """Little's law: what is outstanding, over what is done a second."""
    rows, values = measured("samsung-pm9a3-960gb", 64, nvme__queue_count="1")
    six = rows[6]
    outstanding_writes = 6 * 64
    assert six["full_write_ms"] == pytest.approx(
        1000 * outstanding_writes / six["writes_per_s"], rel=0.05
    )
    assert 0.8 < values["fairness"] < 1.2


def test_a_drive_that_goes_round_its_queues_favours_the_light_one() -> None:
    rows, values = measured("samsung-pm9a3-960gb", 64)
    assert values["fairness"] < 0.8
    assert rows[0]["full_write_ms"] is None
    assert values["alone_read_ms"] == rows[0]["light_read_ms"] < values["read_ms"]


def test_writes_that_get_slower_meanwhile_are_no_rate_that_remains() -> None:
    [note] = notes("samsung-980-pro-1tb", "used", True)
    assert note.startswith("the last third of the time had ")
    assert "not what remains" in note
    # After twenty minutes of the same nothing falls but what a pause cleaned, for a second or two.
    assert notes("intel-x25-m-g1-80gb", "tortured", False) == ()


def test_a_drive_of_one_queue_is_measured_like_any_other() -> None:
    rows, values = measured("intel-x25-m-g1-80gb", 64)
    assert rows[6]["light_write_ms"] > 10 * rows[0]["light_write_ms"]
    assert values["read_p99_ms"] >= values["read_ms"]


def test_a_light_queue_of_which_nothing_was_done_is_said_to_have_no_numbers() -> None:
    """A disk takes seconds for what 384 writers have outstanding: a write or two at most."""
    target = EngineTarget(model.load("wd-velociraptor-300gb"), 1)
    starved = 0
    for seed in range(6):
        found = TEST.measure(target, seed, True, TaskProgress(TEST.id))
        rows = found.found()["tables"][0]["rows"]
        for op in ("read", "write"):
            told = [note for note in found.notes if f" no {op} was done" in note]
            lacking = any(row[f"light_{op}_ms"] is None for row in rows)
            assert len(told) == lacking
            starved += lacking
    assert starved
