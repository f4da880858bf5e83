"""The runs that a database holds, each in a row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from drivelab.text.layout import Part, Table

COLUMNS = ("run", "kind", "models", "tests", "seed", "engine", "command")


def parts(records: Sequence[Mapping[str, Any]]) -> Iterator[Part]:
    """A table of what `database.runs` gives."""
    rows = [
        (
            str(record["run_id"]),
            record["kind"],
            ", ".join(record["models"]) or "-",
            str(record["tests"]),
            str(record["seed"]),
            f"{record['engine_version']}{', quick' if record['quick'] else ''}",
            record["command_line"],
        )
        for record in records
    ]
    yield Table(COLUMNS, rows, ("run", "tests", "seed"), whole=("run", "kind"))
