"""Lines and tables before they are printed: data, with no width yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Span = tuple[str, str]
"""Text and its style, as in "black on green"; "" is none."""


@dataclass(frozen=True)
class Line:
    """A line, or several at once; what is longer than the terminal is wide goes on below."""

    text: str | Sequence[Span]
    style: str = ""
    """Of all of it: "bold", "dim", or none; files and pipes have none."""
    wrapped: bool = True
    """False: it stays one line, however long."""


@dataclass(frozen=True)
class Table:
    """A table with heads."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Sequence[str] = ()
    """Columns that are aligned to the right."""
    whole: Sequence[str] = ()
    """Columns whose cells aren't cut where a terminal is narrow."""


Part = Line | Table
"""What a document is made of."""

BLANK = Line("")
