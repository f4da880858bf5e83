"""The two ways a command can end badly, and the search for what was meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class RequestError(Exception):
    """The request was wrong (exit status 2); names the key, the value and what is allowed."""


class WorkError(Exception):
    """The request was right, but the work failed (exit status 1)."""


SHOWN_MAX = 3
"""Words that are suggested, where several begin as somebody wrote."""


def nearest(word: str, known: Iterable[str]) -> str:
    """`; did you mean "x"?` for the closest known words, or a full stop if none is close.

    >>> nearest("fifp", ["greedy", "fifo"])
    '; did you mean "fifo"?'
    >>> nearest("intel-x25m", ["intel-x25-v-40gb", "intel-x25-m-g2-80gb", "intel-x25-m-g1-80gb"])
    '; did you mean "intel-x25-m-g1-80gb" or "intel-x25-m-g2-80gb"?'
    """
    names = list(known)
    # Who left out dashes, or the end of a name, meant one that begins like that.
    bare = _bare(word)
    begins = [name for name in names if bare and _bare(name).startswith(bare)]
    if begins:
        shortest = sorted(begins, key=lambda name: (len(name), name))[:SHOWN_MAX]
        *others, last = (f'"{name}"' for name in shortest)
        return f"; did you mean {', '.join(others)}{' or ' if others else ''}{last}?"
    by_folded = {name.casefold(): name for name in names}
    close = difflib.get_close_matches(word.casefold(), by_folded, n=1, cutoff=0.5)
    return f'; did you mean "{by_folded[close[0]]}"?' if close else "."


def _bare(name: str) -> str:
    """Letters and digits alone."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def database_reason(error: Exception) -> str:
    """The first line of DuckDB's message, without the words that only its makers need."""
    text = str(error).strip().splitlines()[0]
    if "not a valid DuckDB database file" in text:
        return "it is not a DuckDB database"
    if "Could not set lock" in text:
        return "another program has it open"
    return text.removeprefix("IO Error: ")
