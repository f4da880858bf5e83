"""Results of points in a DuckDB file: each once, by its key, as soon as it is there."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import duckdb
from pydantic_core import from_json

from drivelab import _engine, paths
from drivelab.errors import HELD, RequestError, WorkError, database_reason
from drivelab.lab.history import drive_key
from drivelab.lab.points import Point, point_key
from drivelab.stored import STUDY_FILE
from drivelab.targets import Report

FILE = STUDY_FILE
"""In a folder."""
_TABLES = (".csv", ".json", ".parquet")
"""Endings of what a store is taken for."""
VERSION = 1
UNTOLD_MAX = 32
"""Points that are said in SQL together."""
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
    """Reports by the keys of points; without a connection none is kept."""

    def __init__(self, connection: duckdb.DuckDBPyConnection | None) -> None:
        self._connection = connection
        self._untold: dict[str, Report] = {}
        """Kept, but not yet said in SQL."""

    def reports(self, wanted: Sequence[str]) -> dict[str, Report]:
        """The reports of these points, as far as they were measured before."""
        if self._connection is None:
            return {}
        rows = self._connection.execute(
            "SELECT key, report FROM points WHERE list_contains($keys, key)",
            {"keys": list(dict.fromkeys(wanted))},
        ).fetchall()
        return {key: from_json(text) for key, text in rows}

    def add(self, point: Point, text: str, report: Report) -> None:
        """Keeps a result, which is JSON in `text`, in the file: once this returns, nothing takes it
        away again."""
        if self._connection is None:
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
            text,
        ]
        marks = ", ".join("?" * len(row))
        statement = f"INSERT OR IGNORE INTO points VALUES ({marks})"
        if self._connection.execute(statement, row).fetchone() == (1,):
            self._untold[point.key] = report
        # While workers measure, not after them, when all processors but one would wait for it.
        if len(self._untold) == UNTOLD_MAX:
            self.tell()

    def tell(self) -> None:
        """Says in SQL what was kept since the last call."""
        if self._connection is None:
            return
        # Needs the tables of results, which take a while to load.
        from drivelab.lab import store_tables

        untold, self._untold = self._untold, {}
        store_tables.add(self._connection, untold)


def file_of(place: str | Path) -> Path:
    """The file of a store: NAME.duckdb itself, or in a folder."""
    path = paths.checked("store", place)
    return path if path.suffix == ".duckdb" else path / FILE


@contextmanager
def opened(place: str | Path | None) -> Iterator[Store]:
    """The store of a file NAME.duckdb or of a folder; None: nothing stays.

    Raises RequestError for a place that can't be one, or that another program works with.
    """
    if place is None:
        yield Store(None)
        return
    file = file_of(place)
    # What is there may lie where nothing can be written, and is read all the same.
    fixed = file.exists() and not _writable(file)
    with _connected(place, read_only=fixed) as connection:
        try:
            kept = Store(connection)
            yield kept
            if not fixed:
                kept.tell()
                _tell_rest(connection)
        except duckdb.InvalidInputException:
            if not fixed:
                raise
            raise RequestError(
                f'store "{place}": can\'t be written, and not every point is in it; copy it '
                "elsewhere",
                "store",
            ) from None


def is_store(place: str | Path) -> bool:
    """Whether a file or folder holds points of studies."""
    file = file_of(place)
    if not file.is_file():
        return False
    try:
        with duckdb.connect(str(file), read_only=True) as connection:
            names = {name for (name,) in connection.execute("SHOW TABLES").fetchall()}
    except duckdb.Error:
        return False
    return {"layout", "points"} <= names


def rows(place: str | Path) -> list[dict[str, Any]]:
    """All points of a store, in the order in which they came: its columns by name.

    Raises RequestError for a place that is none.
    """
    with _connected(place, read_only=True) as connection:
        found = connection.execute("SELECT * FROM points ORDER BY rowid")
        names = [column[0] for column in found.description or ()]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def merge(places: Sequence[str | Path], into: str | Path) -> tuple[int, int]:
    """Adds the points of stores to one that may be there already, in one transaction.

    Returns how many were added, and how many were there. Raises RequestError for a place that is no
    store, for a point that isn't what its key says, and for two results of one point that differ.
    """
    files = [file_of(place) for place in places]
    for place, file in zip(places, files, strict=True):
        if not file.is_file():
            raise RequestError(f'store "{place}": there is no {file}')
        if file.resolve() == file_of(into).resolve():
            raise RequestError(f'store "{place}": it is the one that is merged into')
    added = seen = 0
    with _gone_if_it_fails(file_of(into)), _connected(into) as connection:
        connection.begin()
        for place in places:
            with _connected(place, read_only=True) as other:
                rows = other.execute("SELECT * FROM points ORDER BY rowid").fetchall()
            for row in rows:
                _check_key(place, row)
                added += _merged(connection, place, row)
            seen += len(rows)
        connection.commit()
        _tell_rest(connection)
    return added, seen - added


@contextmanager
def _gone_if_it_fails(file: Path) -> Iterator[None]:
    """A file that wasn't there before is not left behind half-made, nor is its folder."""
    if file.exists():
        yield
        return
    made = [folder for folder in (file.parent, *file.parent.parents) if not folder.exists()]
    try:
        yield
    except _HeldError:
        # Whoever made it meanwhile is at work with it.
        raise
    except BaseException:
        for left in (file, file.with_name(f"{file.name}.wal")):
            left.unlink(missing_ok=True)
        # What others have put there meanwhile stays.
        with suppress(OSError):
            for folder in made:
                folder.rmdir()
        raise


def _tell_rest(connection: duckdb.DuckDBPyConnection) -> None:
    """Says in SQL what others left untold: what was interrupted, and what another version kept."""
    from drivelab.lab import store_tables

    store_tables.fill(connection)


def _check_key(place: str | Path, row: Sequence[Any]) -> None:
    key, _, model_hash, _, seed, history, job, engine_version, _ = row
    drive = drive_key(model_hash, seed, json.loads(history), engine_version)
    if point_key(drive, json.loads(job)) != key:
        raise RequestError(
            f'store "{place}": point {key[:12]}... is not what its key says: the file was changed'
        )


def _merged(connection: duckdb.DuckDBPyConnection, place: str | Path, row: Sequence[Any]) -> bool:
    """Whether the point wasn't there yet."""
    found = connection.execute("SELECT report FROM points WHERE key = ?", [row[0]]).fetchone()
    if found is None:
        connection.execute(f"INSERT INTO points VALUES ({', '.join('?' * len(row))})", list(row))
        return True
    if json.loads(found[0]) != json.loads(row[-1]):
        raise RequestError(
            f'store "{place}": point {row[0][:12]}... of {row[1]} has another result than the '
            "one that is there; nothing was merged"
        )
    return False


@contextmanager
def _connected(place: str | Path, read_only: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
    file = file_of(place)
    folder = file.parent
    is_new = file != Path(place) and not folder.is_dir()
    if is_new and (folder.exists() or folder.suffix in _TABLES):
        raise RequestError(
            f'store "{place}": it keeps the results of a sweep, which are no table; give a '
            "folder, or a name that ends in .duckdb (`sweep --csv` writes a table)",
            "store",
        )
    with nullcontext() if read_only else _gone_if_it_fails(file):
        connection = _open(place, read_only)
    try:
        yield connection
    except _REFUSED as error:
        raise WorkError(f'store "{place}": {database_reason(error)}') from None
    finally:
        connection.close()


def _open(place: str | Path, read_only: bool) -> duckdb.DuckDBPyConnection:
    """A connection to a store, made if need be."""
    file = file_of(place)
    try:
        if not read_only:
            file.parent.mkdir(parents=True, exist_ok=True)
        connection = duckdb.connect(str(file), read_only=read_only)
        try:
            _check(connection, file, making=not read_only)
        except BaseException:
            connection.close()
            raise
    except (OSError, duckdb.Error) as error:
        raise _unopened(place, error) from None
    return connection


_REFUSED = (duckdb.IOException, duckdb.TransactionException, duckdb.FatalException)
"""What DuckDB raises where the disk refuses: in a statement, at its commit, and afterwards."""
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class _HeldError(RequestError):
    """Another program has the store."""


def _unopened(place: str | Path, error: Exception) -> RequestError | WorkError:
    """Of a store that can't be opened: a place that is none was asked for, a full disk was not."""
    reason = database_reason(error)
    said = f'store "{place}": can\'t be opened: {reason}'
    if reason in map(os.strerror, _NO_ROOM):
        return WorkError(said)
    return (_HeldError if reason == HELD else RequestError)(said, "store")


def _writable(file: Path) -> bool:
    """Whether the file can be changed, and files made beside it: DuckDB keeps its log there."""
    return os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)


def _check(connection: duckdb.DuckDBPyConnection, file: Path, *, making: bool) -> None:
    names = {name for (name,) in connection.execute("SHOW TABLES").fetchall()}
    if not names and making:
        connection.execute(f"BEGIN; {_SQL} INSERT INTO layout VALUES ({VERSION}); COMMIT")
        return
    try:
        connection.execute("SELECT key, report FROM points LIMIT 0")
        version = connection.execute("SELECT version FROM layout").fetchone()
    except duckdb.IOException:
        raise
    except duckdb.Error:
        # Tables, or columns of them, are missing.
        version = None
    if version != (VERSION,):
        raise RequestError(
            f'store "{file}": this file is no store of points in layout {VERSION}; give another',
            "store",
        )
