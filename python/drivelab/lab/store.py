"""Results of points in a DuckDB file: each once, by its key, as soon as it is there."""

from __future__ import annotations

import json
import os
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
    """Reports by the keys of points; without a path only as long as the program runs."""

    def __init__(self, connection: duckdb.DuckDBPyConnection | None) -> None:
        self._connection = connection
        self._known: dict[str, Report] = {}

    def find(self, keys: Sequence[str]) -> dict[str, Report]:
        """Those of these points that were measured before."""
        found = {key: self._known[key] for key in keys if key in self._known}
        if self._connection is not None:
            missing = [key for key in dict.fromkeys(keys) if key not in found]
            rows = self._connection.execute(
                "SELECT key, report FROM points WHERE list_contains($keys, key)",
                {"keys": missing},
            ).fetchall()
            found |= {key: json.loads(report) for key, report in rows}
        return found

    def add(self, point: Point, report: Report) -> None:
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
            json.dumps(report),
        ]
        marks = ", ".join("?" * len(row))
        self._connection.execute(f"INSERT OR IGNORE INTO points VALUES ({marks})", row)


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
        # What is there may lie where nothing can be written, and is read all the same.
        fixed = file.exists() and not _writable(file)
        if not fixed:
            file.parent.mkdir(parents=True, exist_ok=True)
        connection = duckdb.connect(str(file), read_only=fixed)
    except (OSError, duckdb.Error) as error:
        reason = str(error).splitlines()[0]
        raise RequestError(f'store "{place}": can\'t be opened: {reason}') from None
    try:
        _check(connection, file)
        yield Store(connection)
    except duckdb.InvalidInputException:
        raise RequestError(
            f'store "{place}": can\'t be written, and not every point is in it; copy it elsewhere'
        ) from None
    except duckdb.IOException as error:
        raise WorkError(f'store "{place}": {str(error).splitlines()[0]}') from None
    finally:
        connection.close()


def _writable(file: Path) -> bool:
    """Whether the file can be changed, and files made beside it: DuckDB keeps its log there."""
    return os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)


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
