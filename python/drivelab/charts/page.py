"""What a page needs to draw its charts: the library's script, once, and the charts as data."""

from __future__ import annotations

import base64
import contextlib
import json
import zlib
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from importlib import metadata, resources

import platformdirs
from markupsafe import Markup

from drivelab import output
from drivelab.charts import palette
from drivelab.charts.chart import CONFIG, SCHEMA, VERSION, Chart
from drivelab.errors import WorkError

PACKAGE = "drivelab.charts"
SNIPPET = "window.drawing = vegaEmbed;"


@cache
def library() -> str:
    """Vega and Vega-Lite as one script, from the wheel that draws pictures, too; packed.

    Putting it together takes more than a second, so it is kept in the user's folder for
    such things.
    """
    release = metadata.version("vl-convert-python")
    kept = platformdirs.user_cache_path("drivelab") / f"charts-{release}-{VERSION}.packed"
    with contextlib.suppress(OSError, UnicodeDecodeError):
        if found := _unharmed(kept.read_text("ascii")):
            return found
    import vl_convert

    script = packed(vl_convert.javascript_bundle(SNIPPET, vl_version=VERSION))
    # Where it can't be kept it is made anew each time.
    with contextlib.suppress(OSError, WorkError):
        text = f"{sha256(script.encode()).hexdigest()}\n{script}"
        output.publish(kept.parent, {kept.name: lambda place: output.write_text(place, text)})
    return script


def _unharmed(text: str) -> str | None:
    """What was kept, if it is what was kept."""
    digest, _, script = text.partition("\n")
    return script if sha256(script.encode()).hexdigest() == digest else None


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
