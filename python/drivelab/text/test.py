"""What one test found on one drive: its values, its tables, and what a reader must know of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from drivelab.quantities import number
from drivelab.text.layout import Line, Part, Table


def parts(found: Mapping[str, Any]) -> Iterator[Part]:
    """Of a record with `values`, `tables`, `deviations` and `notes`, as results.json has them."""
    rows = [(one["title"], number(one["value"]), one["unit"]) for one in found["values"]]
    if rows:
        yield Table(("value", "", "unit"), rows, ("",))
    for table in found["tables"]:
        yield Line(f"\n{table['title']}", style="bold")
        yield _table(table)
    yield from (Line(f"deviation: {text}") for text in found["deviations"])
    yield from (Line(f"note: {text}") for text in found["notes"])


def _table(table: Mapping[str, Any]) -> Table:
    columns = table["columns"]
    rows = [tuple(_cell(row[column["key"]]) for column in columns) for row in table["rows"]]
    words = {
        _head(column)
        for column in columns
        if any(isinstance(row[column["key"]], str) for row in table["rows"])
    }
    heads = [_head(column) for column in columns]
    return Table(heads, rows, [head for head in heads if head not in words])


def _head(column: Mapping[str, Any]) -> str:
    return f"{column['title']}, {column['unit']}" if column["unit"] else str(column["title"])


def _cell(value: float | int | str | None) -> str:
    return value if isinstance(value, str) else number(value)
