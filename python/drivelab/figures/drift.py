"""What on a page of figures is no longer what the models give.

Two questions. Of a few figures that were measured again: are the values on the page still theirs?
Of all: is any row of the page, or of a table in another page, another one now?
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from drivelab.quantities import number

Record = Mapping[str, Any]
Cells = dict[str, str]

VALUE_COLUMNS = ("modelled", "modelled now")


def tables(page: str) -> list[dict[str, Cells]]:
    """Every table of a page in Markdown: cells by column of each row, by its first cell."""
    found: list[dict[str, Cells]] = []
    columns: list[str] | None = None
    for line in page.splitlines():
        if not line.startswith("|"):
            columns = None
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if columns is None:
            columns = cells
            found.append({})
        elif set(line) - set("|-: "):
            found[-1][cells[0]] = dict(zip(columns, cells, strict=False))
    return found


def drifted(page: str, records: Iterable[Record]) -> list[str]:
    """Of these figures, those whose value on the page is another: a line for each."""
    places = tables(page)
    lines = []
    for record in records:
        name, now = record["id"], number(record["modelled"])
        then = {
            row[name][column]
            for row in places
            if name in row
            for column in VALUE_COLUMNS
            if column in row[name]
        }
        if not then:
            lines.append(f"{name}: not on the page; now {now} {record['unit']}")
        elif then != {now}:
            lines.append(f"{name}: {', '.join(sorted(then))} there, now {now} {record['unit']}")
    return lines


def changes(page: str, fresh: str) -> list[str]:
    """What differs between a page and what it would be now: a line for each row of a table."""
    if page == fresh:
        return []
    lines = [
        line
        for before, after in _paired(tables(page), tables(fresh))
        for name in dict.fromkeys((*before, *after))
        for line in _row_changes(name, before.get(name), after.get(name))
    ]
    if not lines or _words(page) != _words(fresh):
        lines.append("words beside the tables, or the summary")
    return list(dict.fromkeys(lines))


def _paired(
    before: Sequence[dict[str, Cells]], after: Sequence[dict[str, Cells]]
) -> Iterable[tuple[dict[str, Cells], dict[str, Cells]]]:
    """Tables of the same columns and rows, as far as they can be told: all of one kind as one."""
    kinds: dict[tuple[str, ...], tuple[dict[str, Cells], dict[str, Cells]]] = {}
    for side, places in enumerate((before, after)):
        for table in places:
            for name, cells in table.items():
                kinds.setdefault(tuple(cells), ({}, {}))[side][name] = cells
    return kinds.values()


def _row_changes(name: str, before: Cells | None, after: Cells | None) -> list[str]:
    if before == after:
        return []
    if before is None or after is None:
        return [f"{name}: {'not on the page' if before is None else 'no longer a row'}"]
    parts = [
        f"{column} {before[column]!r}, now {after[column]!r}"
        for column in after
        if before.get(column) != after[column]
    ]
    return [f"{name}: {'; '.join(parts)}"]


def _words(page: str) -> list[str]:
    return [line for line in page.splitlines() if not line.startswith("|")]
