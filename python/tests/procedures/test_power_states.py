"""Watts are what the parts draw that work: by sums over operations, on drives of which only some
parts draw power; nothing where nothing is known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from small import MODEL_NAME, OVERRIDES

import drivelab as dl
from drivelab import cli, model, states
from drivelab.procedures import PROCEDURES, power_states
from drivelab.procedures.power_states import AFTER_S, SAME, WORDS
from drivelab.progress import TaskProgress
from drivelab.targets import EngineTarget

TEST = PROCEDURES["power-states"]
PARTS = ("idle", "active", "firmware", "link", "bus", "read", "program", "erase")
Row = dict[str, Any]
Found = tuple[dict[str, Row], list[Row], dict[str, Any], list[str]]


def measured(name: str, *overrides: tuple[str, str]) -> Found:
    target = EngineTarget(model.load(name, overrides), 1)
    states.find("filled").prepare(target, lambda _: 1, TaskProgress("filled"))
    progress = TaskProgress(TEST.id)
    found = TEST.measure(target, 1, True, progress).found()
    assert progress.fraction == pytest.approx(1, abs=0.01)
    rows, after = (table["rows"] for table in found["tables"])
    values = {value["name"]: value["value"] for value in found["values"]}
    return {row["state"]: row for row in rows}, after, values, found["notes"]


def powers(**milliwatts: int) -> tuple[tuple[str, str], ...]:
    """Power of these parts and no others."""
    return tuple((f"power.{part}_mw", str(milliwatts.get(part, 0))) for part in PARTS)


def test_energy_is_that_of_idling_and_of_every_operation() -> None:
    idle_mw, read_mw, program_mw, firmware_mw = 400, 900, 700, 300
    parts = powers(idle=idle_mw, read=read_mw, program=program_mw, firmware=firmware_mw)
    rows, after, values, _ = measured(MODEL_NAME, *OVERRIDES, *parts)
    drive = model.load(MODEL_NAME, OVERRIDES)

    def number(key: str) -> float:
        return float(drive.value(key) or 0)

    assert rows["idle"]["power_w"] == values["idle_w"] == pytest.approx(idle_mw / 1e3)
    for depth in (1, 32):
        row = rows[f"random read, QD{depth}"]
        work_nj = number("flash.read_ns") * read_mw
        work_nj += number("controller.read_firmware_ns") * firmware_mw
        expected = idle_mw / 1e3 + row["iops"] * work_nj / 1e12
        assert row["power_w"] == pytest.approx(expected, rel=2e-3), row
    for depth in (1, 32):
        # On a drive that is written in order, only the host's pages are programmed.
        row = rows[f"sequential write, QD{depth}"]
        pages = row["mb_per_s"] * 1e6 / number("flash.page_bytes")
        work = pages * number("flash.program_ns") * program_mw
        work += row["iops"] * number("controller.write_firmware_ns") * firmware_mw
        assert row["power_w"] == pytest.approx(idle_mw / 1e3 + work / 1e12, rel=0.05), row
    for row in rows.values():
        if row["mb_per_s"]:
            assert row["j_per_gb"] == pytest.approx(1e3 * row["power_w"] / row["mb_per_s"])
    assert values["most_w"] == max(row["power_w"] for row in rows.values())
    assert len(after) == 2 * len(AFTER_S)
    assert after[-1]["power_w"] == pytest.approx(idle_mw / 1e3, rel=SAME)


def test_a_drive_that_folds_after_work_draws_what_its_dies_do() -> None:
    small = ("scale_divisor", "64")
    parts = powers(idle=500, program=100)
    _, after, values, notes = measured("samsung-980-pro-1tb", small, *parts)
    of_writes = {row["until_s"]: row["power_w"] for row in after if row["work"] == "random write"}
    # It is done long before the end.
    assert of_writes[5] > 0.5 * (1 + SAME)
    assert of_writes[120] == pytest.approx(0.5)
    assert values["background_j"] > 0
    assert 1 < values["background_s"] < 120
    assert "a small version" in notes[0]
    # Dies that draw twice as much take twice the energy for the same work.
    _, _, twice, _ = measured("samsung-980-pro-1tb", small, *powers(idle=500, program=200))
    assert twice["background_j"] == pytest.approx(2 * values["background_j"])
    assert twice["background_s"] == values["background_s"]


def test_a_drive_that_is_still_busy_at_the_end_has_no_time_until_it_idles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(power_states, "AFTER_S", (1, 2))
    small = ("scale_divisor", "64")
    parts = powers(idle=500, program=100)
    _, after, values, notes = measured("samsung-980-pro-1tb", small, *parts)
    assert after[-1]["power_w"] > 0.5 * (1 + SAME)
    assert values["background_j"] > 0
    assert values["background_s"] is None
    assert "still busy" in notes[0]


def test_what_nobody_knows_is_null() -> None:
    rows, after, values, notes = measured(MODEL_NAME, *OVERRIDES, *powers())
    assert len(rows) == 1 + 2 * len(WORDS)
    assert {row["power_w"] for row in [*rows.values(), *after]} == {None}
    assert {row["j_per_gb"] for row in rows.values()} == {None}
    assert set(values.values()) == {None}
    assert "not none" in notes[0]


def test_reads_of_an_empty_drive_are_told_in_reviews_and_in_scripts(tmp_path: Path) -> None:
    """Their watts are those of a drive that senses nothing: nobody may take them for its reads."""
    words = ["review", MODEL_NAME, "--scale", "1/64", "--tests", TEST.id, "--states", "new,filled"]
    assert cli.run([*words, "--quick", "--out", str(tmp_path)]) == 0
    empty, full = json.loads((tmp_path / "results.json").read_text("utf-8"))["tests"]
    told = "100 % of the bytes read were not mapped (never written, or trimmed)"
    assert [note for note in empty["notes"] if note.startswith(told)] == empty["notes"][1:]
    assert told not in " ".join(full["notes"])
    page = (tmp_path / "report.html").read_text("utf-8")
    assert told in page
    for state, record in (("new", empty), ("filled", full)):
        drive = dl.Drive(MODEL_NAME, scale="1/64").prepare(state)
        assert list(drive.measure(TEST.id, quick=True).notes) == record["notes"]
    # Of a test of one stream, too.
    new = dl.Drive(MODEL_NAME, scale="1/64").prepare("new")
    notes = new.measure("random-read-4k-qd3-aligned", quick=True).notes
    assert any(note.startswith(told) for note in notes)
