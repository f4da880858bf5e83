"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from drivelab import locks, paths
from drivelab.errors import RequestError, WorkError, nearest


def writable_folder(path: Path, option: str = "--out", file: Path | None = None) -> Path:
    """The folder; raises RequestError if files can't be written there. `file` is the one that is to
    be, where the option names that.

    A folder that isn't there yet is made by `publish`, so that work that fails leaves nothing.
    """
    paths.checked(option, path)
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        wanted = "a folder that can be created or written"
        wanted = wanted if file is None else f"a file in {wanted}"
        raise _unwritable(file or path, option, error, wanted) from None
    finally:
        with contextlib.suppress(OSError):
            for folder in missing:
                folder.rmdir()
    return path


LOCK_NAME = ".drivelab.lock"


@contextlib.contextmanager
def claimed(folder: Path, option: str = "--out") -> Iterator[None]:
    """Holds a folder from before the work to its results: two would replace each other's.

    Raises RequestError if another program has it. A folder that is made here and stays empty is
    removed again.
    """
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    try:
        with contextlib.ExitStack() as lock:
            try:
                lock.enter_context(_locked(folder))
            except locks.HeldError:
                raise RequestError(
                    f'{option} "{folder}": another drivelab is at work on results for this '
                    "folder; give another, or come back when it has ended"
                ) from None
            except OSError as error:
                raise _unwritable(folder, option, error, "a folder that can be written") from None
            yield
    finally:
        with contextlib.suppress(OSError):
            for parent in missing:
                parent.rmdir()


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with contextlib.ExitStack() as lock:
        while True:
            folder.mkdir(parents=True, exist_ok=True)
            # Who held it before may have removed the empty folder meanwhile.
            with contextlib.suppress(FileNotFoundError):
                lock.enter_context(locks.held(folder / LOCK_NAME, wait_s=0))
                break
        yield


@contextlib.contextmanager
def standard() -> Iterator[None]:
    """Writes to standard output; raises WorkError that says so where these fail."""
    try:
        yield
    except BrokenPipeError:
        # Who reads has had enough.
        raise
    except OSError as error:
        # Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise WorkError(f"can't write to standard output: {error.strerror}") from None


HTML = (".html", ".htm")
"""Endings of pages."""


def check_ending(path: Path, option: str, *endings: str) -> None:
    """Raises RequestError for a name with another ending than these: it decides who opens it."""
    paths.checked(option, path)
    ending = path.suffix.lower()
    if ending not in endings:
        hint = nearest(ending, endings).removesuffix(".")
        *others, last = endings
        allowed = f"{', '.join(others)} or {last}" if others else last
        raise RequestError(f'{option} "{path}": allowed: a name that ends in {allowed}{hint}')


def writable_file(path: Path, option: str, *endings: str) -> Path:
    """The path of a file; raises RequestError if its folder isn't there or can't be written.

    `endings` are those that its name may have; without them it may have any.
    """
    paths.checked(option, path)
    if path.is_dir():
        raise RequestError(f'{option} "{path}": is a folder; give the name of a file')
    if endings:
        check_ending(path, option, *endings)
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise _unwritable(path, option, error, "a file in a folder that can be written") from None
    return path


def check_replaceable(path: Path, option: str, head: bytes) -> None:
    """Raises RequestError if a file is there that doesn't begin like those that are written: it
    would be lost. An earlier one may be replaced, and an empty file holds nothing."""
    if not path.exists():
        return
    try:
        with path.open("rb") as file:
            begins = file.read(len(head))
    except OSError as error:
        raise _unwritable(path, option, error, "another name, or remove it first") from None
    if begins not in (b"", head):
        raise RequestError(
            f'{option} "{path}": there is another file, which would be lost; give another name, or '
            "remove it first"
        )


def _unwritable(path: Path, option: str, error: OSError, wanted: str) -> RequestError:
    return RequestError(f'{option} "{path}": can\'t write there ({error.strerror}); give {wanted}')


def publish(folder: Path, writers: Mapping[str, Callable[[Path], None]]) -> list[Path]:
    """Lets each writer fill a temporary file, and gives all of them their names at the end.

    The folder is made if need be. Nothing is left behind if any of them fails. Raises WorkError if
    the disk refuses.
    """
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with scratch(folder) as made_in:
            for name, write in writers.items():
                write(made_in / name)
            return [_renamed(made_in / name, folder / name) for name in writers]
    except BaseException as error:
        with contextlib.suppress(OSError):
            for parent in missing:
                parent.rmdir()
        if isinstance(error, OSError):
            raise WorkError(f"can't write to {folder}: {error.strerror}") from None
        raise


def publish_files(writers: Mapping[Path, Callable[[Path], None]]) -> None:
    """The same for files anywhere, in folders that are there: all of them, or none."""
    made: list[tuple[Path, Path]] = []
    path = Path()
    try:
        with contextlib.ExitStack() as stack:
            folders: dict[Path, Path] = {}
            for path, write in writers.items():
                if path.parent not in folders:
                    folders[path.parent] = stack.enter_context(scratch(path.parent))
                unnamed = folders[path.parent] / path.name
                write(unnamed)
                made.append((unnamed, path))
            for unnamed, path in made:
                _renamed(unnamed, path)
    except OSError as error:
        # A write that is refused names no file.
        name = Path(error.filename).name if error.filename else path.name
        raise WorkError(f"can't write {name}: {error.strerror}") from None


@contextlib.contextmanager
def system_errors(path: Path) -> Iterator[None]:
    """Raises OSError where polars met one as it wrote a file, and says it in words of its own, or
    not at all."""
    from polars.exceptions import ComputeError

    try:
        yield
    except ComputeError as error:
        if (number := re.search(r"os error (\d+)", str(error))) is None:
            _ask_again(path)
            raise
        code = int(number[1])
        raise OSError(code, os.strerror(code), str(path)) from None


PROBE_BYTES = 1 << 16
"""More than any small file is refused for."""


def _ask_again(path: Path) -> None:
    """Raises OSError if a file that couldn't be written takes no more."""
    try:
        with path.open("ab") as file:
            file.write(bytes(PROBE_BYTES))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def write_text(path: Path, text: str) -> None:
    """Writes a file in UTF-8."""
    path.write_text(text, encoding="utf-8")


def _renamed(made: Path, path: Path) -> Path:
    # DuckDB would apply the log of an older database of this name to the new one.
    path.with_name(f"{path.name}.wal").unlink(missing_ok=True)
    return made.replace(path)


@contextlib.contextmanager
def scratch(folder: Path) -> Iterator[Path]:
    """A folder in this one for files that aren't whole; it is gone at the end."""
    with tempfile.TemporaryDirectory(prefix=".writing-", dir=folder) as name:
        yield Path(name)
