"""What a page needs to draw its charts: the library's script, once, and the charts as data."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable
from functools import cache
from importlib import resources

from markupsafe import Markup

from drivelab.charts import palette
from drivelab.charts.chart import CONFIG, SCHEMA, VERSION, Chart

PACKAGE = "drivelab.charts"
SNIPPET = "window.drawing = vegaEmbed;"


@cache
def library() -> str:
    """Vega and Vega-Lite as one script, from the wheel that draws pictures, too; packed."""
    import vl_convert

    return packed(vl_convert.javascript_bundle(SNIPPET, vl_version=VERSION))


def packed(text: str) -> str:
    """A text deflated and in base64, less than half of it; the page's script unpacks it."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def data(charts: Iterable[Chart]) -> str:
    """The charts of a page, by id, as its script reads them; packed."""
    found = {
        chart.id: {"spec": chart.spec, "meta": chart.meta, "columns": chart.columns}
        for chart in charts
    }
    whole = {"schema": SCHEMA, "config": CONFIG, "charts": found}
    return packed(json.dumps(whole, ensure_ascii=False, allow_nan=False))


def style() -> Markup:
    """Colours and the style of charts."""
    return Markup(palette.css()) + _file("charts.css")


def script() -> Markup:
    """What draws the charts and answers to pointer and keys."""
    return _file("charts.js")


def _file(name: str) -> Markup:
    return Markup(resources.files(PACKAGE).joinpath("templates", name).read_text("utf-8"))
