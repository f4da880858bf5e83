"""A synthesised trace: its statistics beside those that were published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drivelab.text.layout import Table

SYMBOLS = {"eq": "", "approx": "about ", "lt": "< ", "le": "<= ", "gt": "> ", "ge": ">= "}
COLUMNS = ("statistic", "synthesised", "published", "source")


def statistics(document: Mapping[str, Any]) -> Table:
    """A row for each statistic of what `storage_bench.document.document` gives."""
    rows = []
    for item in document["statistics"]:
        given = item["published"]
        published = f"{SYMBOLS[given['relation']]}{given['value']}" if given else "-"
        rows.append((item["name"], f"{item['value']:.6g}", published, item["source"] or ""))
    return Table(COLUMNS, rows, ("synthesised", "published"))
