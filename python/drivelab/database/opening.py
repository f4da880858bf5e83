"""Opening the DuckDB files that hold runs, and taking turns at writing to them.

Programs that add runs to one file take turns: they hold a lock file beside it, `.NAME.lock`, also
while the file is made. Whoever else has the file open holds DuckDB's own lock; that is waited for,
too, by readers as by writers.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb

from drivelab import locks, paths
from drivelab.database.tables import READABLE, VERSION
from drivelab.errors import RequestError, WorkError, database_reason

WAIT_S = 60.0
"""How long other programs are waited for; recording a run takes a fraction of a second."""
Connection = duckdb.DuckDBPyConnection


class BusyError(RequestError):
    """Another program has the file."""


@contextlib.contextmanager
def turn(path: Path, option: str) -> Iterator[None]:
    """Holds off all others that would write to a file; raises BusyError after WAIT_S."""
    # Two names of one file are one file.
    real = paths.of_text(option, path.resolve())
    with contextlib.ExitStack() as lock:
        try:
            lock.enter_context(locks.held(real.with_name(f".{real.name}.lock"), WAIT_S))
        except locks.HeldError:
            raise BusyError(
                f'{option} "{path}": another drivelab writes to it, after {WAIT_S:g} s still'
            ) from None
        except OSError as error:
            raise RequestError(
                f'{option} "{path}": can\'t lock it ({error.strerror}); give a file on a disk '
                "that can"
            ) from None
        yield


@contextlib.contextmanager
def opened(path: Path, option: str, *, read_only: bool = True) -> Iterator[Connection]:
    """A database of this layout; raises RequestError for anything else."""
    paths.checked(option, path)
    try:
        if read_only and not path.is_file():
            raise RequestError(f'{option} "{path}": {paths.missing(path)}')
        connection = _connected(path, option, read_only)
    except duckdb.Error as error:
        raise RequestError(f'{option} "{path}": {database_reason(error)}') from None
    with connection:
        _check_layout(connection, path, option, writing=not read_only)
        try:
            yield connection
        except duckdb.Error as error:
            if read_only:
                raise RequestError(f'{option} "{path}": {database_reason(error)}') from None
            raise


def _connected(path: Path, option: str, read_only: bool) -> Connection:
    """A connection, as soon as no other program has the file; raises BusyError after WAIT_S."""
    # DuckDB reads tables of other formats, too, as views that vanish with the connection.
    if path.is_file() and path.stat().st_size > 0 and not _is_duckdb(path):
        raise RequestError(f'{option} "{path}": it is not a DuckDB database')
    end = time.perf_counter() + WAIT_S
    while True:
        try:
            return duckdb.connect(str(path), read_only=read_only)
        except duckdb.Error as error:
            if not _is_busy(error):
                raise
        if time.perf_counter() >= end:
            raise BusyError(
                f'{option} "{path}": another program has it open, after {WAIT_S:g} s still'
            )
        time.sleep(locks.POLL_S)


def _is_duckdb(path: Path) -> bool:
    """Whether a file begins as DuckDB's do: a sum of eight bytes, then its name."""
    try:
        with path.open("rb") as file:
            return file.read(12)[8:] == b"DUCK"
    except OSError:
        # Connecting tells why it can't be read.
        return True


def _is_busy(error: duckdb.Error) -> bool:
    return "Could not set lock" in str(error)


def _check_layout(connection: Connection, path: Path, option: str, writing: bool) -> None:
    try:
        tables = table_names(connection)
        version = None
        if "layout" in tables:
            row = connection.execute("SELECT version FROM layout").fetchone()
            version = row[0] if row else None
    except duckdb.Error as error:
        raise RequestError(f'{option} "{path}": {database_reason(error)}') from None
    if version == VERSION or (not tables and writing):
        return
    if version in READABLE and not writing:
        return
    if "points" in tables:
        raise RequestError(
            f'{option} "{path}": the results of a sweep; `drivelab sweep SWEEP.toml --store {path} '
            "--csv FILE.csv` makes a table of them, and drivelab.read() in Python reads them"
        )
    if version is None and "runs" not in tables:
        raise RequestError(
            f'{option} "{path}": a DuckDB file, but none of drivelab; give one of '
            "its own, or a new name"
        )
    if version in READABLE:
        raise RequestError(
            f'{option} "{path}": its tables have layout {version}, which is read only; allowed: '
            f"{VERSION}. Give a new name; `drivelab export {path} --run N --database NEW` takes "
            "runs over"
        )
    raise RequestError(
        f'{option} "{path}": its tables have layout {version or 1}; allowed: {VERSION}. Give a new '
        "name, and repeat the runs that are still needed"
    )


@contextlib.contextmanager
def written(path: Path) -> Iterator[None]:
    """What the database refuses to write, as the laboratory's error."""
    try:
        yield
    except duckdb.Error as error:
        raise WorkError(f"can't write to {path}: {database_reason(error)}") from None


def has_table(connection: Connection, name: str) -> bool:
    """Whether a file has a table: tags are new, and older layouts lack some."""
    return name in table_names(connection)


def table_names(connection: Connection) -> set[str]:
    """The tables that a file has; none of a new one."""
    found = connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
    return {name for (name,) in found}
