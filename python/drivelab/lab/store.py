"""Results of points in a DuckDB file: each once, by its key, as soon as it is there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from drivelab import _engine
from drivelab.errors import RequestError, WorkError
from drivelab.lab.points import Point
from drivelab.targets import Report

FILE = "study.duckdb"
"""In a folder."""
VERSION = 1
_SQL = """
CREATE TABLE layout (version INTEGER NOT NULL);
CREATE TABLE points (
    key VARCHAR PRIMARY KEY,
    model VARCHAR NOT NULL,
    model_hash VARCHAR NOT NULL,
    parameters JSON NOT NULL,
    seed BIGINT NOT NULL,
    history JSON NOT NULL,
    job JSON NOT NULL,
    engine_version VARCHAR NOT NULL,
    report JSON NOT NULL
);
"""


class Store:
    """Reports by the keys of points; without a connection only as long as the program runs."""

    def __init__(self, connection: duckdb.DuckDBPyConnection | None) -> None:
        self._connection = connection
        self._known: dict[str, str] = {}

    def keys(self, wanted: Sequence[str]) -> set[str]:
        """Those of these keys whose points were measured before."""
        return set(self._select("key, ''", wanted))

    def reports(self, wanted: Sequence[str]) -> dict[str, Report]:
        """The reports of these points, as far as they are there."""
        return {key: json.loads(text) for key, text in self._select("key, report", wanted).items()}

    def add(self, point: Point, report: str) -> None:
        """Keeps a result: once this returns, nothing takes it away again."""
        if self._connection is None:
            self._known[point.key] = report
            return
        drive = point.drive
        row: list[Any] = [
            point.key,
            drive.name,
            drive.model.hash,
            json.dumps(dict(drive.model.overrides)),
            drive.seed,
            json.dumps(drive.history),
            json.dumps(point.job.record()),
            _engine.engine_version(),
            report,
        ]
        marks = ", ".join("?" * len(row))
        self._connection.execute(f"INSERT OR IGNORE INTO points VALUES ({marks})", row)

    def _select(self, columns: str, wanted: Sequence[str]) -> dict[str, str]:
        if self._connection is None:
            return {key: self._known[key] for key in wanted if key in self._known}
        rows = self._connection.execute(
            f"SELECT {columns} FROM points WHERE list_contains($keys, key)",
            {"keys": list(dict.fromkeys(wanted))},
        ).fetchall()
        return dict(rows)


@contextmanager
def opened(place: str | Path | None) -> Iterator[Store]:
    """The store of a file NAME.duckdb or of a folder; None: nothing stays.

    Raises RequestError for a place that can't be one, or that another program works with.
    """
    if place is None:
        yield Store(None)
        return
    path = Path(place)
    file = path if path.suffix == ".duckdb" else path / FILE
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        connection = duckdb.connect(str(file))
    except (OSError, duckdb.Error) as error:
        reason = str(error).splitlines()[0]
        raise RequestError(f'store "{place}": can\'t be opened: {reason}') from None
    try:
        _check(connection, file)
        yield Store(connection)
    except duckdb.IOException as error:
        raise WorkError(f'store "{place}": {str(error).splitlines()[0]}') from None
    finally:
        connection.close()


def _check(connection: duckdb.DuckDBPyConnection, file: Path) -> None:
    names = {name for (name,) in connection.execute("SHOW TABLES").fetchall()}
    if not names:
        connection.execute(f"BEGIN; {_SQL} INSERT INTO layout VALUES ({VERSION}); COMMIT")
        return
    version = (
        connection.execute("SELECT version FROM layout").fetchone() if "layout" in names else None
    )
    if version != (VERSION,) or "points" not in names:
        raise RequestError(
            f'store "{file}": this file is no store of points in layout {VERSION}; give another'
        )
