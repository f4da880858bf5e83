"""What commands print: JSON documents, tables, messages."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console, JustifyMethod
from rich.table import Table

from drivelab import failures
from drivelab.documents import to_json
from drivelab.model import Model
from drivelab.quantities import number as number

if TYPE_CHECKING:
    from drivelab.subject import Subject

PLAIN_WIDTH = 140
"""Width of tables when standard output is a file or a pipe."""


def document(value: Any) -> None:
    """Prints one JSON document."""
    sys.stdout.write(to_json(value))


def plain(text: str, *, now: bool = False) -> None:
    """Prints text to standard output; `now`: a reader has it before the command goes on."""
    sys.stdout.write(text)
    if now:
        sys.stdout.flush()


def message(text: str) -> None:
    """Prints a message to standard error."""
    print(text, file=sys.stderr)


def scale_remarks(subjects: Sequence[Subject]) -> None:
    """Says on standard error how small versions of drives differ from these by more than 5 %."""
    for subject in subjects:
        if isinstance(subject, Model):
            for remark in subject.scale_remarks:
                message(f"{subject.name}: at this scale: {remark}")


def failed_tests(results: Mapping[str, Any]) -> None:
    """Says on standard error which tests of a review have no result, and why."""
    for line in failures.sentences(results.get("failed", ())):
        message(line)


def spare_text(result: Mapping[str, Any]) -> str:
    """The effective spare area of what was run, nothing for a drive that has none."""
    ratio = result.get("effective_spare_ratio")
    return "" if ratio is None else f"; effective spare area {100 * ratio:.1f} %"


def inside_text(result: Mapping[str, Any]) -> str:
    """What a run did inside the drive, nothing for a drive that doesn't say."""
    parts = []
    if result["erases"] is not None:
        parts = [
            f"write amplification {number(result['write_amplification'], 3)}",
            f"{result['erases']} erases",
        ]
    if result["energy_j"] is not None:
        parts.append(f"{number(result['energy_j'], 3)} J")
    return ", ".join(parts)


def spread(value: float | None, record: Mapping[str, Any], name: str) -> str:
    """A number, with half the width of its 95 % interval if it is a mean of repeats."""
    found = (record.get("repeats") or {}).get(name)
    half = (found["high"] - found["low"]) / 2 if found is not None else 0.0
    return f"{number(value)} ± {number(half, 2)}" if half else number(value)


def command_line(words: Sequence[str], seed: int | None) -> str:
    """A command as one types it, with its seed if it draws anything."""
    return shlex.join([*words, *(["--seed", str(seed)] if seed is not None else [])])


def option_words(options: Mapping[str, object]) -> list[str]:
    """Options as one types them, those without a value left out."""
    given = ((option, str(value)) for option, value in options.items() if value is not None)
    return [word for pair in given for word in pair]


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leaves it to the command line how to end; rich would report a failure."""
        raise BrokenPipeError


def console() -> Console:
    """Standard output for tables."""
    found = _Console(highlight=False)
    return found if found.is_terminal else _Console(highlight=False, width=PLAIN_WIDTH)


def table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    numbers: Sequence[str],
    whole: Sequence[str] = (),
) -> None:
    """Prints a table; columns in `numbers` are aligned to the right, those in `whole` not cut."""
    grid = Table(box=None, header_style="bold", pad_edge=False)
    for name in columns:
        justify: JustifyMethod = "right" if name in numbers else "left"
        grid.add_column(name, justify=justify, no_wrap=name in whole)
    for row in rows:
        grid.add_row(*row)
    console().print(grid)
