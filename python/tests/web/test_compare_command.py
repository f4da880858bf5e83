"""The command that Compare tells: it gives the comparison that is shown, or there is none."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import documents
import pytest

from drivelab import cli, database
from drivelab.comparison.document import document
from drivelab.comparison.selection import Selection
from drivelab.database import Recorded
from drivelab.web.choice import Choice
from drivelab.web.comparison import compared, look_up, no_command
from drivelab.web.library import Library


def shown(library: Library, *drives: str) -> tuple[dict[str, Any], str | None]:
    """What the page compares, and why no command does."""
    choice = Choice(drives, None, Selection((), ()), forced=False)
    found = look_up(library, choice)
    return document(compared(library, choice, found)), no_command(library, found)


def recorded(path: Path, *names: str, test: str = "random-write-4k") -> None:
    tests = [
        documents.stream(name, rate=10.0 * rate, test_id=test) for rate, name in enumerate(names, 1)
    ]
    database.append(path, Recorded.review(documents.review(*tests)))


def test_the_command_gives_the_comparison_that_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "lab.duckdb"
    recorded(path, "a")
    recorded(path, "b", "c")
    found, why = shown(Library(path), "a", "b", "c")
    assert why is None
    words = shlex.split(found["drivelab"]["command_line"])
    out = ["--out", str(tmp_path / "out"), "--json"]
    assert cli.run([*words[1:], *out]) == 0
    assert json.loads(capsys.readouterr().out)["findings"] == found["findings"]


def test_no_command_is_told_for_runs_of_a_drive_that_are_one_side_here(tmp_path: Path) -> None:
    path = tmp_path / "lab.duckdb"
    for test in ("random-write-4k", "sequential-write-2m"):
        for name in ("a", "b"):
            recorded(path, name, test=test)
    found, why = shown(Library(path), "a", "b")
    assert len(found["sides"]) == 2
    assert found["drivelab"]["command_line"] is None
    assert why is not None
    assert "of Drive A are taken together from runs 1, 3" in why


def test_no_command_is_told_for_runs_of_more_drives_than_a_command_takes(tmp_path: Path) -> None:
    path = tmp_path / "lab.duckdb"
    recorded(path, *"abcdefg")
    found, why = shown(Library(path), "a", "b")
    assert found["drivelab"]["command_line"] is None
    assert why == "there all 7 drives of these runs are sides, and 6 at most may be"
