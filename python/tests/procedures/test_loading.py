"""Seconds that one waits: what of them is the drive's."""

from __future__ import annotations

import re

import pytest
from small import small_model

from drivelab import model
from drivelab.applications import copying
from drivelab.applications.scenario import place_on
from drivelab.procedures import PROCEDURES
from drivelab.progress import TaskProgress
from drivelab.quantities import GIB, MIB
from drivelab.targets import EngineTarget

LOADS = ("boot", "three-programs", "game-realm", "level-load")


def values_of(test_id: str, target: EngineTarget, *, quick: bool = True) -> dict[str, float]:
    found = PROCEDURES[test_id].measure(target, 1, quick, TaskProgress(test_id)).found()
    return {value["name"]: value["value"] for value in found["values"]}


@pytest.mark.parametrize("test_id", LOADS)
def test_only_the_drives_part_depends_on_the_drive(test_id: str) -> None:
    disk = values_of(test_id, EngineTarget(model.load("wd-velociraptor-300gb"), 1))
    ssd = values_of(test_id, EngineTarget(small_model(), 1))
    assert 0 < ssd["drive_s"] < disk["drive_s"]
    rest = [values["time_s"] - values["drive_s"] for values in (disk, ssd)]
    assert rest[0] == pytest.approx(rest[1])


def test_the_fitted_seconds_are_those_of_the_review() -> None:
    disk = EngineTarget(model.load("wd-velociraptor-300gb"), 1)
    times = {
        name: values_of(name, disk.clone(), quick=False)["time_s"]
        for name in ("three-programs", "game-realm")
    }
    assert times["three-programs"] == pytest.approx(41.2, rel=0.02)  # AN-231
    assert times["game-realm"] == pytest.approx(12.5, rel=0.02)  # AN-038


def notes_of(test_id: str, target: EngineTarget) -> list[str]:
    found = PROCEDURES[test_id].measure(target, 1, True, TaskProgress(test_id)).found()
    return list(found["notes"])


def test_a_drive_without_room_for_the_files_says_so() -> None:
    """A scaled drive copies less than the title's GiB, and in fewer seconds."""
    small = EngineTarget(model.load("intel-x25-m-g2-160gb", [("scale_divisor", "16")]), 1)
    large = EngineTarget(model.load("wd-velociraptor-300gb"), 1)
    for test_id in ("boot", "game-realm"):
        assert any("room for" in note for note in notes_of(test_id, small.clone()))
    [note] = [note for note in notes_of("file-copy", small.clone()) if "room for" in note]
    place = place_on(small.capacity_bytes)
    mib = int(re.findall(r"a folder of (\d+) MiB, not 1024 MiB", note)[0])
    # What is copied, and where it is read from, and what lies between.
    assert GIB < 3 * mib * MIB < place.size_bytes < copying.SPAN_BYTES
    assert not any("room for" in note for note in notes_of("file-copy", large))


def test_a_copy_is_slower_than_reading_and_ends_on_the_drive() -> None:
    target = EngineTarget(small_model(), 1)
    values = values_of("file-copy", target)
    assert 0 < values["mb_per_s"] < 150
    assert values["time_s"] > 0
    used = target.counters()
    assert used["host_write_bytes"] > 0
