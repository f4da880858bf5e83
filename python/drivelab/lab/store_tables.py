"""What a store says in SQL of the points that it keeps: their metrics, and their course over time.

Both follow from a point's report, and are the tables `Result.summary` and `Result.series`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import duckdb
import polars as pl

from drivelab.lab.result import SERIES, SUMMARY, Result

BATCH = 64
"""Points whose rows are made at once: of each, hundreds of thousands of bytes of text are read."""
_KINDS: dict[object, str] = {pl.String: "VARCHAR", pl.Int64: "BIGINT", pl.Float64: "DOUBLE"}
_OF_DRIVE = ("duration_s", "unmapped_read_share", "energy_j")
"""What the drive did as a whole, in every row of its point."""


def _metrics(result: Result) -> pl.DataFrame:
    totals = result.totals
    whole = [pl.lit(totals[name], dtype=pl.Float64).alias(name) for name in _OF_DRIVE]
    return result.summary.with_columns(*whole)


def _series(result: Result) -> pl.DataFrame:
    return result.series


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


_OF_POINT = "FOREIGN KEY (key) REFERENCES points (key)"
_TABLES = (
    _Table(
        "metrics",
        f"PRIMARY KEY (key, direction), {_OF_POINT}",
        SUMMARY | dict.fromkeys(_OF_DRIVE, pl.Float64),
        _metrics,
    ),
    _Table("series", _OF_POINT, SERIES, _series),
)


def fill(connection: duckdb.DuckDBPyConnection) -> None:
    """Adds the rows of all points that have none: those since the last call, and all of a store
    whose tables are of another version of drivelab, or not there yet."""
    if any(_columns(connection, table.name) != table.columns for table in _TABLES):
        for table in _TABLES:
            connection.execute(f"DROP TABLE IF EXISTS {table.name}")
            connection.execute(table.statement)
    missing = connection.execute(
        "SELECT key FROM points WHERE key NOT IN (SELECT key FROM metrics) ORDER BY rowid"
    ).fetchall()
    keys = [key for (key,) in missing]
    for start in range(0, len(keys), BATCH):
        _add(connection, keys[start : start + BATCH])


def _add(connection: duckdb.DuckDBPyConnection, keys: Sequence[str]) -> None:
    found = connection.execute(
        "SELECT key, report FROM points WHERE list_contains($keys, key) ORDER BY rowid",
        {"keys": keys},
    ).fetchall()
    results = [(key, Result(json.loads(text), None, [])) for key, text in found]
    connection.begin()
    for table in _TABLES:
        frame = pl.concat(
            table.rows(result).with_columns(pl.lit(key).alias("key")) for key, result in results
        )
        selected = ", ".join(
            f"unnest(${index + 1}::{kind}[])" for index, kind in enumerate(table.columns.values())
        )
        values = [frame[name].to_list() for name in table.columns]
        names = ", ".join(table.columns)
        connection.execute(f"INSERT INTO {table.name} ({names}) SELECT {selected}", values)
    connection.commit()


def _columns(connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, str]:
    """The kinds of a table's columns by name; none of one that isn't there."""
    rows = connection.execute(
        "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = ?",
        [table],
    ).fetchall()
    return dict(rows)
