"""One chart: a Vega-Lite specification and its rows, drawn by a page, a notebook or a file."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from drivelab import output
from drivelab.charts import palette
from drivelab.errors import RequestError

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
VERSION = "6.4"
"""Of Vega-Lite, in pages and pictures."""
WIDTH_PX = 560
"""Of a picture's plot; on a page a chart is as wide as its place."""
FORMATS = ("png", "svg", "json")
RESOLUTION = 2
"""Dots of a PNG per pixel."""
CONFIG: dict[str, Any] = {
    "font": "$font",
    "background": None,
    "padding": {"left": 4, "right": 12, "top": 6, "bottom": 2},
    "view": {"stroke": None},
    "axis": {
        "domainColor": "$axis", "tickColor": "$axis", "gridColor": "$grid", "labelColor": "$soft",
        "titleColor": "$soft", "titleFontWeight": 400, "labelFontSize": 11, "titleFontSize": 11,
        "labelOverlap": "greedy", "tickSize": 4,
    },
    "axisLeft": {"domain": False, "ticks": False, "titleAngle": 0, "titleAlign": "left",
                 "titleAnchor": "start", "titleX": 0, "titleY": -7, "titleBaseline": "bottom"},
    "legend": {"orient": "top", "titleFontWeight": 400, "labelColor": "$soft",
               "titleColor": "$soft", "symbolSize": 80, "labelLimit": 260, "columns": 3,
               "title": None, "offset": 20},
    "title": {"color": "$ink", "subtitleColor": "$soft", "anchor": "start", "frame": "group",
              "fontSize": 13, "subtitleFontSize": 11.5, "offset": 10},
    "header": {"labelColor": "$ink", "labelFontSize": 11, "titleColor": "$soft"},
    "numberFormat": ",~r",
    "line": {"strokeWidth": 1.8, "strokeCap": "round"},
    "point": {"filled": True, "size": 26, "opacity": 1},
    "text": {"color": "$ink", "font": "$font"},
    "rule": {"color": "$axis"},
    "bar": {"discreteBandSize": {"band": 0.85}},
}  # fmt: skip
"""How all charts look; "$name" is a colour of the palette."""


@dataclass(frozen=True)
class Chart:
    """A chart. A notebook shows it; `save` writes it as a picture.

    `spec` is Vega-Lite 6 without its rows, and with "$name" for colours; `columns` are the rows'
    columns, all of one length. `description` says in words what there is to see. `series` are the
    names and colours that the chart tells apart, in the order of all charts.
    """

    id: str
    title: str
    subtitle: str
    description: str
    height_px: int
    spec: Mapping[str, Any]
    columns: Mapping[str, Sequence[Any]]
    series: tuple[tuple[str, str], ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)
    """What a page's script needs: axes, whether values are read along x, what is zoomed with it."""

    def rows(self) -> list[dict[str, Any]]:
        """The rows that are drawn."""
        names = list(self.columns)
        return [
            dict(zip(names, row, strict=True)) for row in zip(*self.columns.values(), strict=True)
        ]

    def to_dict(self, theme: str = "light") -> dict[str, Any]:
        """The chart as Vega-Lite that needs nothing else: with its rows, title and colours.

        `theme` is "light" or "dark". Raises RequestError for another.
        """
        if theme not in palette.THEMES:
            raise RequestError(f'theme = "{theme}": allowed: {", ".join(palette.THEMES)}')
        colours = palette.THEMES[theme]
        whole = {
            "$schema": SCHEMA,
            "description": self.description,
            **({"title": {"text": self.title, "subtitle": self.subtitle}} if self.title else {}),
            "data": {"values": self.rows()},
            **_sized(copy.deepcopy(dict(self.spec)), self.height_px),
        }
        # On a page there is paper below; a picture brings its own.
        config = {**CONFIG, "background": "$paper"}
        found: dict[str, Any] = palette.resolved({**whole, "config": config}, colours)
        return found

    def save(self, path: str | Path, theme: str = "light") -> Path:
        """Writes a picture, .png or .svg, or the specification, .json; no browser is needed.

        Raises RequestError for another format or a place that can't be written.
        """
        place = output.writable_file(Path(path), "save()", *(f".{kind}" for kind in FORMATS))
        kind = place.suffix.removeprefix(".").lower()
        content = self._drawn(kind, self.to_dict(theme))
        output.publish(place.parent, {place.name: lambda file: _write(file, content)})
        return place

    def svg(self, theme: str = "light") -> str:
        """The chart as SVG."""
        return self._drawn("svg", self.to_dict(theme)).decode()

    @staticmethod
    def _drawn(kind: str, spec: dict[str, Any]) -> bytes:
        if kind == "json":
            return json.dumps(spec, ensure_ascii=False, indent=1).encode()
        # Loaded only where a picture is drawn.
        import vl_convert

        if kind == "svg":
            return _renumbered(vl_convert.vegalite_to_svg(spec, vl_version=VERSION)).encode()
        return vl_convert.vegalite_to_png(spec, vl_version=VERSION, scale=RESOLUTION)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """What a notebook shows: the chart itself where Vega-Lite is known, else its picture."""
        import base64

        spec = self.to_dict()
        picture = base64.b64encode(self._drawn("png", spec)).decode()
        return {
            "application/vnd.vegalite.v6+json": _moving(spec),
            "image/png": picture,
            "text/plain": f"{self.title}: {self.description}",
        }


def _renumbered(svg: str) -> str:
    """The picture with its parts numbered from its own beginning, whatever was drawn before it."""
    numbers: dict[str, str] = {}
    return re.sub(
        r"\b(clip|gradient_)\d+\b",
        lambda found: numbers.setdefault(found[0], f"{found[1]}{len(numbers) + 1}"),
        svg,
    )


def _sized(spec: dict[str, Any], height_px: int) -> dict[str, Any]:
    """With a plot's size, where the specification has none of its own."""
    if "facet" in spec or "hconcat" in spec:
        return spec
    return {"width": WIDTH_PX, "height": height_px, **spec}


def _moving(spec: dict[str, Any]) -> dict[str, Any]:
    """What can be zoomed by wheel and moved by hand, where a page's script isn't."""
    if "layer" not in spec:
        return spec
    zoom = {"name": "zoom", "select": {"type": "interval", "encodings": ["x"]}, "bind": "scales"}
    first, *others = spec["layer"]
    return {**spec, "layer": [{**first, "params": [zoom]}, *others]}


def _write(file: Path, content: bytes) -> None:
    file.write_bytes(content)
