"""Runs in DuckDB files: a review's own results.duckdb, and files that runs are appended to.

A file holds any number of runs, numbered from 1. Each is recorded in one transaction: as rows of
the tables in tables.py, for queries, and as the document itself (results.json, or what `run` and
`replay` print with --json), which `export` and `compare` read.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb

from drivelab import output, paths
from drivelab.database.job_rows import REPLAY, RUN, Row
from drivelab.database.layout import Table
from drivelab.database.opening import BusyError, Connection, opened, table_names, turn, written
from drivelab.database.rows import REVIEW, rows
from drivelab.database.tables import LAYOUT_SQL, RUN_SINCE, TABLES
from drivelab.database.views import views_sql
from drivelab.errors import RequestError, WorkError

__all__ = [
    "REPLAY",
    "REVIEW",
    "RUN",
    "UNABRIDGED_SQL",
    "Recorded",
    "Row",
    "append",
    "append_together",
    "check",
    "command_settings",
    "fill",
    "read",
    "runs",
    "span_sql",
    "tests",
    "write",
]

SUFFIX = ".duckdb"
UNABRIDGED_SQL = "r.command_line LIKE '% --unabridged%'"
"""In terms of `runs` as r. Documents know it, too, but are megabytes."""
BLOCK_BYTES = 16384
"""Of a new file, the smallest that DuckDB has: most tables of a run are small, and each of their
columns and keys takes a block at least."""

Record = dict[str, Any]


@dataclass(frozen=True)
class Recorded:
    """A run as it is recorded."""

    kind: str
    """REVIEW, RUN or REPLAY."""
    document: Mapping[str, Any]
    models: Sequence[Mapping[str, Any]]
    """Records of the models that were measured, with all their parameters."""

    @classmethod
    def review(cls, document: Mapping[str, Any]) -> Recorded:
        """Of a review: results.json."""
        return cls(REVIEW, document, document["models"])

    def rows(self) -> dict[str, list[Row]]:
        """Rows of every table that has some."""
        return rows(self.kind, self.document, self.models)


def write(run: Recorded, path: Path, *more: Recorded) -> None:
    """Writes a new file with one run, or more; raises WorkError if the disk refuses."""
    with written(path), duckdb.connect(":memory:") as connection:
        place = str(path).replace("'", "''")
        connection.execute(f"ATTACH '{place}' AS made (BLOCK_SIZE {BLOCK_BYTES})")
        connection.execute("USE made")
        fill(connection, run, *more)
        # What a full disk refuses is told here; closing a file says nothing.
        connection.execute("CHECKPOINT made")
        connection.execute("USE memory")
        connection.execute("DETACH made")


def fill(connection: Connection, *runs: Recorded) -> None:
    """Makes the tables in an empty database, and puts runs into them."""
    connection.begin()
    _create(connection)
    for run in runs:
        _record(connection, run)
    connection.commit()


def check(path: Path, option: str = "--database") -> None:
    """Raises RequestError if no run can be appended to this file: better before the work."""
    paths.checked(option, path)
    file, run, _ = path.name.partition(f"{SUFFIX}:")
    if run:
        raise RequestError(
            f'{option} "{path}": a run is added under the next free number; give the file alone: '
            f"{path.with_name(file + SUFFIX)}"
        )
    # By its ending it is known again. What is there is looked into.
    output.writable_file(path, option, *([] if path.exists() else [SUFFIX]))
    with turn(path, option):
        if path.exists():
            with opened(path, option, read_only=False):
                pass


def append(path: Path, run: Recorded, option: str = "--database") -> int:
    """Adds a run in one transaction; returns its number. A file that isn't there is created.

    Interrupted or refused, the file stays as it was, or does not appear. Raises WorkError if the
    disk refuses or another program keeps the file, RequestError for a file that isn't a database
    of this layout.
    """
    [run_id] = append_together(path, [run], option)
    return run_id


def append_together(path: Path, runs: Sequence[Recorded], option: str = "--database") -> list[int]:
    """Adds runs as `append` adds one: all of them in one transaction, or none; their numbers."""
    output.writable_file(path, option)
    try:
        with turn(path, option):
            return _append(path, runs, option)
    except BusyError as error:
        raise WorkError(f"{error}; this run is not recorded") from None


def _append(path: Path, runs: Sequence[Recorded], option: str) -> list[int]:
    if not path.exists():
        # A link to it stays one: others may know the file by its own name.
        real = path.resolve()
        output.publish(real.parent, {real.name: lambda place: write(runs[0], place, *runs[1:])})
        return [*range(1, len(runs) + 1)]
    with written(path), opened(path, option, read_only=False) as connection:
        connection.begin()
        if not table_names(connection):
            _create(connection)
        run_ids = [_record(connection, run) for run in runs]
        connection.commit()
    return run_ids


def runs(path: Path, option: str) -> list[Record]:
    """Every run of a file, the oldest first: columns of `runs`, and `models` and `tests`."""
    with opened(path, option) as connection:
        found = connection.execute(
            "SELECT r.*,"
            " (SELECT list(model ORDER BY model) FROM models WHERE run_id = r.run_id) AS models,"
            " (SELECT count(*) FROM tests WHERE run_id = r.run_id) AS tests"
            " FROM runs r ORDER BY run_id"
        )
        names = [column[0] for column in found.description or ()]
        records = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    return [record | {"models": record["models"] or []} for record in records]


def tests(path: Path, option: str) -> list[Record]:
    """Every drive of every run, the oldest first, with the tests that it has.

    `tests` are objects of `test` and `state`; `scale` is its divisor, None at full size; `changed`
    whether a parameter was set for the run;
    `unabridged` whether tests ran at their full length; `span_bytes` what of the drive was used,
    None for all of it; `alone` whether its numbers are means of
    repeats, so that the run goes together with no other.
    """
    with opened(path, option) as connection:
        span = span_sql(connection)
        found = connection.execute(
            f"SELECT r.run_id, kind, {span} AS span_bytes, r.command_line, r.seed,"
            " r.quick, r.engine_version, r.wall_s, m.model, m.title, m.hash,"
            " (SELECT number FROM parameters p WHERE p.run_id = m.run_id AND p.model = m.model"
            "  AND key = 'scale_divisor') AS scale,"
            " EXISTS (FROM parameters p WHERE p.run_id = m.run_id AND p.model = m.model"
            "  AND source = 'command line' AND key <> 'scale_divisor') AS changed,"
            f" {UNABRIDGED_SQL} AS unabridged,"
            " r.command_line LIKE '% --repeat %' AS alone,"
            " (SELECT list({'test': test, 'state': state}) FROM tests t"
            "  WHERE t.run_id = m.run_id AND t.model = m.model) AS tests"
            " FROM runs r JOIN models m USING (run_id)"
            " ORDER BY r.run_id"
        )
        names = [column[0] for column in found.description or ()]
        records = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    for record in records:
        record["changed"] |= bool(command_settings(record["command_line"]))
        record["tests"] = record["tests"] or []
    return records


def command_settings(command_line: str) -> dict[str, str]:
    """What a run's command set but the scale, by key.

    Parameters name the command line as their source, but for those that became others on the way:
    a small version has a capacity in the place of a `spare_ratio`.
    """
    words = _words(command_line)
    pairs = [after for word, after in pairwise(words) if word == "--set"]
    pairs += [word.removeprefix("--set=") for word in words if word.startswith("--set=")]
    found = {key: value for key, _, value in (pair.partition("=") for pair in pairs)}
    found.pop("scale_divisor", None)
    return found


def command_options(command_line: str) -> dict[str, str]:
    """Options of a run's command that have values, by name without dashes; of several of a name the
    last."""
    return {
        word.removeprefix("--"): after
        for word, after in pairwise(_words(command_line))
        if word.startswith("--") and not after.startswith("--")
    }


def _words(command_line: str) -> list[str]:
    try:
        return shlex.split(command_line)
    except ValueError:
        return []


def span_sql(connection: Connection) -> str:
    """What of a run's drives was used, in terms of `runs` as r; tables before layout 6 lack it."""
    found = connection.execute(
        "SELECT 1 FROM duckdb_columns() WHERE table_name = 'runs' AND column_name = 'span_bytes'"
    )
    return "NULL" if found.fetchone() is None else "r.span_bytes"


def read(path: Path, run_id: int | None, option: str) -> Recorded:
    """A run of a file, the only one if no number is given; raises RequestError."""
    known = [record["run_id"] for record in runs(path, option)]
    shown = ", ".join(map(str, known)) or "none"
    if run_id is None and len(known) != 1:
        raise RequestError(f'{option} "{path}": say which run; its runs: {shown}')
    chosen = known[0] if run_id is None else run_id
    if chosen not in known:
        raise RequestError(f'{option} "{path}": it has no run {chosen}; its runs: {shown}')
    with opened(path, option) as connection:
        row = connection.execute(
            "SELECT kind, document, d.models, version, command_line"
            " FROM runs JOIN documents d USING (run_id), layout WHERE run_id = ?",
            [chosen],
        ).fetchone()
    assert row is not None
    kind, document, models, version, command_line = row
    if kind == RUN and version < RUN_SINCE:
        raise RequestError(
            f'{option} "{path}": run {chosen} is of a job file, in tables of layout {version}; '
            f"allowed: from {RUN_SINCE} on; repeat it: {command_line}"
        )
    return Recorded(kind, json.loads(document), json.loads(models))


def _create(connection: Connection) -> None:
    connection.execute(LAYOUT_SQL)
    for table in TABLES.values():
        for statement in (table.sql, *table.comments_sql):
            connection.execute(statement)


def _record(connection: Connection, run: Recorded) -> int:
    """Inserts a run; returns its number."""
    row = connection.execute("SELECT coalesce(max(run_id), 0) + 1 FROM runs").fetchone()
    assert row is not None
    run_id = int(row[0])
    found = run.rows()
    found["documents"] = [{"document": _strict(run.document), "models": _strict(run.models)}]
    for name, table in TABLES.items():
        if name in found:
            _insert(connection, table, run_id, found[name])
    for statement in views_sql(connection):
        connection.execute(statement)
    return run_id


def _strict(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def insert(
    connection: Connection,
    table: str,
    kinds: Mapping[str, str],
    values: Mapping[str, Sequence[Any]],
) -> None:
    """Adds rows to a table, given by their columns, of these kinds of SQL."""
    names = ", ".join(f'"{name}"' for name in kinds)
    rows = ", ".join(f"unnest(${index + 1}::{kind}[])" for index, kind in enumerate(kinds.values()))
    columns = [values[name] for name in kinds]
    connection.execute(f'INSERT INTO "{table}" ({names}) SELECT {rows}', columns)


def _insert(connection: Connection, table: Table, run_id: int, items: Sequence[Row]) -> None:
    kinds = {column.name: column.kind for column in table.columns}
    values: Row = {name: [item.get(name) for item in items] for name in kinds}
    own: Row = {"run_id": [run_id] * len(items)}
    insert(connection, table.name, {"run_id": "INTEGER"} | kinds, own | values)
