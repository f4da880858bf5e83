"""The charts of a page as its script reads them."""

from __future__ import annotations

import json
import re
from typing import Any

from drivelab.charts import Chart

Record = dict[str, Any]


def on_page(html: str) -> dict[str, Record]:
    """Specifications, rows and what the script needs, by the charts' ids."""
    text = re.search(r'<script type="application/json" id="charts">(.*?)</script>', html, re.DOTALL)
    assert text is not None
    found: dict[str, Record] = json.loads(text[1])["charts"]
    return found


def column(chart: Record, name: str) -> list[Any]:
    """A column of a chart's rows."""
    values = chart["columns"][name]
    if isinstance(values, list):
        return values
    return [values["names"][place] for place in values["places"]]


def line(chart: Chart, name: str) -> list[tuple[Any, Any]]:
    """The points of one line, (x, y)."""
    return [(row["x"], row["y"]) for row in chart.rows() if row["s"] == name]


def axis(spec: Record, end: str) -> Record:
    """The axis of x or y."""
    encoding = spec.get("encoding") or spec["layer"][-1]["encoding"]
    found: Record = encoding[end]
    return found
