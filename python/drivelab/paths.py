"""Names that no file can have: refused by name before a system call raises over them."""

from __future__ import annotations

import os
from pathlib import Path

from drivelab.errors import RequestError

NAME_BYTES_MAX = 255
"""Of a file or a folder, on the file systems of Linux."""
PATH_BYTES_MAX = 4095
"""Of all of them together: PATH_MAX less the byte that ends it."""
SHOWN_LETTERS = 60


def checked(what: str, path: str | os.PathLike[str]) -> Path:
    """The path; raises RequestError for one that no file can have, and for one that nobody may look
    at. `what` is the option's name."""
    text = os.fspath(path)
    if not text:
        raise RequestError(f'{what} "": allowed: the name of a file')
    if "\0" in text:
        raise RequestError(f"{what} {_shown(text)}: allowed: names without a NUL character")
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        raise RequestError(
            f"{what} {_shown(text)}: allowed: names without half a surrogate pair"
        ) from None
    longest = max((len(os.fsencode(name)) for name in Path(text).parts), default=0)
    if longest > NAME_BYTES_MAX:
        raise RequestError(
            f"{what} {_shown(text)}: a name of {longest} bytes; allowed: {NAME_BYTES_MAX} for each "
            "file and folder"
        )
    if len(os.fsencode(text)) > PATH_BYTES_MAX:
        raise RequestError(
            f"{what} {_shown(text)}: a path of {len(os.fsencode(text))} bytes; allowed: "
            f"{PATH_BYTES_MAX}"
        )
    check_reachable(f'{what} "{escaped(text)}"', Path(text))
    return Path(text)


def check_reachable(what: str, path: Path) -> None:
    """Raises RequestError for a path below a folder that this user may not search: whether anything
    is there, nobody could say. `what` is what the message begins with."""
    try:
        path.stat()
    except PermissionError as error:
        raise RequestError(
            f"{what}: can't be looked at ({error.strerror}); allowed: paths below folders that you "
            "may search"
        ) from None
    except OSError:
        # Who opens it says more.
        pass


def expanded(path: str | os.PathLike[str]) -> Path:
    """The path with the home directory for a `~` at its beginning; as it is, where nobody has that
    name."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def of_text(what: str, path: Path) -> Path:
    """The path; raises RequestError for one whose folders aren't text: results can't name it."""
    if (shown := escaped(str(path))) != str(path):
        raise RequestError(f'{what} "{shown}": allowed: names of text in UTF-8')
    return path


def missing(path: Path) -> str:
    """Why a path is no file that can be read: there is none, or something else."""
    if path.is_dir():
        return "is a folder; give the name of a file"
    return "is not a file" if path.exists() else "there is no such file"


def escaped(text: str) -> str:
    """The text with `\\xff` for bytes of file names and arguments that aren't UTF-8, and with
    `\\ud800` for half a surrogate pair; any other text as it is."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _shown(text: str) -> str:
    short = text if len(text) <= SHOWN_LETTERS else text[:SHOWN_LETTERS] + "..."
    return '"' + escaped(short).replace("\0", "\\0") + '"'
