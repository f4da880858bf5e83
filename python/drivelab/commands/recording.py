"""`--database`: what review, run and replay do to add their run to a database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from drivelab import database, progress
from drivelab.commands import printing


def check(file: Path | None) -> None:
    """Raises RequestError, before the work, if a database is wanted that can't take the run."""
    if file is not None:
        with _patience(file):
            database.check(file)


@contextmanager
def recorded(
    file: Path | None, run: database.Recorded, write_files: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Adds a run to a database, if one is wanted, after its results were printed; then come files
    that are to stand beside them.

    A database that fails now, or a file that can't be written, doesn't cost the results, nor does
    a reader of them that goes away cost the record and the files.
    """
    try:
        yield
    finally:
        try:
            record(file, run)
        finally:
            write_files()


def record(file: Path | None, run: database.Recorded) -> None:
    """Adds a run to a database, if one is wanted, and says which number it has there."""
    if file is not None:
        with _patience(file):
            run_id = database.append(file, run)
        printing.message(f"Recorded: run {run_id} of {file}")


def _patience(file: Path) -> AbstractContextManager[None]:
    return progress.patience(f"{file}: waiting for another program that has it")
