"""What one stream of requests says beside its numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from drivelab import model
from drivelab.procedures import PROCEDURES
from drivelab.procedures.stream import Stream
from drivelab.progress import TaskProgress
from drivelab.quantities import MIB
from drivelab.targets import EngineTarget


def notes_of(name: str, divisor: int, duration_s: float) -> tuple[str, ...]:
    """Of 128 KiB sequential writes for so long, on a small new drive."""
    test = PROCEDURES["sequential-write-128k-qd1"]
    assert isinstance(test, Stream)
    target = EngineTarget(model.load(name, [("scale_divisor", str(divisor))]), 1)
    short = replace(test, duration_s=duration_s)
    return short.measure_noted(target, 1, False, TaskProgress(test.id)).notes


def test_writes_that_go_beyond_an_slc_cache_say_that_their_mean_is_of_two_speeds() -> None:
    note, small = notes_of("samsung-980-1tb", 64, 12)
    assert small.startswith("a small version, 1/64 of the drive: ")
    words = note.split()
    seconds, before, after = (float(words[words.index(to) + 1]) for to in ("after", "from", "to"))
    drive = model.load("samsung-980-1tb", [("scale_divisor", "64")])
    # Filled while it empties: it takes more than it holds.
    holds_mib = drive.description["derived"]["slc_cache_bytes"] / MIB
    assert before * (seconds + 1) > holds_mib
    assert after < before / 2


@pytest.mark.parametrize(
    ("name", "divisor"),
    [("samsung-980-1tb", 1), ("samsung-pm9a3-960gb", 64), ("intel-x25-m-g1-80gb", 64)],
)
def test_writes_within_the_cache_or_without_one_say_nothing(name: str, divisor: int) -> None:
    assert not any("SLC" in note for note in notes_of(name, divisor, 6))
