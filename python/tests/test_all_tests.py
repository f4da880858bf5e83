"""Every test of the laboratory on drives unlike the one it was written for."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from drivelab import cli, procedures

# As small as every test finds room that found it in twice as much: more only takes longer.
SMALL = ("--set", "flash.blocks_per_plane=64", "--set", "user_capacity_bytes=999997440")
DRIVES = {
    # Half a second for a small write: whatever is timed ends late.
    "jmicron-jmf602b-64gb": (SMALL, False),
    "wd-velociraptor-300gb": ((), True),
}


@pytest.mark.parametrize("model", DRIVES)
def test_every_test_runs_on_any_drive(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings, disk = DRIVES[model]
    words = ["--tests", "all", "--states", "new", "--quick", "--workers", "1"]
    assert cli.run(["review", model, *settings, *words, "--out", str(tmp_path)]) == 0
    found = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    ran = {test["id"]: test for test in found["tests"]}
    capacity = found["models"][0]["user_capacity_bytes"]
    every = procedures.select(["all"], disk=disk)
    # Only what is too large for the drive is left out, and that is said.
    assert list(ran) == [test.id for test in every if test.fits(capacity)]
    said = capsys.readouterr().err
    assert all(test.id in said for test in every if test.id not in ran)
    empty = [name for name, record in ran.items() if not something_was_measured(record)]
    # A superblock map has no model of wrong bits; nothing is asked of a resting drive.
    assert empty == [name for name in ("endurance", "retention", "power-idle") if name in ran]


def something_was_measured(record: dict[str, Any]) -> bool:
    """Whether a record holds what its test is for; what it holds must be numbers that can be."""
    if record["kind"] == "stream":
        if not record["ios"]:
            return False
        assert record["bytes"] == pytest.approx(record["ios"] * record["block_bytes"], rel=0.01)
        # Of so many requests outstanding, each took that long: Little's law, edges aside.
        outstanding = record["iops"] * record["latency_us"]["mean"] / 1e6
        assert 0 < outstanding <= record["queue_depth"] * 1.001
        return True
    numbers = [value["value"] for value in record["values"] if value["value"] is not None]
    assert all(math.isfinite(value) for value in numbers)
    return any(value > 0 for value in numbers) and any(table["rows"] for table in record["tables"])
