"""Drives side by side: findings, then the headlines, the largest difference first."""

from __future__ import annotations

from collections.abc import Iterator

from drivelab.comparison import Comparison
from drivelab.comparison.notes import notes
from drivelab.comparison.pairing import LITTLE_RATIO
from drivelab.text.layout import BLANK, Line, Part, Table

SHOWN_MAX = 40
"""Rows of the table."""
ARROWS = {"higher": "↑", "lower": "↓", None: ""}


def parts(found: Comparison, everything: str) -> Iterator[Part]:
    """What a comparison found; `everything` is where the rest stands, if there are more rows than
    SHOWN_MAX."""
    for side in found.sides:
        yield Line(f"{side.letter}  {side.label}  ({side.source})", style="bold")
    yield BLANK
    for finding in found.findings:
        yield Line(f"{finding.figure.rjust(10)}  {finding.sentence}")
    yield BLANK
    yield _headlines(found)
    if len(found.pairs) > SHOWN_MAX:
        yield Line(f"and {len(found.pairs) - SHOWN_MAX} more in {everything}")
    for note in notes(found.sides, found.pairs):
        yield Line(f"note: {note.whose}: {note.text}")


def _headlines(found: Comparison) -> Table:
    letters = [side.letter for side in found.sides]
    heads = ("test", "state", "", *letters, *(f"{letter} to A" for letter in letters[1:]))
    rows = []
    for pair in found.pairs[:SHOWN_MAX]:
        metric = pair.headline
        if metric is not None:
            cells = [metric.text(index) for index in range(len(letters))]
            ratios = [metric.ratio(index) for index in range(1, len(letters))]
            title = f"{metric.title} {ARROWS[metric.better]}"
            rows.append((pair.title, pair.state, title, *cells, *map(_change, ratios)))
    return Table(heads, rows, heads[3:])


def _change(ratio: float | None) -> str:
    if ratio is None:
        return "-"
    if ratio <= LITTLE_RATIO:
        return f"1/{1 / ratio:.0f}"
    return f"{100 * (ratio - 1):+.0f} %" if ratio < 10 else f"{ratio:.0f} x"
