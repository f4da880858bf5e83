"""Standard input, output and error as a command finds them: closed by who started it, or of an
encoding that lacks letters."""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Callable

PLAIN = (
    {"\xa0": " ", "\u202f": " ", "\u2009": " ", "\u2212": "-", "–": "-", "—": "-", "…": "..."}
    | {"×": "x", "±": "+-", "µ": "u", "μ": "u", "→": "->", "≥": ">=", "≤": "<=", "↑": "^"}
    | {"↓": "v", "·": ".", "’": "'", "“": '"', "”": '"', "²": "2"}
)
"""What stands for letters that drivelab itself writes, where an encoding lacks them."""


def prepare() -> None:
    """Makes standard streams that can be used, whatever the process was started with.

    One that is closed is nobody's: what is written to it is dropped. Its number is taken, so that
    no file gets it that is opened later. Letters that an encoding lacks are replaced.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # The lowest number that is free: that of the stream.
            number = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8"))
    codecs.register_error(REPLACED, _replaced)
    codecs.register_error(ESCAPED, _escaped)
    for stream, errors in ((sys.stdout, REPLACED), (sys.stderr, ESCAPED)):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)


def holds_all_letters() -> bool:
    """Whether standard output can take every letter there is."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return codecs.lookup(encoding).name.startswith("utf")


Replacement = tuple[str | bytes, int]
"""What stands for letters, and where to go on."""
REPLACED, ESCAPED = "drivelab.replaced", "drivelab.escaped"


def _replaced(error: UnicodeError) -> Replacement:
    """Letters that can't be written: plain ones if there are any, else question marks."""
    return _plain(error, codecs.replace_errors)


def _escaped(error: UnicodeError) -> Replacement:
    """The same of messages: those without plain ones are told as Python writes them."""
    return _plain(error, codecs.backslashreplace_errors)


def _plain(error: UnicodeError, otherwise: Callable[[UnicodeError], Replacement]) -> Replacement:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letter = error.object[error.start]
    if letter in PLAIN:
        return PLAIN[letter], error.start + 1
    error.end = error.start + 1
    return otherwise(error)
