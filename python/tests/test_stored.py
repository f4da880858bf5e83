from __future__ import annotations

import csv
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import documents
import duckdb
import pytest

from drivelab import cli, database, stored
from drivelab.database import Recorded
from drivelab.errors import RequestError
from drivelab.results import to_json


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "review"
    found.mkdir()
    (found / "results.json").write_text(to_json(documents.review()), encoding="utf-8")
    return found


def test_a_file_its_folder_and_its_run_are_the_same_results(folder: Path) -> None:
    path = folder / "lab.duckdb"
    database.append(path, Recorded.review(documents.review(seed=2)))
    database.append(path, Recorded.review(documents.review()))
    for text in (folder, folder / "results.json", f"{path}:2"):
        assert stored.is_stored(str(text).split(":")[0])
        assert stored.read(*stored.split(str(text)), "RESULTS").document == documents.review()


def test_results_come_through_a_pipe_too(folder: Path) -> None:
    """As `--results <(...)` of a shell: it can be read once."""
    text = (folder / "results.json").read_bytes()
    pipe = folder / "pipe.json"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as other:
        written = other.submit(pipe.write_bytes, text)
        assert stored.read(pipe, None, "RESULTS").document == documents.review()
        assert written.result() == len(text)


def test_damaged_results_are_refused_with_what_is_wrong(folder: Path) -> None:
    path = folder / "results.json"
    whole = path.read_text(encoding="utf-8")
    document = documents.review()
    del document["tests"][1]["values"]
    old = documents.review(schema=1)
    seedless = documents.review()
    del seedless["drivelab"]["seed"]
    a_model, [a_stream, a_sweep] = documents.model(), documents.review()["tests"]
    rateless = {key: value for key, value in a_stream.items() if key != "iops"}
    for content, words in (
        (whole[: len(whole) // 2], "cut short: line"),
        (whole.replace(": 20.0", ": NaN"), "NaN is no number in JSON"),
        ("[]", "expected results.json"),
        (to_json(document), r"tests\[1\] lacks values"),
        (to_json(old), "schema 1 is not readable.*repeat it: drivelab review a --seed 1"),
        (to_json(documents.review() | {"tests": {}}), "tests is {}; allowed: a list"),
        (to_json(seedless), "drivelab lacks seed"),
        (to_json(documents.review(seed="1")), 'drivelab.seed is "1"; allowed: a whole number'),
        (to_json(documents.review() | {"drivelab": []}), "schema None is not readable"),
        (
            to_json(documents.review() | {"models": [a_model | {"parameters": None}]}),
            r"models\[0\].parameters is null; allowed: a list",
        ),
        (to_json(documents.review() | {"tests": [rateless]}), r"tests\[0\] lacks iops"),
        (
            to_json(documents.review() | {"tests": [a_sweep | {"tables": [{"name": "x"}]}]}),
            r"tests\[0\].tables\[0\] lacks title, columns, rows",
        ),
    ):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(RequestError, match=words):
            stored.read(folder, None, "RESULTS")
    path.write_bytes(b"\xff\xfe{")
    with pytest.raises(RequestError, match="UTF-8"):
        stored.read(folder, None, "RESULTS")
    path.unlink()
    with pytest.raises(RequestError, match="No such file"):
        stored.read(folder, None, "RESULTS")


def test_runs_of_a_folder_are_those_of_its_database(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["runs", str(folder)]) == 2
    assert f'FILE "{folder}/results.duckdb": there is no such file' in capsys.readouterr().err
    database.append(folder / "results.duckdb", database.Recorded.review(documents.review()))
    assert cli.run(["runs", str(folder), "--json"]) == 0
    assert [run["kind"] for run in json.loads(capsys.readouterr().out)] == ["review"]


def test_export_writes_a_file_per_table_and_the_whole_document(folder: Path) -> None:
    tables, whole = folder / "csv", folder / "all.json"
    assert cli.run(["export", str(folder), "--csv", str(tables), "--json", str(whole)]) == 0
    assert json.loads(whole.read_text(encoding="utf-8")) == documents.review()
    with (tables / "sweep.sizes.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0] == {
        "model": "a",
        "state": "new",
        "block_bytes": "4096",
        "direction": "read",
        "mb_per_s": "1.25",
    }
    with (tables / "measurements.csv").open(encoding="utf-8", newline="") as file:
        assert [row["mib_per_s"] for row in csv.DictReader(file)] == ["20.0"]
    assert {"parameters.csv", "test_values.csv", "percentiles.csv"} <= {
        path.name for path in tables.iterdir()
    }


def test_export_makes_the_folders_that_are_missing_for_tables_and_documents_alike(
    folder: Path,
) -> None:
    new = folder / "new"
    words = ["--csv", str(new / "tables"), "--json", str(new / "whole.json")]
    assert cli.run(["export", str(folder), *words]) == 0
    assert json.loads((new / "whole.json").read_text("utf-8")) == documents.review()
    assert (new / "tables" / "measurements.csv").is_file()


def test_parquet_files_are_the_tables_of_the_database(folder: Path) -> None:
    tables, path = folder / "parquet", folder / "lab.duckdb"
    assert cli.run(["export", str(folder), "--parquet", str(tables)]) == 0
    database.append(path, Recorded.review(documents.review()))
    with duckdb.connect(str(path), read_only=True) as connection:
        for file in tables.iterdir():
            for asked in ("SELECT column_name, column_type FROM (DESCRIBE FROM {})", "FROM {}"):
                of_file, of_table = (
                    connection.execute(asked.format(source)).fetchall()
                    for source in (f"'{file}'", file.stem)
                )
                assert of_file == of_table
    names = {file.stem for file in tables.iterdir()}
    assert {"runs", "measurements", "series", "histogram_bins", "parameters_wide"} <= names
    assert "zones" not in names


def test_what_the_tables_refuse_is_one_line_and_no_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    value = {"name": "n", "title": "N", "value": 1.0, "unit": "", "better": None}
    twice = documents.compound(values=[value, value])
    whole = documents.review(documents.stream(), twice)
    (folder / "results.json").write_text(to_json(whole), encoding="utf-8")
    assert cli.run(["export", str(folder), "--parquet", str(folder / "tables")]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert "can't write to" in line
    assert not (folder / "tables").exists()


def test_export_says_what_it_needs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder / "results.json"
    for words, message in (
        ([str(folder)], "--csv DIR, --parquet DIR, --json FILE or --database FILE.duckdb"),
        ([str(folder), "--csv", str(file)], "can't write there"),
        ([str(folder), "--json", str(file / "x.json")], "can't write there"),
        ([str(folder), "--json", str(folder / "x.jsn")], 'ends in .json; did you mean ".json"?'),
        ([str(folder), "--run", "2", "--json", "-"], "counts with a database only"),
    ):
        assert cli.run(["export", *words]) == 2
        assert message in capsys.readouterr().err


def test_a_run_of_a_database_is_chosen_by_number(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "lab.duckdb"
    for seed in (5, 6):
        database.append(path, Recorded.review(documents.review(seed=seed)))
    assert cli.run(["export", str(path), "--json", "-"]) == 2
    assert "its runs: 1, 2" in capsys.readouterr().err
    assert cli.run(["export", str(path), "--json", "-", "--run", "2"]) == 0
    assert json.loads(capsys.readouterr().out)["drivelab"]["seed"] == 6
