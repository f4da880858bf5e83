"""docs/figures.md against what the models give now."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from drivelab import cli
from drivelab.figures import drift

PAGE = Path(__file__).parents[3] / "docs" / "figures.md"
FAST = {
    "page map": ("AN-091", "AN-149", "AN-200"),
    "coarse page map, used: cleaning": ("AN-100", "AN-157"),
    "superblock map": ("AN-093", "AN-151"),
    "log-block map": ("AN-097", "AN-155"),
    "compressed map": ("A2-024", "A2-042", "V2-008", "V2-009"),
    "array": ("AN-153",),
    "hard disks": ("AN-213",),
}
"""Figures that are measured in moments, of every family."""


def test_the_page_is_what_the_models_give() -> None:
    only = ",".join(name for names in FAST.values() for name in names)
    assert cli.run(["figures", "--only", only, "--check", str(PAGE)]) == 0


def test_a_drive_that_changed_is_seen_on_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "figures.md"
    shutil.copy(PAGE, page)
    words = ["figures", "--only", "AN-149", "--check", str(page)]
    # Less than one per cent of a frame of 8 KiB.
    assert cli.run([*words, "--set", "link.frame_overhead_ns=2400"]) == 1
    said = capsys.readouterr().err
    assert "`make figures` writes it anew" in said
    assert re.search(r"AN-149: [0-9.]+ there, now [0-9.]+ MiB/s", said)
    assert page.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8")


TABLE = """\
# Page

- 2 figures.

| figure | modelled | unit |
| --- | ---: | --- |
| AN-001 | 5 | a \\| b |
| AN-002 | 7 | MiB/s |

| figure | modelled before | modelled now |
| --- | ---: | ---: |
| AN-002 | 3 | 7 |
"""


def test_every_row_that_changed_is_named_once_with_both_values() -> None:
    assert drift.changes(TABLE, TABLE) == []
    assert drift.changes(TABLE, TABLE.replace("| 5 |", "| 6 |")) == [
        "AN-001: modelled '5', now '6'"
    ]
    assert drift.changes(TABLE, TABLE.replace("2 figures", "3 figures")) == [
        "words beside the tables, or the summary"
    ]
    gone = TABLE.replace("| AN-001 | 5 | a \\| b |\n", "")
    assert drift.changes(TABLE, gone) == ["AN-001: no longer a row"]
    assert drift.changes(gone, TABLE) == ["AN-001: not on the page"]


def test_a_value_counts_in_every_table_that_has_it() -> None:
    now = {"id": "AN-002", "modelled": 7.0, "unit": "MiB/s"}
    assert drift.drifted(TABLE, [now]) == []
    one_of_two = TABLE.replace("| 3 | 7 |", "| 3 | 8 |")
    assert drift.drifted(one_of_two, [now]) == ["AN-002: 7, 8 there, now 7 MiB/s"]
    unknown = now | {"id": "AN-003"}
    assert drift.drifted(TABLE, [unknown]) == ["AN-003: not on the page; now 7 MiB/s"]


def test_what_can_not_be_checked_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for words, message in (
        (["--only", "AN-9999"], "no such figure"),
        (["--only", "AN-149", "--drive", "x"], "give one of them"),
        (["--only", "AN-149", "--write", "x.md"], "leave --only out"),
        (["--check", "none.md"], "can't read it"),
    ):
        assert cli.run(["figures", *words]) == 2
        assert message in capsys.readouterr().err
