"""The charts of a page as its script reads them."""

from __future__ import annotations

import base64
import json
import re
import zlib
from typing import Any

from drivelab.charts import Chart

Record = dict[str, Any]


def on_page(html: str) -> dict[str, Record]:
    """Specifications, rows and what the script needs, by the charts' ids."""
    text = re.search(r'<script type="text/plain" id="charts">(.*?)</script>', html)
    assert text is not None
    return unpacked(text[1])


def unpacked(text: str) -> dict[str, Record]:
    """The charts of `charts.page.data`, by id."""
    found: dict[str, Record] = json.loads(zlib.decompress(base64.b64decode(text)))["charts"]
    return found


def column(chart: Record, name: str) -> list[Any]:
    """A column of a chart's rows."""
    values: list[Any] = chart["columns"][name]
    return values


def line(chart: Chart, name: str) -> list[tuple[Any, Any]]:
    """The points of one line, (x, y)."""
    return [(row["x"], row["y"]) for row in chart.rows() if row["s"] == name]


def axis(spec: Record, end: str) -> Record:
    """The axis of x or y."""
    encoding = spec.get("encoding") or spec["layer"][-1]["encoding"]
    found: Record = encoding[end]
    return found
