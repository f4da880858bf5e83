"""The two ways a command can end badly, and the search for what was meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from itertools import takewhile


class RequestError(Exception):
    """The request was wrong (exit status 2); names the key, the value and what is allowed.

    >>> import drivelab as dl
    >>> dl.Job(rw="randwrit")
    Traceback (most recent call last):
    drivelab.errors.RequestError: Job: job "job": rw=randwrit ...

    `key` is the parameter or argument that is wrong, as the message calls it, where it says so.
    What the engine refuses of an array's member, `member.flash.read_ns`, has the key that it has in
    the member's own model, `flash.read_ns`.
    """

    def __init__(self, message: str, key: str | None = None) -> None:
        super().__init__(message)
        self.key = key


class WorkError(Exception):
    """The request was right, but the work failed (exit status 1).

    >>> import drivelab as dl
    >>> @dl.test(group="mine")
    ... def broken(bench):
    ...     "Divides by nothing."
    ...     return dl.Value("none", "None", 1 / 0, "")
    >>> dl.Drive("intel-x25-m-g1-80gb", scale="1/128").measure(broken)
    Traceback (most recent call last):
    drivelab.errors.WorkError: test "broken" ...: ZeroDivisionError: division by zero
    """


SHOWN_MAX = 3
"""Words that are suggested, where several are as near."""
NEAR, BEGINS_NEAR = 0.5, 0.75
"""How alike a word must be to a known one, and to the beginning of one, as difflib counts."""
WORD_MIN = 2
"""Letters of a word that something is suggested for: with a single one, whatever it is, many names
begin."""
INSIDE_MIN = 4
"""Letters of a word that is looked for inside of names: shorter ones are in many by chance."""


def nearest(word: str, known: Iterable[str]) -> str:
    """`; did you mean "x"?` for the closest known words, or a full stop if none is close.

    >>> nearest("fifp", ["greedy", "fifo"])
    '; did you mean "fifo"?'
    >>> nearest("g", ["greedy", "fifo"]), nearest("g-", ["greedy", "fifo"])
    ('.', '.')
    >>> drives = ["intel-x25-v-40gb", "intel-x25-m-g2-80gb", "intel-x25-m-g1-80gb"]
    >>> nearest("intel-x25m", drives)
    '; did you mean "intel-x25-m-g1-80gb" or "intel-x25-m-g2-80gb"?'
    >>> nearest("intel-x25-m-g9", drives) == nearest("intel-x25m", drives)
    True
    """
    bare = _bare(word)
    names = list(dict.fromkeys(known)) if len(bare) >= WORD_MIN else []
    # Who left out dashes, or the end of a name, meant one that begins like that; who left out its
    # beginning, too, one that has it inside.
    begins = [name for name in names if bare and _bare(name).startswith(bare)]
    has = [name for name in names if len(bare) >= INSIDE_MIN and bare in _bare(name)]
    found = begins or has or _near(word, names)
    if not found:
        return "."
    shortest = sorted(found, key=lambda name: (len(name), name))[:SHOWN_MAX]
    *others, last = (f'"{name}"' for name in shortest)
    return f"; did you mean {', '.join(others)}{' or ' if others else ''}{last}?"


def _near(word: str, names: Iterable[str]) -> list[str]:
    """The names most like a word: several if they are equally so, and begin as long as it does."""
    folded = word.casefold()
    likeness = {name: _likeness(folded, name.casefold()) for name in names}
    best = max(likeness.values(), default=_UNLIKE)
    return [name for name, own in likeness.items() if own == best] if best > _UNLIKE else []


_UNLIKE = 0.0, False, 0


def _likeness(word: str, name: str) -> tuple[float, bool, int]:
    """How alike a word is to a name, or, if more, to its beginning; whether it is to all of it; how
    many letters both begin with. `_UNLIKE` if it is to neither.

    What follows in a longer name isn't against it: who mistyped a letter left out the end, too.
    """

    def ratio(text: str) -> float:
        return difflib.SequenceMatcher(None, text, word).ratio()

    whole, beginning = ratio(name), ratio(name[: len(word)])
    if not word or (whole < NEAR and beginning < BEGINS_NEAR):
        return _UNLIKE
    shared = takewhile(lambda pair: pair[0] == pair[1], zip(word, name, strict=False))
    return max(whole, beginning), whole >= beginning, len(list(shared))


def _bare(name: str) -> str:
    """Letters and digits alone."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def toml_reason(error: Exception, text: str) -> str:
    """What is wrong with a text that isn't TOML, and the line that is, which has the key.

    >>> toml_reason(ValueError("Invalid value (at line 2, column 5)"), "a = 1\\nb = 4k")
    'Invalid value (at line 2, column 5): b = 4k'
    """
    found = re.search(r"at line (\d+)", str(error))
    lines = text.splitlines()[int(found[1]) - 1 :] if found is not None else []
    return f"{error}: {lines[0].strip()[:LINE_LETTERS]}" if lines else str(error)


LINE_LETTERS = 80
"""Of a line that a message has."""


HELD = "another program has it open"
"""The reason why a database can't be opened that may become one any moment."""


def database_reason(error: Exception) -> str:
    """What refused a database, without the words that only DuckDB's makers need: the system's own,
    where it did, or the first line of DuckDB's."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    text = str(error).strip().splitlines()[0]
    if found := re.search(r'Could not write file "[^"]*": (.+)', text):
        return found[1]
    if "not a valid DuckDB database file" in text:
        return "it is not a DuckDB database"
    if "Could not set lock" in text:
        return HELD
    return text.removeprefix("IO Error: ")
