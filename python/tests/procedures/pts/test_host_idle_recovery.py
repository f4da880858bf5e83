"""What pauses bring is told against a steady state, on drives with much spare area, too."""

from __future__ import annotations

from dataclasses import replace

import pytest

from drivelab import model
from drivelab.procedures import PROCEDURES
from drivelab.procedures.pts.performance_test import PerformanceTest
from drivelab.procedures.pts.settings import ABRIDGED
from drivelab.progress import TaskProgress
from drivelab.targets import EngineTarget


def test_the_trough_behind_the_spare_area_is_no_steady_state() -> None:
    """The drive holds back two fifths: random writes use them up, sink, and rise again."""
    test = PROCEDURES["pts-host-idle-recovery"]
    assert isinstance(test, PerformanceTest)
    drive = model.load("micron-7450-max-800gb", [("scale_divisor", "64")])
    # A phase of a few bursts would be one moment of a rate that swings.
    short = replace(test, lengths=replace(ABRIDGED, idle_bursts=12))
    found = short.measure(EngineTarget(drive, 1), 1, False, TaskProgress(test.id)).found()
    assert found["steady_state"]["reached"]
    steady = next(v["value"] for v in found["values"] if v["name"] == "steady_iops")
    tables = {table["name"]: table["rows"] for table in found["tables"]}
    trough = min(row["iops"] for row in tables["samples"])
    assert trough < 0.85 * steady
    for row in tables["waits"]:
        assert row["after_iops"] == pytest.approx(steady, rel=0.08)
        # Against the trough it would be twice as much and more.
        against_trough = 100 * (row["late_iops"] / trough - 1)
        assert 0 < row["gain_over_after_percent"] < against_trough / 2
