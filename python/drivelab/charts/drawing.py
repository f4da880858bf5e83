"""The kinds of charts: lines, bars, points, stacks, fields of colour.

Each takes plain numbers and says how they are drawn; no chart is drawn elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.charts import palette
from drivelab.charts.chart import Chart
from drivelab.charts.scales import Scale
from drivelab.charts.thin import thinned

HEIGHT_PX, HEAT_ROW_PX = 210, 26
POINTS_MAX = 60
"""Lines of fewer points show them."""
DIGITS = 5
"""Significant digits that are drawn: finer than a pixel."""
HIDDEN = {"name": "hidden", "value": []}
SHOWN = {"filter": "indexof(hidden, datum.s) < 0"}
"""What a page's legend hides is left out, and the axis follows what is left."""


@dataclass(frozen=True)
class Line:
    """One line, or the bars of one colour: its name, its colour ("$name"), and its values.

    `low` and `high` are the ends of each value's interval; `words` say more of each point.
    """

    name: str
    token: str
    x: Sequence[Any]
    y: Sequence[float | None]
    low: Sequence[float | None] | None = None
    high: Sequence[float | None] | None = None
    words: Sequence[str] | None = None


@dataclass(frozen=True)
class Text:
    """What stands around a chart: id on its page, title, subtitle, and the same in words."""

    title: str
    subtitle: str = ""
    description: str = ""
    id: str = ""


def lines(
    text: Text, parts: Sequence[Line], x: Scale, y: Scale,
    *, height_px: int = HEIGHT_PX, link: str = "", from_zero: bool = False, whole: bool = False,
) -> Chart:  # fmt: skip
    """Lines over numbers; with intervals, and with points where there are few of them.

    Charts of one page with the same `link` are zoomed and read together. Lines of more points than
    can be seen are thinned, unless they are to stay `whole`.
    """
    columns = _columns(parts, x, y, thin=not whole)
    named = x.kind == "names"
    upright = [*columns["y"], *columns.get("low", ()), *columns.get("high", ())]
    place = {"x": {"field": "x", **x.across(columns["x"])}}
    place["y"] = {"field": "y", **y.upright(upright, from_zero=from_zero)}
    if named and len(parts) > 1:
        place["xOffset"] = {"field": "s", "sort": [part.name for part in parts]}
    layers: list[dict[str, Any]] = []
    if not named:
        layers.append({"mark": {"type": "line", "clip": True}})
    if "low" in columns:
        ends = {"y": {**place["y"], "field": "low"}, "y2": {"field": "high"}}
        rule = {"type": "rule", "clip": True, "strokeWidth": 1.4, "opacity": 0.75}
        layers.append({"mark": rule, "encoding": ends})
    few = max((len(part.x) for part in parts), default=0) < POINTS_MAX
    if named or (few and x.kind != "nines"):
        layers.append({"mark": {"type": "point"}})
        # Points at the ends are whole.
        place["x"]["scale"] |= {} if named else {"padding": 5}
    meta = {"x": x.meta, "y": y.meta, "along": not named, "link": link}
    spec = {"encoding": {**place, **_colour(parts)}, "layer": layers}
    return _chart(text, parts, columns, spec, meta, height_px)


def bars(
    text: Text, parts: Sequence[Line], x: Scale, y: Scale, *, height_px: int = HEIGHT_PX
) -> Chart:
    """Upright bars over names, those of several parts beside each other."""
    columns = _columns(parts, x, y)
    across = {"field": "x", **x.across(columns["x"])}
    height = {"field": "y", **y.upright(columns["y"], from_zero=True), "stack": None}
    encoding = {"x": across, "y": height, **_colour(parts)}
    if len(parts) > 1:
        encoding["xOffset"] = {"field": "s", "sort": [part.name for part in parts]}
    base = {"y2": {"datum": height["scale"]["domain"][0]}} if y.kind == "log" else {}
    layers: list[dict[str, Any]] = [{"mark": {"type": "bar"}, "encoding": base}]
    if "low" in columns:
        ends = {"y": {**height, "field": "low"}, "y2": {"field": "high"}}
        layers.append({"mark": {"type": "rule"}, "encoding": {**ends, "color": {"value": "$ink"}}})
    meta = {"x": x.meta, "y": y.meta}
    spec = {"encoding": encoding, "layer": layers}
    return _chart(text, parts, columns, spec, meta, height_px)


def points(
    text: Text, parts: Sequence[Line], x: Scale, y: Scale, *, height_px: int = HEIGHT_PX
) -> Chart:
    """Points, and nothing between them."""
    columns = _columns(parts, x, y)
    across = {"field": "x", **x.across(columns["x"])}
    encoding = {"x": across, "y": {"field": "y", **y.upright(columns["y"])}, **_colour(parts)}
    spec = {"mark": {"type": "point", "clip": True}, "encoding": encoding}
    return _chart(text, parts, columns, spec, {"x": x.meta, "y": y.meta}, height_px)


def diagonal(
    text: Text, parts: Sequence[Line], x: Scale, y: Scale, ends: tuple[float, float],
    *, tolerance_ratio: float, hollow: Iterable[str] = (), height_px: int = HEIGHT_PX,
) -> Chart:  # fmt: skip
    """Points of two logarithmic axes with the same ends, which agree on a diagonal with a band.

    `hollow` names parts whose points aren't filled.
    """
    columns = _columns(parts, x, y)
    across = {"field": "x", **x.across(ends, at_points=False)}
    height = {"field": "y", **y.upright(ends)}
    for encoding in (across, height):
        encoding["scale"] = {"type": "log", "nice": False, "domain": list(ends)}
    edges = [
        {
            "x": end,
            "y": end,
            "low": end * (1 - tolerance_ratio),
            "high": end * (1 + tolerance_ratio),
        }
        for end in ends
    ]
    band = {"x": across, "y": {**height, "field": "low"}, "y2": {"field": "high"}}
    hollows = set(hollow)
    fills = ["transparent" if part.name in hollows else part.token for part in parts]
    scale = {"domain": [part.name for part in parts], "range": fills}
    points = {"x": across, "y": height, **_colour(parts)}
    points["fill"] = {**points["color"], "scale": scale}
    under = {"data": {"values": edges}}
    layers = [
        {**under, "mark": {"type": "area", "color": "$band", "clip": True}, "encoding": band},
        {**under, "mark": {"type": "line", "color": "$axis", "strokeWidth": 1},
         "encoding": {"x": across, "y": height}},
        {"mark": {"type": "point", "filled": False, "size": 60, "strokeWidth": 1.5},
         "encoding": points, "transform": [SHOWN]},
    ]  # fmt: skip
    spec = {"layer": layers}
    return _chart(
        text, parts, columns, spec, {"kind": "diagonal", "x": x.meta, "y": y.meta}, height_px
    )


def stacks(text: Text, parts: Sequence[Line], x: Scale, *, order: Sequence[str] = ()) -> Chart:
    """Bars that lie, each made of parts one after another: `x` of a part are the bars' names.

    They stand in the `order` of their names, or as they come.
    """
    columns = _columns(parts, Scale("", kind="names"), x)
    columns["at"] = [index for index, part in enumerate(parts) for _ in part.x]
    names = list(dict.fromkeys([*order, *columns["x"]]))
    length = {
        "field": "y", "type": "quantitative", "stack": "zero",
        "axis": {**x.across(columns["y"])["axis"], "grid": True},
    }  # fmt: skip
    upright = {"field": "x", "type": "nominal", "sort": names, "axis": {"title": None}}
    encoding = {"x": length, "y": upright, **_colour(parts), "order": {"field": "at"}}
    spec = {"mark": {"type": "bar"}, "encoding": encoding}
    height_px = 24 + HEAT_ROW_PX * len(names)
    return _chart(text, parts, columns, spec, {"x": {}, "y": x.meta}, height_px)


@dataclass(frozen=True)
class Cells:
    """A field of colour: what lies where, how much it is, and the same in words."""

    across: Sequence[str]
    down: Sequence[str]
    values: Sequence[float | None]
    words: Sequence[str]


def heat(
    text: Text, cells: Cells, across: str, down: str,
    *, ends: tuple[str, str] | None = None,
) -> Chart:  # fmt: skip
    """A table with a colour for each value's logarithm.

    With `ends`, two colours, values are ratios: 1 is neutral, less has the first colour.
    """
    known = [value for value in cells.values if value is not None and value > 0]
    scale: dict[str, Any] = {"type": "log", "range": ["$raised", "$link"]}
    if ends is not None:
        reach = max(2.0, *(max(value, 1 / value) for value in known)) if known else 2.0
        scale |= {"domain": [1 / reach, 1, reach], "range": [ends[0], "$raised", ends[1]]}
    columns: dict[str, list[Any]] = {
        "x": list(cells.across), "y": list(cells.down), "t": list(cells.words),
        "v": [v if v is not None and v > 0 else None for v in map(rounded, cells.values)],
    }  # fmt: skip
    rows = list(dict.fromkeys(cells.down))
    place = {
        "x": {"field": "x", "type": "ordinal", "sort": None,
              "axis": {"title": across, "labelAngle": 0, "labelOverlap": True, "ticks": False}},
        "y": {"field": "y", "type": "ordinal", "sort": None, "axis": {"title": down}},
    }  # fmt: skip
    shade = {"field": "v", "type": "quantitative", "scale": scale, "legend": None}
    layers = [
        {"mark": {"type": "rect", "stroke": "$paper", "strokeWidth": 2},
         "encoding": {"color": shade}},
        {"mark": {"type": "text", "fontSize": 10.5},
         "encoding": {"text": {"field": "t"}, "color": {"value": "$ink"}}},
    ]  # fmt: skip
    meta = {"kind": "heat", "x": {"title": across}, "y": {"title": down}}
    spec = {"encoding": place, "layer": layers}
    return _chart(text, [], columns, spec, meta, 30 + HEAT_ROW_PX * len(rows))


def rounded(value: Any) -> Any:
    """A number with the digits that can be seen; anything else as it is."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    return value


def _columns(
    parts: Sequence[Line], x: Scale, y: Scale, *, thin: bool = False
) -> dict[str, list[Any]]:
    """The rows of all parts, one after another; what a log axis can't show is left out."""
    columns: dict[str, list[Any]] = {name: [] for name in ("x", "y", "s", "low", "high", "t")}
    for part in parts:
        for index in thinned(part.y) if thin else range(len(part.y)):
            place, value = part.x[index], part.y[index]
            if x.kind == "log" and not place > 0:
                continue
            if y.kind == "log" and value is not None and not value > 0:
                value = None
            columns["x"].append(rounded(place))
            columns["y"].append(rounded(value))
            columns["s"].append(part.name)
            columns["low"].append(rounded(_at(part.low, index)))
            columns["high"].append(rounded(_at(part.high, index)))
            columns["t"].append(part.words[index] if part.words else None)
    return {
        name: values
        for name, values in columns.items()
        if name in ("x", "y", "s") or any(value is not None for value in values)
    }


def _at(values: Sequence[float | None] | None, index: int) -> float | None:
    return None if values is None else values[index]


def _colour(parts: Sequence[Line]) -> dict[str, Any]:
    """The encoding of colours, always in the order of the parts; a single one has no legend."""
    scale = {"domain": [part.name for part in parts], "range": [part.token for part in parts]}
    legend = {} if len(parts) > 1 else {"legend": None}
    return {"color": {"field": "s", "type": "nominal", "title": None, "scale": scale, **legend}}


def _chart(
    text: Text, parts: Sequence[Line], columns: dict[str, list[Any]],
    spec: dict[str, Any], meta: dict[str, Any], height_px: int,
) -> Chart:  # fmt: skip
    series = tuple((part.name, part.token) for part in parts) if len(parts) > 1 else ()
    if series:
        # Layers with rows of their own have nothing to hide, and say themselves what they hide.
        apart = any("data" in layer for layer in spec.get("layer", ()))
        spec = {"params": [HIDDEN], **({} if apart else {"transform": [SHOWN]}), **spec}
    return Chart(
        text.id, text.title, text.subtitle, text.description or text.title, height_px,
        spec, columns, series, meta,
    )  # fmt: skip


def steady_colours(names: Sequence[str]) -> list[str]:
    """A colour for each name, the same for the same place in every chart."""
    return [palette.SERIES[index % len(palette.SERIES)] for index in range(len(names))]
