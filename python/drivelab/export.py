"""Results as files: the database's tables as CSV or Parquet, and tables of tests as they are."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

from drivelab import database
from drivelab.database import Recorded
from drivelab.database.opening import written
from drivelab.database.tables import TABLES
from drivelab.database.views import WIDE

Writer = Callable[[Path], None]


def csv_files(run: Recorded) -> dict[str, Writer]:
    """A writer of each file, by file name.

    `<table>.csv` for each table of the database that has rows, and `<test>.<table>.csv` for each
    table of the tests, with the models and states one below the other. A missing value is an
    empty field.
    """
    files: dict[str, Writer] = {}
    for name, rows in run.rows().items():
        columns = [
            column.name
            for column in TABLES[name].columns
            if any(column.name in row for row in rows)
        ]
        files[f"{name}.csv"] = partial(_write, columns, rows)
    for name, columns, rows in _test_tables(run.document.get("tests") or ()):
        files[f"{name}.csv"] = partial(_write, columns, rows)
    return files


def parquet_files(run: Recorded, folder: Path) -> dict[str, Writer]:
    """A writer of each file of a folder, by file name: `<table>.parquet` of tables with rows.

    Columns, types and keys are the database's; `run_id` is 1. `parameters_wide` is its view.
    Raises WorkError for what the tables refuse.
    """

    def writer(name: str, connection: duckdb.DuckDBPyConnection) -> Writer:
        def write(path: Path) -> None:
            place = str(path).replace("'", "''")
            with written(path):
                connection.execute(
                    f"COPY \"{name}\" TO '{place}' (FORMAT parquet, COMPRESSION zstd)"
                )

        return write

    connection = duckdb.connect(":memory:")
    with written(folder):
        database.fill(connection, run)
    names = [name for name in run.rows() if name in TABLES] + [WIDE]
    return {f"{name}.parquet": writer(name, connection) for name in names}


def _test_tables(
    tests: Sequence[Mapping[str, Any]],
) -> Iterator[tuple[str, list[str], list[dict[str, Any]]]]:
    """File name, columns and rows of each table of the tests."""
    found: dict[str, tuple[list[str], list[dict[str, Any]]]] = {}
    for test in tests:
        for table in test.get("tables") or ():
            # Names of tables are made for queries, but nothing forbids a slash in one.
            name = re.sub(r"[^\w.-]+", "-", f"{test['id']}.{table['name']}")
            columns, rows = found.setdefault(name, (["model", "state"], []))
            columns += [c["key"] for c in table["columns"] if c["key"] not in columns]
            keys = {"model": test["model"], "state": test["state"]}
            rows += [keys | row for row in table["rows"]]
    for name, (columns, rows) in found.items():
        yield name, columns, rows


def _write(columns: Sequence[str], rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(
            file, columns, restval="", extrasaction="ignore", lineterminator="\n"
        )
        writer.writeheader()
        writer.writerows(rows)
