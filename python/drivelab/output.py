"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from drivelab.errors import RequestError, WorkError


def writable_folder(path: Path, option: str = "--out") -> Path:
    """The folder, created if need be; raises RequestError if files can't be written there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise RequestError(
            f'{option} "{path}": can\'t write there ({error.strerror}); give a folder that can be '
            "created or written"
        ) from None
    return path


def publish(folder: Path, writers: Mapping[str, Callable[[Path], None]]) -> list[Path]:
    """Lets each writer fill a temporary file, and gives all of them their names at the end.

    Nothing is left behind if any of them fails. Raises WorkError if the disk refuses.
    """
    with _scratch(folder) as scratch:
        try:
            for name, write in writers.items():
                write(scratch / name)
            return [(scratch / name).replace(folder / name) for name in writers]
        except OSError as error:
            raise WorkError(f"can't write to {folder}: {error.strerror}") from None


@contextlib.contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix=".writing-", dir=folder) as name:
        yield Path(name)
