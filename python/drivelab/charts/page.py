"""What a page needs to draw its charts: the library's script, once, and the charts as data."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources
from typing import Any

from markupsafe import Markup

from drivelab.charts import palette
from drivelab.charts.chart import CONFIG, SCHEMA, VERSION, Chart

PACKAGE = "drivelab.charts"
SNIPPET = "window.drawing = vegaEmbed;"


@cache
def library() -> str:
    """Vega and Vega-Lite as one script, from the wheel that draws pictures, too: deflated and in
    base64, which is less than half of it. The page's script unpacks it."""
    import vl_convert

    script = vl_convert.javascript_bundle(SNIPPET, vl_version=VERSION)
    return base64.b64encode(zlib.compress(script.encode(), 9)).decode()


def data(charts: Iterable[Chart]) -> dict[str, Any]:
    """The charts of a page, by id, as its script reads them."""
    found = {
        chart.id: {
            "spec": chart.spec,
            "meta": chart.meta,
            "columns": {name: _packed(values) for name, values in chart.columns.items()},
        }
        for chart in charts
    }
    return {"schema": SCHEMA, "config": CONFIG, "charts": found}


def _packed(values: Sequence[Any]) -> Any:
    """A column as a list; names as their places in a list of all of them, said once."""
    if not any(isinstance(value, str) for value in values):
        return list(values)
    names = list(dict.fromkeys(values))
    places = {name: index for index, name in enumerate(names)}
    return {"names": names, "places": [places[value] for value in values]}


def style() -> Markup:
    """Colours and the style of charts."""
    return Markup(palette.css()) + _file("charts.css")


def script() -> Markup:
    """What draws the charts and answers to pointer and keys."""
    return _file("charts.js")


def _file(name: str) -> Markup:
    return Markup(resources.files(PACKAGE).joinpath("templates", name).read_text("utf-8"))
