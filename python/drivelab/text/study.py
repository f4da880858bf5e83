"""The points of a study: what is varied in them, and what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from drivelab.quantities import number
from drivelab.text.layout import Part, Table


def parts(
    rows: Sequence[Mapping[str, Any]], varied: Sequence[str], measured: Sequence[str]
) -> Iterator[Part]:
    """A row for each point and direction: `varied` are the columns that tell points apart,
    `measured` those of its numbers."""
    cells = [
        [*(str(row[key]) for key in varied), row["direction"], *(number(row[k]) for k in measured)]
        for row in rows
    ]
    yield Table([*varied, "direction", *measured], cells, measured)
