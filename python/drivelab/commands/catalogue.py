"""`list` and `show`: the models, the tests, the states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from drivelab import (
    arguments,
    datasheet,
    identity,
    model,
    model_file,
    plugins,
    procedures,
)
from drivelab.commands import printing
from drivelab.errors import RequestError
from drivelab.model_texts import CAPACITIES
from drivelab.procedures import document
from drivelab.quantities import bytes_text

Record = dict[str, Any]

# Columns of a terminal from which `show` says what is allowed, too.
WIDE = 120
ERRORS = "flash.bit_errors"
MORE = f"With {ERRORS}=true there are more, of wear and of errors; docs/errors.md explains them."
LEFT_OUT = "Parameters without a default that this model leaves out; --set KEY=VALUE states them:"


def list_models(
    tests: Annotated[bool, typer.Option("--tests", help="List the tests of a review.")] = False,
    state_names: Annotated[
        bool, typer.Option("--states", help="List the states of drives.")
    ] = False,
    prices: Annotated[
        bool, typer.Option("--prices", help="List what drives cost, cheapest usable GiB first.")
    ] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Tests or states as the tables in docs/.")
    ] = False,
    plugin: arguments.Plugins = None,
    json: arguments.Json = False,
) -> None:
    """List the models that come with drivelab, by family; or tests, states, prices."""
    if tests + state_names + prices > 1:
        raise RequestError("--tests, --states and --prices: one at a time")
    if markdown and not (tests or state_names):
        raise RequestError("--markdown is a form of --tests or --states")
    if plugin and (markdown or not (tests or state_names)):
        raise RequestError("--plugin: goes with --tests or --states, without --markdown")
    if markdown:
        print(document.table(tests=tests), end="")
        return
    known = plugins.known(plugin or ()) if tests or state_names else plugins.BUILT_IN
    if tests:
        records = [document.test_record(test) for test in known.tests.values()]
    elif state_names:
        records = [document.state_record(state) for state in known.states.values()]
    else:
        records = [item.summary() | identity.standing(item) for item in model.load_all()]
    if prices:
        records = _with_prices(records)
    if json:
        printing.document(records)
    elif tests:
        _print_tests(records)
    elif state_names:
        printing.table(
            tuple(records[0])[:2],
            [tuple(str(value) for value in record.values())[:2] for record in records],
            (),
        )
    elif prices:
        _print_prices(records)
    else:
        _print_models(records)


def _with_prices(records: Sequence[Record]) -> list[Record]:
    """The models that have a price, cheapest usable GiB first."""
    priced = [item for item in records if item["price_usd"]]
    return sorted(priced, key=lambda item: (item["price_usd_per_gib_user"], item["name"]))


def _print_prices(records: Sequence[Record]) -> None:
    columns = ("name", "released", "flash", "user", "price", "per GiB flash", "usable")
    rows = []
    width = max(len(item["name"]) for item in records)
    for item in records:
        name, released, _, _, *rest, _ = _model_row(item, width)
        rows.append((name, released, *rest))
    printing.table(columns, rows, columns[2:])
    printing.console().print(
        "\nPrices in USD when the drives were reviewed; GiB are 2^30 bytes.", style="dim"
    )


def _print_tests(records: Sequence[Record]) -> None:
    width = max(len(item["id"]) for item in records)
    for group in dict.fromkeys(str(item["group"]) for item in records):
        rows = [
            (str(item["id"]).ljust(width), str(item["title"]))
            for item in records
            if item["group"] == group
        ]
        if rows:
            heading = f"\n{group.capitalize()} (--tests {procedures.group_name(group)})"
            printing.console().print(heading, style="bold", markup=False)
            printing.table(("id", "what"), rows, ())


def _print_models(records: Sequence[Record]) -> None:
    families = [*model.FAMILY_TITLES, *sorted({item["family"] for item in records})]
    columns = (
        "name",
        "released",
        "controller",
        "firmware",
        "flash",
        "user",
        "price",
        "per GiB flash",
        "usable",
        "figures",
    )
    width = max(len(item["name"]) for item in records)
    for family in dict.fromkeys(families):
        rows = [_model_row(item, width) for item in records if item["family"] == family]
        if rows:
            title = model.FAMILY_TITLES.get(family, family)
            printing.console().print(f"\n{title} ({family})", style="bold", markup=False)
            printing.table(columns, rows, columns[4:])
    printing.console().print(
        "\nfigures: published figures that a drive is held against; page: they stand on a page of "
        "docs, which `drivelab show MODEL` names; none: made from its specification and what is "
        "known of its parts only.",
        style="dim",
    )


def _model_row(item: Record, width: int) -> tuple[str, ...]:
    flash = "-" if item["family"] == "hard-disk" else identity.gib_text(item["raw_capacity_bytes"])
    return (
        str(item["name"]).ljust(width),
        *(str(item[key] or "-") for key in ("released", "controller_name", "firmware")),
        flash,
        bytes_text(item["user_capacity_bytes"]),
        identity.dollars(item["price_usd"], 0),
        identity.dollars(item["price_usd_per_gib_flash"], 2),
        identity.dollars(item["price_usd_per_gib_user"], 2),
        str(item["figure_count"] or ("page" if item["figure_page"] else "none")),
    )


def show(
    name: arguments.ModelName,
    sets: arguments.Settings = None,
    scale: arguments.Scale = None,
    json: arguments.Json = False,
    toml: Annotated[
        bool,
        typer.Option("--toml", help="As a model file to change: drivelab show MODEL --toml >FILE."),
    ] = False,
) -> None:
    """Show a model: every parameter with its value, unit and source."""
    settings = arguments.settings(sets, scale)
    overrides = [model.split_override(text) for text in settings]
    if toml:
        if json:
            raise RequestError("--json and --toml: give one of them")
        printing.plain(model_file.text(name, overrides))
        return
    found = model.load(name, overrides)
    printing.scale_remarks([found])
    if json:
        standing = identity.standing(found) | datasheet.records(found)
        printing.document(found.details() | standing)
        return
    out = printing.console()
    out.print(f"{found.title} ({found.name})", markup=False, style="bold")
    out.print(identity.text(found), markup=False)
    facts = datasheet.facts(found)
    if facts:
        out.print("What follows from the parameters below, by arithmetic:", style="bold")
        columns: tuple[str, ...] = ("limit", "value", "follows from")
        printing.table(columns, datasheet.rows(facts), ("value",), whole=("limit", "value"))
        out.print()
    else:
        out.print(f"No limits by arithmetic: {datasheet.absence(found)}.\n", markup=False)
    wide, left_out = out.width >= WIDE, found.left_out
    _print_parameters(found, left_out, wide)
    _print_left_out(left_out, wide)
    if found.value(ERRORS) is False:
        out.print(f"\n{MORE}", markup=False)


def _print_parameters(found: model.Model, left_out: Sequence[Record], wide: bool) -> None:
    """The parameters with what is allowed, where the terminal has room for that."""
    rows = []
    for item in found.parameters:
        rows.append(_parameter_row(item, str(item["role"] or ""), item["source"] or "not stated"))
        # Of the two that say how much of the flash is the host's a model states one.
        rows += [
            _parameter_row(other | {"value": other["comes_to"]}, "", f"follows from {item['key']}")
            for other in left_out
            if other["comes_to"] is not None and item["key"] in CAPACITIES
        ]
    if wide:
        columns: tuple[str, ...] = ("parameter", "value", "unit", "allowed", "role", "source")
        printing.table(columns, rows, ("value",), whole=("parameter",))
        return
    # A source that is no citation begins with the word of its role.
    narrow = [(key, f"{value} {unit}".rstrip(), source) for key, value, unit, _, _, source in rows]
    printing.table(("parameter", "value", "source"), narrow, ("value",), whole=("parameter",))
    printing.console().print(
        f"\nWhat is allowed: in a terminal of {WIDE} columns, or with --json.", markup=False
    )


def _parameter_row(item: Record, role: str, source: str) -> tuple[str, ...]:
    return (
        str(item["key"]),
        _value_text(item["value"]),
        str(item.get("unit") or ""),
        _range_text(item["allowed"]),
        role,
        str(source),
    )


def _print_left_out(left_out: Sequence[Record], wide: bool) -> None:
    """What else could be stated."""
    printing.console().print(f"\n{LEFT_OUT}", markup=False, style="bold")
    rows = [
        (item["key"], item["unit"], _range_text(item["allowed"]), item["help"])
        for item in left_out
        if item["comes_to"] is None
    ]
    if wide:
        columns: tuple[str, ...] = ("parameter", "unit", "allowed", "meaning")
        printing.table(columns, rows, (), whole=("parameter",))
        return
    narrow = [(key, unit, meaning) for key, unit, _, meaning in rows]
    printing.table(("parameter", "unit", "meaning"), narrow, (), whole=("parameter",))


def _range_text(allowed: str) -> str:
    """What is allowed, short enough for a column."""
    return allowed.removeprefix("a whole number from ").removeprefix("a number from ")


def _value_text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " ".join(map(str, value))
    return str(value)
