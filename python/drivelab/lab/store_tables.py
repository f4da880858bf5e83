"""What a store says in SQL of the points that it keeps: their metrics, and their course over time.

Both follow from a point's report, and are the tables `Result.summary` and `Result.series`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import duckdb
import polars as pl

from drivelab import database
from drivelab.lab.result import OF_WHOLE, SERIES, SUMMARY, Result, of_whole
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


def fill(
    connection: duckdb.DuckDBPyConnection, known: Mapping[str, Report] = MappingProxyType({})
) -> None:
    """Adds the rows of all points that have none: those since the last call, and all of a store
    whose tables are of another version of drivelab, or not there yet. Reports that are `known` by
    their points' keys aren't read again."""
    if any(_columns(connection, table.name) != table.columns for table in _TABLES):
        for table in _TABLES:
            connection.execute(f"DROP TABLE IF EXISTS {table.name}")
            connection.execute(table.statement)
    missing = connection.execute(
        "SELECT key FROM points WHERE key NOT IN (SELECT key FROM metrics) ORDER BY rowid"
    ).fetchall()
    keys = [key for (key,) in missing]
    for start in range(0, len(keys), BATCH):
        _add(connection, keys[start : start + BATCH], known)


def _add(
    connection: duckdb.DuckDBPyConnection, keys: Sequence[str], known: Mapping[str, Report]
) -> None:
    unknown = [key for key in keys if key not in known]
    found = connection.execute(
        "SELECT key, report FROM points WHERE list_contains($keys, key)", {"keys": unknown}
    ).fetchall()
    reports = {key: json.loads(text) for key, text in found} | dict(known)
    results = [(key, Result(reports[key], None, [])) for key in keys]
    connection.begin()
    for table in _TABLES:
        frame = pl.concat(
            table.rows(result).with_columns(pl.lit(key).alias("key")) for key, result in results
        )
        values = {name: frame[name].to_list() for name in table.columns}
        database.insert(connection, table.name, table.columns, values)
    connection.commit()


def _columns(connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, str]:
    """The kinds of a table's columns by name; none of one that isn't there."""
    rows = connection.execute(
        "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = ?",
        [table],
    ).fetchall()
    return dict(rows)
