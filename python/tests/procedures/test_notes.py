"""What tests say of themselves on small versions, in quick reviews, and on drives that take few
commands at once."""

from __future__ import annotations

import pytest

from drivelab import model
from drivelab.procedures import PROCEDURES
from drivelab.procedures.measured import Measured
from drivelab.progress import TaskProgress
from drivelab.targets import EngineTarget

FIXED = (
    *("alignment", "atto", "crystaldiskmark", "iometer-database", "random-write-4k-qd3-sector"),
    *("paced-writes", "saturation", "read-span", "partition", "pts-latency", "sysmark-2007"),
)
"""Tests of so many seconds or bytes, whatever the drive's size."""
SCALED = ("fill", "hdtach-write", "spare-area", "fill-level", "skew", "power-idle")
"""Tests of shares of the drive, or of none of it."""


def quick(test_id: str, name: str, divisor: int = 64) -> Measured:
    """A quick run on a new small version, as a review does it."""
    test = PROCEDURES[test_id]
    target = EngineTarget(model.load(name, [("scale_divisor", str(divisor))]), 1)
    return test.measure_noted(target, 1, True, TaskProgress(test.id))


def test_which_tests_have_a_fixed_length() -> None:
    assert [name for name in FIXED if not PROCEDURES[name].has_fixed_length] == []
    assert [name for name in SCALED if PROCEDURES[name].has_fixed_length] == []


@pytest.mark.parametrize("test_id", ["alignment", "atto", "pts-latency"])
def test_a_test_of_fixed_length_says_so_of_a_small_version(test_id: str) -> None:
    notes = quick(test_id, "intel-x25-m-g1-80gb").notes
    assert [note for note in notes if note.startswith("a small version, 1/64 of the drive: sec")]


def test_quick_results_that_are_not_those_of_the_whole_test_say_so() -> None:
    for test_id, words in (
        ("hdtach-write", "quick: passes are samples of 1/16, and skip the rest"),
        ("crystaldiskmark", "quick: the fastest of 2 runs of 1 s, not of 5 of 5 s"),
    ):
        assert any(note.startswith(words) for note in quick(test_id, "crucial-m4-256gb").notes)


@pytest.mark.parametrize("test_id", ["fill", "cache-by-fill", "cache-after-pause"])
def test_a_drive_without_an_slc_cache_is_said_to_have_none(test_id: str) -> None:
    found = quick(test_id, "intel-x25-m-g1-80gb")
    [note] = found.notes
    assert note.startswith("the speed falls nowhere as it does behind an SLC cache")
    assert [value.value for value in found.values if value.name in ("cache_gb", "empty_gb")] == [
        None
    ]


def test_a_queue_depth_that_a_drive_does_not_take_is_said() -> None:
    one_command = "the drive takes 1 command at once: "
    notes = quick("consistency", "jmicron-jmf602b-64gb").notes
    assert f"{one_command}QD32 is QD1 here" in notes
    found = quick("pts-latency", "jmicron-jmf602b-64gb")
    assert any(one_command[1:] in text for text in found.deviations)
    assert not any(
        "at once" in text for text in quick("pts-latency", "samsung-pm9a3-960gb").deviations
    )


def test_quick_bursts_of_host_idle_recovery_have_pauses_before_them() -> None:
    found = quick("pts-host-idle-recovery", "intel-x25-m-g1-80gb")
    [table] = [table for table in found.tables if table.name == "waits"]
    for row in table.rows[1:]:
        gain = row["gain_over_after_percent"]
        assert isinstance(gain, float)
        assert gain > 0, row
