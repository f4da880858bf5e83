"""A table of requests in a file that is written while they run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

from drivelab import output
from drivelab.errors import RequestError

if TYPE_CHECKING:
    import polars as pl

    from drivelab.targets.engine import Columns
    from drivelab.targets.going import EngineRun

CHUNK_ROWS = 1 << 17
"""Requests that become a table together: enough for the writer to be as fast as it can."""

ROW_GROUP_ROWS = 1 << 20
"""Requests that are found together in the file."""

COMPRESSION: Final = "lz4"
"""It takes little of the processor that the run could use."""


@contextmanager
def request_file(path: Path, jobs: Sequence[str]) -> Iterator[RequestFile]:
    """A file beside this one, which `move_to` gives its name; gone if nobody does."""
    with output.scratch(path.parent) as folder, RequestFile(folder / path.name, jobs) as file:
        yield file


def stamp(path: Path) -> tuple[int, int] | None:
    """What tells a file from another of its name; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino


def write_table(table: pl.DataFrame, path: Path) -> None:
    """Writes requests that have run; raises OSError where the system refuses."""
    with output.system_errors(path):
        table.write_parquet(path, compression=COMPRESSION, row_group_size=ROW_GROUP_ROWS)


def read_table(path: Path) -> pl.DataFrame:
    """The table that a run has written; raises RequestError for a file that is damaged."""
    import polars as pl

    from drivelab.lab.requests import is_log

    try:
        table = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        # What damage makes of it varies: even what polars doesn't expect.
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise _damaged(path, reason) from None
    if not is_log(table.schema):
        raise _damaged(path, "its columns are others")
    return table


def check_replaceable(path: Path, option: str) -> None:
    """Raises RequestError if a file is there that is no log of requests: it would be lost.

    One that a run wrote before may be replaced, and an empty file holds nothing.
    """
    if not path.exists() or path.stat().st_size == 0:
        return
    import polars as pl

    from drivelab.lab.requests import is_log

    try:
        known = is_log(pl.read_parquet_schema(path))
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        known = False
    if not known:
        raise RequestError(
            f'{option} "{path}": there is another file, no log of requests, which would be lost; '
            "give another name, or remove it first"
        )


def _damaged(path: Path, reason: str) -> RequestError:
    return RequestError(
        f'requests: "{path}": can\'t be read as the run has written it ({reason}); run it again'
    )


class _Reader(Protocol):
    """Who has columns of requests, stretch by stretch: `_engine.LogReader`."""

    def next(self, rows: int) -> Columns | None:
        """The next ones; None after the last."""

    def close(self) -> None:
        """Nobody reads any more."""


@dataclass
class _Ready:
    """Columns that are there already."""

    columns: Columns | None

    def next(self, rows: int) -> Columns | None:
        found, self.columns = self.columns, None
        return found

    def close(self) -> None:
        self.columns = None


@dataclass(frozen=True)
class _Part:
    """A group of jobs."""

    reader: _Reader
    first_job: int
    later_ns: int
    """When it began, after the first group."""


class RequestFile:
    """A Parquet table of every request of groups that run one after another.

    Another thread writes it meanwhile: a long log needs little memory, and hardly any time where
    there is another processor. A run waits for the writer only where that is slower.
    """

    def __init__(self, path: Path, jobs: Sequence[str]) -> None:
        """Begins a file; `jobs` are the names of all jobs, which differ."""
        self.path = path
        self._jobs = jobs
        self._start_ns: int | None = None
        self._parts: SimpleQueue[_Part | None] = SimpleQueue()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="request file")
        self._written = self._thread.submit(self._write)

    @contextmanager
    def following(self, run: EngineRun, first_job: int) -> Iterator[None]:
        """Writes the requests of jobs that run in here; `first_job` is the first one's number."""
        self._add(run.stream_log(), first_job, run.target.now_ns)
        try:
            yield
        finally:
            run.end_log()

    def add(self, columns: Columns, first_job: int, start_ns: int) -> None:
        """Writes the requests of jobs that have run since this time of the drive's clock."""
        self._add(_Ready(columns), first_job, start_ns)

    def _add(self, reader: _Reader, first_job: int, start_ns: int) -> None:
        if self._start_ns is None:
            self._start_ns = start_ns
        self._parts.put(_Part(reader, first_job, start_ns - self._start_ns))

    def move_to(self, path: Path) -> None:
        """The file in its place, once it is whole; raises OSError where the system refused."""
        self._parts.put(None)
        self._written.result()
        self.path.replace(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        """Ends the thread, also where nobody wants the file any more."""
        self._parts.put(None)
        self._thread.shutdown()

    def _write(self) -> None:
        # Tables take a while to load: the drive is prepared meanwhile.
        from polars.io.plugins import register_io_source

        from drivelab.lab.requests import log_schema

        frames = _Frames(self._parts, self._jobs)

        def source(*_pushed_down: object) -> Iterator[pl.DataFrame]:
            return iter(frames)

        try:
            table = register_io_source(source, schema=log_schema(self._jobs))
            with output.system_errors(self.path):
                table.sink_parquet(
                    self.path, compression=COMPRESSION, row_group_size=ROW_GROUP_ROWS
                )
        finally:
            frames.drain()


class _Frames:
    """Tables of the requests of all parts, until there are no more parts.

    polars reads them in threads of its own, which may still be at it when writing has failed and
    another thread drains what is left.
    """

    def __init__(self, parts: SimpleQueue[_Part | None], jobs: Sequence[str]) -> None:
        self._parts = parts
        self._jobs = jobs
        self._part: _Part | None = None
        self._ended = False
        self._failed = False
        self._reading = Lock()
        """Held by who reads, or closes: a reader refuses to be closed while it is read."""

    def __iter__(self) -> Iterator[pl.DataFrame]:
        while (part := self._next_part()) is not None:
            while (columns := self._next_columns(part)) is not None:
                yield self._table(columns, part)

    def _next_part(self) -> _Part | None:
        part = self._part = self._parts.get()
        if part is None:
            self._ended = True
            # Somebody else may wait for the end, too.
            self._parts.put(None)
        return part

    def _next_columns(self, part: _Part) -> Columns | None:
        with self._reading:
            if not self._failed:
                return part.reader.next(CHUNK_ROWS)
        part.reader.close()
        return None

    def drain(self) -> None:
        """What comes after a failure goes nowhere: nobody may wait for a reader that has left."""
        self._failed = True
        while not self._ended:
            if (part := self._part) is not None:
                # The run goes on meanwhile: what is being read comes to its end.
                with self._reading:
                    part.reader.close()
            self._next_part()

    def _table(self, columns: dict[str, Any], part: _Part) -> pl.DataFrame:
        import numpy as np
        import polars as pl

        from drivelab.lab.requests import log_table

        if part.first_job:
            # Not in place: columns that were there already are somebody else's too.
            columns = columns | {"job": columns["job"] + np.uint32(part.first_job)}
        table = log_table(columns, self._jobs)
        if part.later_ns == 0:
            return table
        return table.with_columns(
            pl.col("issued_ns", "submitted_ns", "completed_ns") + part.later_ns
        )
