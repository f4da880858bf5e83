"""What a store says in SQL of the points that it keeps: their metrics, and their course over time.

Both follow from a point's report, and are the tables `Result.summary` and `Result.series`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import duckdb
import polars as pl
from pydantic_core import from_json

from drivelab import database
from drivelab.lab.columns import OF_WHOLE, SERIES, SUMMARY
from drivelab.lab.result import Result, of_whole
from drivelab.targets import Report

BATCH = 64
"""Points whose rows are made at once: of each, hundreds of thousands of bytes of text are read."""
_KINDS: dict[object, str] = {pl.String: "VARCHAR", pl.Int64: "BIGINT", pl.Float64: "DOUBLE"}


@dataclass(frozen=True)
class _Table:
    name: str
    keys: str
    schema: Mapping[str, pl.DataType | type[pl.DataType]]
    rows: Callable[[Result], pl.DataFrame]

    @property
    def columns(self) -> dict[str, str]:
        """Kinds by name. A point has one job, whose name says nothing."""
        kinds = {name: _KINDS[kind] for name, kind in self.schema.items() if name != "job"}
        return {"key": "VARCHAR"} | kinds

    @property
    def statement(self) -> str:
        columns = ", ".join(f"{name} {kind}" for name, kind in self.columns.items())
        return f"CREATE TABLE {self.name} ({columns}, {self.keys})"


ROWS = "with a row for flushes"
"""Which rows the tables have: those of other versions of drivelab had fewer in the same columns."""
_OF_POINT = "FOREIGN KEY (key) REFERENCES points (key)"
_TABLES = (
    _Table(
        "metrics",
        f"PRIMARY KEY (key, direction), {_OF_POINT}",
        SUMMARY | dict.fromkeys(OF_WHOLE, pl.Float64),
        lambda result: result.summary.with_columns(*of_whole(result)),
    ),
    _Table("series", _OF_POINT, SERIES, lambda result: result.series),
)


def add(connection: duckdb.DuckDBPyConnection, reports: Mapping[str, Report]) -> None:
    """Adds the rows of points, by their keys: all of them or, where that fails, none."""
    if not reports:
        return
    _make(connection)
    results = [(key, Result(report, None, [])) for key, report in reports.items()]
    frames = [
        pl.concat(table.rows(one).with_columns(pl.lit(key).alias("key")) for key, one in results)
        for table in _TABLES
    ]
    connection.begin()
    try:
        for table, frame in zip(_TABLES, frames, strict=True):
            values = {name: frame[name].to_list() for name in table.columns}
            database.insert(connection, table.name, table.columns, values)
        connection.commit()
    except BaseException:
        connection.rollback()
        raise


def fill(connection: duckdb.DuckDBPyConnection) -> None:
    """Adds the rows of all points that have none."""
    _make(connection)
    missing = connection.execute(
        "SELECT key FROM points WHERE key NOT IN (SELECT key FROM metrics) ORDER BY rowid"
    ).fetchall()
    keys = [key for (key,) in missing]
    for start in range(0, len(keys), BATCH):
        found = connection.execute(
            "SELECT key, report FROM points WHERE list_contains($keys, key) ORDER BY rowid",
            {"keys": keys[start : start + BATCH]},
        ).fetchall()
        add(connection, {key: from_json(text) for key, text in found})


def _make(connection: duckdb.DuckDBPyConnection) -> None:
    """Makes the tables where they aren't there, or are of another version of drivelab."""
    names = [table.name for table in _TABLES]
    told = connection.execute(
        "SELECT comment FROM duckdb_tables() WHERE list_contains($names, table_name)",
        {"names": names},
    ).fetchall()
    is_known = told == [(ROWS,)] * len(names)
    if not is_known or any(_columns(connection, one.name) != one.columns for one in _TABLES):
        for table in _TABLES:
            connection.execute(f"DROP TABLE IF EXISTS {table.name}")
            connection.execute(table.statement)
            connection.execute(f"COMMENT ON TABLE {table.name} IS '{ROWS}'")


def _columns(connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, str]:
    """The kinds of a table's columns by name; none of one that isn't there."""
    rows = connection.execute(
        "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = ?",
        [table],
    ).fetchall()
    return dict(rows)
