"""What a drive does in the pauses between jobs is said, though it is in none of their numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from drivelab import cli

DRIVE = ("--drive", "samsung-970-evo-plus-1tb", "--scale", "1/16")
GLOBAL = "[global]\nrw=write\nbs=1m\niodepth=4\n"
APART = f"""{GLOBAL}[first]
size=2g
[second]
stonewall
startdelay=60
offset=2g
size=2g
"""
AS_ONE = f"{GLOBAL}[both]\nsize=4g\nthinktime=60s\nthinktime_blocks=2048\n"


def run(folder: Path, capsys: pytest.CaptureFixture[str], text: str, *words: str) -> str:
    path = folder / "job.fio"
    path.write_text(text, encoding="utf-8")
    assert cli.run(["run", str(path), *DRIVE, *words]) == 0
    return capsys.readouterr().out


def test_bursts_with_pauses_do_as_much_as_one_job_that_pauses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    apart = json.loads(run(tmp_path, capsys, APART, "--json"))["drivelab"]
    one: dict[str, Any] = json.loads(run(tmp_path, capsys, AS_ONE, "--json"))["drivelab"]
    first, second = apart["groups"]
    assert first["unmeasured"]["flash_write_bytes"] == 0
    # The cache is folded in the pause: all of the first burst once more, but for open blocks.
    assert 0.9 < second["unmeasured"]["flash_write_bytes"] / 2**31 <= 1
    assert second["unmeasured"]["host_write_bytes"] == 0
    for key in ("flash_write_bytes", "erases", "energy_j"):
        whole = sum(group[key] + group["unmeasured"][key] for group in apart["groups"])
        assert whole == pytest.approx(one[key], rel=0.02), key


def test_a_pause_in_which_the_drive_worked_is_told_below_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = run(tmp_path, capsys, APART)
    [line] = [line for line in told.splitlines() if "before it began" in line]
    assert line.startswith("second: before it began the drive alone programmed ")
    assert "before it began" not in run(tmp_path, capsys, AS_ONE)
