"""What a model is: the drive, what it cost, and what its numbers rest on, in words and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drivelab import figures, sources
from drivelab.model import FAMILY_TITLES, Model
from drivelab.quantities import GIB, bytes_text

Record = dict[str, Any]


def standing(found: Model) -> Record:
    """How much of a model was chosen for published performance, and what it is held against."""
    return {
        "roles": sources.counts(found.parameters),
        "figure_count": figures.figure_count(found.name),
        "figure_page": figures.page_of(found.name),
    }


def priced(records: Sequence[Record]) -> list[Record]:
    """The models that have a price, cheapest usable GiB first."""
    found = [item for item in records if item["price_usd"]]
    return sorted(found, key=lambda item: (item["price_usd_per_gib_user"], item["name"]))


def text(found: Model) -> str:
    """The head of `drivelab show`, in lines."""
    known = found.identity
    words = [FAMILY_TITLES.get(found.family, found.family)]
    words += [str(known[key]) for key in ("controller_name", "released") if known[key]]
    words += [f"firmware {known['firmware']}"] if known["firmware"] else []
    lines = [", ".join(words)]
    size = f"{bytes_text(found.user_capacity_bytes)} for the host"
    if not found.is_disk:
        spare_ratio = found.description["derived"]["spare_ratio"]
        flash_bytes = found.description["derived"].get("flash_user_bytes")
        on_flash = f" on it, {bytes_text(flash_bytes)}" if flash_bytes else ""
        size += (
            f", {bytes_text(found.raw_capacity_bytes)} of flash: "
            f"spare area {spare_ratio * 100:.1f} % of the user capacity{on_flash}"
        )
        if found.effective_spare_ratio is not None:
            size += f", effectively {found.effective_spare_ratio * 100:.1f} %"
    lines.append(size)
    if known["price_usd"]:
        costs = [f"{dollars(known['price_usd_per_gib_user'], 2)} per GiB usable"]
        if known["price_usd_per_gib_flash"]:
            costs.append(f"{dollars(known['price_usd_per_gib_flash'], 2)} per GiB of flash")
        lines.append(f"{dollars(known['price_usd'], 0)} when reviewed: {', '.join(costs)}")
    counts = sources.counts(found.parameters) | sources.counts_without(found.parameters)
    lines.append(f"parameters: {sources.counts_text(counts)}; figures: {_figures_text(found.name)}")
    lines.append(f"model hash {found.hash}\n")
    return "\n".join(lines)


def _figures_text(name: str) -> str:
    """How many published figures a drive is held against, or where they stand."""
    page = figures.page_of(name)
    return str(
        figures.figure_count(name)
        or (f"in {page}" if page else "none, specification and parts only")
    )


def gib_text(byte_count: int) -> str:
    """A size of flash, which is made in powers of 2."""
    if byte_count < GIB:
        return bytes_text(byte_count)
    return f"{byte_count / GIB:.4g} GiB"


def dollars(value: float | None, decimals: int) -> str:
    """A price in USD, or that none is known."""
    return "-" if value is None else f"${value:.{decimals}f}"
