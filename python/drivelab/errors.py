"""The two ways a command can end badly, and the search for what was meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class RequestError(Exception):
    """The request was wrong (exit status 2); names the key, the value and what is allowed."""


class WorkError(Exception):
    """The request was right, but the work failed (exit status 1)."""


def nearest(word: str, known: Iterable[str]) -> str:
    """`; did you mean "x"?` for the closest known word, or a full stop if none is close.

    >>> nearest("fifp", ["greedy", "fifo"])
    '; did you mean "fifo"?'
    """
    by_folded = {name.casefold(): name for name in known}
    close = difflib.get_close_matches(word.casefold(), by_folded, n=1, cutoff=0.5)
    return f'; did you mean "{by_folded[close[0]]}"?' if close else "."
