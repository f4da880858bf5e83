"""Files of an older layout, and files that are no database."""

from __future__ import annotations

import json
from pathlib import Path

import documents
import duckdb
import polars as pl
import pytest
from database.sample import recorded, rows
from small import MODEL_NAME

from drivelab import cli, database
from drivelab.database.tables import VERSION
from drivelab.errors import RequestError


@pytest.mark.parametrize("version", [3, 4, 5])
def test_runs_of_an_older_layout_are_read_and_taken_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], version: int
) -> None:
    """Of older files only what is read of them matters: these four tables, without keys."""
    old, new = tmp_path / "old.duckdb", tmp_path / "new.duckdb"
    document = documents.review(schema=version - 1)
    own = document["drivelab"]
    with duckdb.connect(str(old)) as connection:
        connection.execute(f"CREATE TABLE layout AS SELECT {version}::INTEGER AS version")
        connection.execute(
            "CREATE TABLE runs AS SELECT 7 AS run_id, 'review' AS kind, $1 AS schema, '0.1.0' AS"
            " engine_version, $2 AS command_line, 1 AS seed, false AS quick, 1.0 AS wall_s",
            [own["schema"], own["command_line"]],
        )
        connection.execute("CREATE TABLE models AS SELECT 7 AS run_id, 'a' AS model")
        connection.execute("CREATE TABLE tests AS SELECT 7 AS run_id, 'sweep' AS test")
        connection.execute(
            "CREATE TABLE documents AS SELECT 7 AS run_id, $1 AS document, $2 AS models",
            [json.dumps(document), json.dumps(document["models"])],
        )
    assert cli.run(["export", str(old), "--database", str(old)]) == 2
    assert f"read only; allowed: {VERSION}" in capsys.readouterr().err
    assert cli.run(["export", str(old), "--run", "7", "--database", str(new)]) == 0
    assert "run 1 of" in capsys.readouterr().err
    assert database.read(new, None, "FILE").document == documents.review()
    assert rows(new, "SELECT count(*) FROM measurements") == [(1,)]


def test_a_job_files_run_of_a_layout_that_knew_no_groups_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "old.duckdb"
    old = {"drivelab": {"model": "a", "state": "new", "seed": 1}, "jobs": []}
    database.write(recorded(), path)
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE layout SET version = 3")
        connection.execute(
            "INSERT INTO runs BY NAME SELECT 2 AS run_id, 'run' AS kind, '0.1.0' AS engine_version,"
            " 'drivelab run j.fio' AS command_line, 1 AS seed, false AS quick"
        )
        connection.execute("INSERT INTO documents VALUES (2, $1, '[]')", [json.dumps(old)])
    assert cli.run(["export", str(path), "--run", "1", "--csv", str(tmp_path / "csv")]) == 0
    for words in (
        ["export", f"{path}:2", "--csv", str(tmp_path / "none")],
        ["compare", f"{path}:2", f"{path}:2", "--out", str(tmp_path / "none")],
    ):
        capsys.readouterr()
        assert cli.run(words) == 2
        [line] = capsys.readouterr().err.splitlines()
        assert "layout 3; allowed: from 4 on; repeat it: drivelab run j.fio" in line
    assert not (tmp_path / "none").exists()


def test_what_is_no_database_of_this_layout_is_refused_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, other, old = (tmp_path / f"{name}.duckdb" for name in ("text", "other", "old"))
    text.write_text("not a database", encoding="utf-8")
    for path, table in ((other, "birds"), (old, "runs")):
        with duckdb.connect(str(path)) as connection:
            connection.execute(f"CREATE TABLE {table} (schema INTEGER)")
    for path, words in (
        (text, "not a DuckDB database"),
        (other, "none of drivelab"),
        (old, f"layout 1; allowed: {VERSION}"),
        (tmp_path / "missing" / "lab.duckdb", "can't write there"),
        (tmp_path, "is a folder"),
        (tmp_path / "lab.txt", "allowed: a name that ends in .duckdb"),
        (tmp_path / "lab.duckdb:2", f"give the file alone: {tmp_path / 'lab.duckdb'}"),
    ):
        before = path.read_bytes() if path.is_file() else None
        out = tmp_path / "out"
        assert cli.run(["review", MODEL_NAME, "--out", str(out), "--database", str(path)]) == 2
        message = capsys.readouterr().err
        assert words in message
        assert f'--database "{path}"' in message
        assert not out.exists()
        assert (path.read_bytes() if path.is_file() else None) == before


def test_a_damaged_database_is_named_not_read_half(tmp_path: Path) -> None:
    path = tmp_path / "lab.duckdb"
    database.append(path, recorded())
    whole = bytearray(path.read_bytes())
    for start in range(12288, len(whole), 4096):
        whole[start : start + 64] = bytes(64)
    path.write_bytes(whole)
    with pytest.raises(RequestError, match=r"lab\.duckdb"):
        database.read(path, None, "FILE")


@pytest.mark.parametrize("name", ["table.parquet", "table.csv", "table.json"])
def test_a_table_of_another_format_is_no_database(tmp_path: Path, name: str) -> None:
    """DuckDB opens these as views of a database in memory, where a run would be lost."""
    path = tmp_path / name
    write = {"parquet": pl.DataFrame.write_parquet, "csv": pl.DataFrame.write_csv}
    write.get(path.suffix[1:], pl.DataFrame.write_json)(pl.DataFrame({"run": [1]}), path)
    before = path.read_bytes()
    for use in (database.check, lambda place: database.runs(place, "FILE")):
        with pytest.raises(RequestError, match="it is not a DuckDB database"):
            use(path)
    assert path.read_bytes() == before
