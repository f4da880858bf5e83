"""`--database`: what review, run and replay do to add their run to a database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from drivelab import database
from drivelab.commands import printing


def check(file: Path | None) -> None:
    """Raises RequestError, before the work, if a database is wanted that can't take the run."""
    if file is not None:
        database.check(file)


@contextmanager
def recorded(file: Path | None, run: database.Recorded) -> Iterator[None]:
    """Adds a run to a database, if one is wanted, after its results were printed.

    A database that fails now doesn't cost the results, nor does a reader of them that goes away
    cost the record.
    """
    try:
        yield
    finally:
        record(file, run)


def record(file: Path | None, run: database.Recorded) -> None:
    """Adds a run to a database, if one is wanted, and says which number it has there."""
    if file is not None:
        printing.message(f"Recorded: run {database.append(file, run)} of {file}")
