"""A model: its data sheet, every parameter with value, unit and source, and what it leaves out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from drivelab import datasheet, identity
from drivelab.model import Model
from drivelab.model_texts import CAPACITIES
from drivelab.text.layout import BLANK, Line, Part, Table
from drivelab.without_effect import ERRORS

Record = Mapping[str, Any]

WIDE = 120
"""Columns from which on there is room for what is allowed, too."""
MORE = f"With {ERRORS}=true there are more, of wear and of errors; docs/errors.md explains them."
LEFT_OUT = "Parameters without a default that this model leaves out; --set KEY=VALUE states them:"


def parts(found: Model, width: int) -> Iterator[Part]:
    """A model for so many columns."""
    yield Line(f"{found.title} ({found.name})", style="bold")
    yield Line(identity.text(found))
    if facts := datasheet.facts(found):
        yield Line("What follows from the parameters below, by arithmetic:", style="bold")
        columns = ("limit", "value", "follows from")
        yield Table(columns, datasheet.rows(facts), ("value",), whole=("limit", "value"))
        yield BLANK
    else:
        yield Line(f"No limits by arithmetic: {datasheet.absence(found)}.\n")
    wide, left_out = width >= WIDE, found.left_out
    yield from _parameters(found, left_out, wide)
    yield Line(f"\n{LEFT_OUT}", style="bold")
    yield _left_out(left_out, wide)
    if found.value(ERRORS) is False:
        yield Line(f"\n{MORE}")


def _parameters(found: Model, left_out: Sequence[Record], wide: bool) -> Iterator[Part]:
    """The parameters, with what is allowed where there is room for that."""
    rows = []
    for item in found.parameters:
        rows.append(_row(item, str(item["role"] or ""), item["source"] or "not stated"))
        # Of the two that say how much of the flash is the host's a model states one.
        rows += [
            _row({**other, "value": other["comes_to"]}, "", f"follows from {item['key']}")
            for other in left_out
            if other["comes_to"] is not None and item["key"] in CAPACITIES
        ]
    if wide:
        columns = ("parameter", "value", "unit", "allowed", "role", "source")
        yield Table(columns, rows, ("value",), whole=("parameter",))
        return
    # A source that is no citation begins with the word of its role.
    narrow = [(key, f"{value} {unit}".rstrip(), source) for key, value, unit, _, _, source in rows]
    yield Table(("parameter", "value", "source"), narrow, ("value",), whole=("parameter",))
    yield Line(f"\nWhat is allowed: in a terminal of {WIDE} columns, or with --json.")


def _row(item: Record, role: str, source: str) -> tuple[str, ...]:
    return (
        str(item["key"]),
        value_text(item["value"]),
        str(item.get("unit") or ""),
        _range_text(item["allowed"]),
        role,
        str(source),
    )


def _left_out(left_out: Sequence[Record], wide: bool) -> Table:
    """What else could be stated."""
    rows = [
        (item["key"], item["unit"], _range_text(item["allowed"]), item["help"])
        for item in left_out
        if item["comes_to"] is None
    ]
    if wide:
        return Table(("parameter", "unit", "allowed", "meaning"), rows, whole=("parameter",))
    narrow = [(key, unit, meaning) for key, unit, _, meaning in rows]
    return Table(("parameter", "unit", "meaning"), narrow, whole=("parameter",))


def _range_text(allowed: str) -> str:
    """What is allowed, short enough for a column."""
    return allowed.removeprefix("a whole number from ").removeprefix("a number from ")


def value_text(value: object) -> str:
    """A parameter's value as people read it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " ".join(map(str, value))
    return str(value)
