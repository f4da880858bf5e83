"""Lines and tables on standard output, or as one text."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable
from html import escape

from rich.console import Console, JustifyMethod
from rich.table import Table as Grid
from rich.text import Text

from drivelab.text.layout import Part, Table

PLAIN_WIDTH = 140
"""Width of tables when standard output is a file or a pipe, and COLUMNS doesn't say another."""


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leaves it to the command line how to end; rich would report a failure."""
        raise BrokenPipeError


def _console() -> Console:
    """Standard output."""
    found = _Console(highlight=False)
    stated = os.environ.get("COLUMNS", "")
    is_known = found.is_terminal or (stated.isdecimal() and int(stated) > 0)
    return found if is_known else _Console(highlight=False, width=PLAIN_WIDTH)


def width() -> int:
    """Columns of standard output: those of the terminal or of COLUMNS, or else PLAIN_WIDTH."""
    return _console().width


def show(parts: Iterable[Part]) -> None:
    """Prints lines and tables on standard output."""
    out = _console()
    for part in parts:
        _put(part, out)


def as_text(parts: Iterable[Part]) -> str:
    """The same letters, without styles, and without empty lines at both ends."""
    out = Console(
        file=io.StringIO(), highlight=False, color_system=None, force_jupyter=False, width=width()
    )
    with out.capture() as found:
        for part in parts:
            _put(part, out)
    return found.get().strip("\n")


def as_html(parts: Iterable[Part]) -> str:
    """The same for a notebook's cell."""
    return f"<pre>{escape(as_text(parts))}</pre>"


def _put(part: Part, out: Console) -> None:
    if isinstance(part, Table):
        out.print(_grid(part))
    elif isinstance(part.text, str):
        # What a document says is no markup, whatever brackets it has.
        out.print(part.text, style=part.style, markup=False, soft_wrap=not part.wrapped)
    else:
        out.print(Text.assemble(*part.text, style=part.style), soft_wrap=not part.wrapped)


def _grid(table: Table) -> Grid:
    # As text: of letters rich would take brackets for markup, here too.
    grid = Grid(box=None, header_style="bold", pad_edge=False)
    for name in table.columns:
        justify: JustifyMethod = "right" if name in table.numbers else "left"
        grid.add_column(Text(name), justify=justify, no_wrap=name in table.whole)
    for row in table.rows:
        grid.add_row(*map(Text, row))
    return grid
