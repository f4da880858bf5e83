"""What there is to choose from: models by family, what they cost, tests, states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from drivelab import identity, procedures
from drivelab.model import FAMILY_TITLES
from drivelab.procedures.procedure import group_title
from drivelab.quantities import bytes_text
from drivelab.text.layout import Line, Part, Table

Record = Mapping[str, Any]

IDENTITY = ("name", "released", "controller", "firmware")
COSTS = ("flash", "user", "price", "per GiB flash", "usable")


def models(records: Sequence[Record]) -> Iterator[Part]:
    """Models by family, each with what it costs and what it is held against."""
    families = [*FAMILY_TITLES, *sorted({item["family"] for item in records})]
    columns = (*IDENTITY, *COSTS, "figures")
    width = max(len(item["name"]) for item in records)
    for family in dict.fromkeys(families):
        rows = [_model_row(item, width) for item in records if item["family"] == family]
        if rows:
            yield Line(f"\n{FAMILY_TITLES.get(family, family)} ({family})", style="bold")
            yield Table(columns, rows, columns[4:])
    yield Line(
        "\nfigures: published figures that a drive is held against; page: they stand on a page of "
        "docs, which `drivelab show MODEL` names; none: made from its specification and what is "
        "known of its parts only.",
        style="dim",
    )


def prices(records: Sequence[Record]) -> Iterator[Part]:
    """What the models cost, in the order in which they are given."""
    columns = ("name", "released", *COSTS)
    rows = []
    width = max(len(item["name"]) for item in records)
    for item in records:
        name, released, _, _, *rest, _ = _model_row(item, width)
        rows.append((name, released, *rest))
    yield Table(columns, rows, columns[2:])
    yield Line("\nPrices in USD when the drives were reviewed; GiB are 2^30 bytes.", style="dim")


def tests(records: Sequence[Record]) -> Iterator[Part]:
    """Tests by group."""
    width = max(len(item["id"]) for item in records)
    for group in dict.fromkeys(str(item["group"]) for item in records):
        rows = [
            (str(item["id"]).ljust(width), str(item["title"]))
            for item in records
            if item["group"] == group
        ]
        if rows:
            option = f"--tests {procedures.group_name(group)}"
            yield Line(f"\n{group_title(group)} ({option})", style="bold")
            yield Table(("id", "what"), rows)


def states(records: Sequence[Record]) -> Iterator[Part]:
    """States, each in a row."""
    yield Table(
        tuple(records[0])[:2],
        [tuple(str(value) for value in record.values())[:2] for record in records],
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
