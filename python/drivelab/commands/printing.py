"""What commands print: JSON documents, tables, messages."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from drivelab.results import to_json

PLAIN_WIDTH = 140
"""Width of tables when standard output is a file or a pipe."""


def document(value: Any) -> None:
    """Prints one JSON document."""
    sys.stdout.write(to_json(value))


def message(text: str) -> None:
    """Prints a message to standard error."""
    print(text, file=sys.stderr)


def command_line(words: Sequence[str], seed: int) -> str:
    """A command as one types it, with its seed."""
    return shlex.join([*words, "--seed", str(seed)])


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leaves it to the command line how to end; rich would report a failure."""
        raise BrokenPipeError


def console() -> Console:
    """Standard output for tables."""
    found = _Console(highlight=False)
    return found if found.is_terminal else _Console(highlight=False, width=PLAIN_WIDTH)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[str]) -> None:
    """Prints a table; columns named in `numbers` are aligned to the right."""
    grid = Table(box=None, header_style="bold", pad_edge=False)
    for name in columns:
        grid.add_column(name, justify="right" if name in numbers else "left")
    for row in rows:
        grid.add_row(*row)
    console().print(grid)


def number(value: float | None, digits: int = 4) -> str:
    """A number in so many significant digits, without exponent; a dash for None.

    >>> number(1234567.0), number(0.2961), number(None)
    ('1234567', '0.2961', '-')
    """
    if value is None:
        return "-"
    if value == 0 or abs(value) >= 10 ** (digits - 1):
        return f"{value:.0f}"
    return f"{value:.{digits}g}" if abs(value) >= 1e-4 else f"{value:.2e}"
