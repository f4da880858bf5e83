"""What failed stands in a database beside the rates, and nothing where nobody counts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from database.sample import rows

from drivelab import cli

WORN = ("--set", "flash.bit_errors=true", "--set", "flash.initial_cycles=12000")


@pytest.mark.parametrize(
    ("model", "settings"), [("samsung-980-pro-1tb", WORN), ("wd-velociraptor-300gb", ())]
)
def test_a_run_has_reads_that_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], model: str, settings: tuple[str, ...]
) -> None:
    job, file = tmp_path / "job.fio", tmp_path / "lab.duckdb"
    job.write_text("[r]\nrw=randread\nbs=4k\nio_size=256k\n")
    words = ["run", str(job), "--drive", model, *settings, "--state", "filled", "--json"]
    small = ["--scale", "1/64"] if settings else []
    assert cli.run([*words, *small, "--database", str(file)]) == 0
    told = json.loads(capsys.readouterr().out)["drivelab"]
    assert (told["read_errors"] or 0) > 0 if settings else told["read_errors"] is None
    for table in ("tests", "job_groups"):
        expected = (told["read_errors"], told["refused_commands"])
        assert rows(file, f"SELECT read_errors, refused_commands FROM {table}") == [expected]


def test_a_review_has_them_too(tmp_path: Path) -> None:
    file = tmp_path / "lab.duckdb"
    words = ["review", "samsung-980-pro-1tb", "--scale", "1/64", *WORN, "--states", "filled"]
    words += ["--tests", "random-read-4k-qd1-aligned", "--quick", "--database", str(file)]
    assert cli.run([*words, "--out", str(tmp_path / "out")]) == 0
    counted = "SELECT value::UBIGINT FROM counters WHERE counter = 'read_errors'"
    [(count,)] = rows(file, counted)
    assert count > 0
    assert rows(file, "SELECT read_errors FROM tests") == [(count,)]
