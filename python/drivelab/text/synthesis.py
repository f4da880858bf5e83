"""A synthesised trace: its statistics beside those that were published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drivelab.text.layout import Table

SYMBOLS = {"eq": "", "approx": "about ", "lt": "< ", "le": "<= ", "gt": "> ", "ge": ">= "}
COLUMNS = ("statistic", "unit", "synthesised", "published", "source")
UNITS = {"gb": "GB", "pct": "%", "min": "min"}
"""By the word that a statistic's name begins or ends with; others are numbers of something."""


def statistics(document: Mapping[str, Any]) -> Table:
    """A row for each statistic of what `storage_bench.document.document` gives."""
    rows = []
    for item in document["statistics"]:
        given = item["published"]
        published = f"{SYMBOLS[given['relation']]}{given['value']}" if given else "-"
        name, value = item["name"], f"{item['value']:.6g}"
        rows.append((name, _unit(name), value, published, item["source"] or ""))
    return Table(COLUMNS, rows, ("synthesised", "published"))


def _unit(name: str) -> str:
    words = name.split("_")
    return UNITS.get(words[0]) or UNITS.get(words[-1], "")
