"""Charts of many points: small multiples, one value over another, parallel coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.charts.chart import Chart
from drivelab.charts.drawing import Line, Text, lines, rounded
from drivelab.charts.scales import Scale

PANEL_PX = (230, 170)
PANELS_IN_ROW = 3
EFFECT_PX, PARALLEL_PX = 130, 330


def panels(text: Text, parts: Mapping[str, Sequence[Line]], x: Scale, y: Scale) -> Chart:
    """The same lines in a panel each, all with the same axes."""
    names = list(parts)
    if len(names) == 1:
        return lines(text, parts[names[0]], x, y, from_zero=True)
    # One chart of all lines knows the axes of all; each panel takes its own rows of it.
    whole = lines(text, [part for of in parts.values() for part in of], x, y, from_zero=True)
    columns: dict[str, list[Any]] = {name: [] for name in (*whole.columns, "panel")}
    for name, of in parts.items():
        own = lines(text, of, x, y).columns
        count = len(own["x"])
        for key in whole.columns:
            columns[key] += own.get(key, [None] * count)
        columns["panel"] += [name] * count
    tokens = {part.name: part.token for of in parts.values() for part in of}
    encoding = dict(whole.spec["encoding"])
    encoding["y"] = {**encoding["y"], "axis": {**encoding["y"]["axis"], "title": None}}
    subtitle = f"{y.text}; {text.subtitle}" if text.subtitle else y.text
    encoding["color"] = {**encoding["color"], **({} if len(tokens) > 1 else {"legend": None})}
    encoding["color"]["scale"] = {"domain": list(tokens), "range": list(tokens.values())}
    width_px, height_px = PANEL_PX
    spec = {
        "facet": {"field": "panel", "type": "nominal", "sort": names, "title": None},
        "columns": PANELS_IN_ROW,
        "spec": {
            "width": width_px, "height": height_px, "encoding": encoding,
            "layer": whole.spec["layer"],
        },
    }  # fmt: skip
    return Chart(
        text.id, text.title, subtitle, whole.description, whole.height_px, spec,
        columns, tuple(tokens.items()), {},
    )  # fmt: skip


def effect(text: Text, every: Line, means: Line, x: Scale, y: Scale) -> Chart:
    """All points, small, and the mean of each value."""
    whole = lines(text, [every, means], x, y, height_px=EFFECT_PX, from_zero=True, whole=True)
    only = {"transform": [{"filter": f"datum.s == '{means.name}'"}]}
    small = {"filter": f"datum.s == '{every.name}'"}
    layers: list[dict[str, Any]] = [
        {"mark": {"type": "point", "size": 9, "opacity": 0.5}, "transform": [small]}
    ]
    # Between names there is nothing.
    if x.kind != "names":
        layers.append({"mark": {"type": "line"}, **only})
    layers.append({"mark": {"type": "point", "size": 32}, **only})
    color = {**whole.spec["encoding"]["color"], "legend": None}
    encoding = {name: of for name, of in whole.spec["encoding"].items() if name != "xOffset"}
    spec = {"encoding": {**encoding, "color": color}, "layer": layers}
    return Chart(
        text.id, text.title, text.subtitle, whole.description, whole.height_px, spec,
        whole.columns, (), {**whole.meta, "along": False},
    )  # fmt: skip


@dataclass(frozen=True)
class Coordinate:
    """One axis of parallel coordinates: where each point lies (0 to 1), and its marks."""

    name: str
    heights: Sequence[float | None]
    marks: Mapping[str, float]


def parallel(
    text: Text, coordinates: Sequence[Coordinate], hues: Sequence[float], hue: str
) -> Chart:
    """A line for each point across all coordinates, coloured by a number of it."""
    keys = [f"h{index}" for index in range(len(coordinates))]
    columns: dict[str, Sequence[Any]] = {
        key: [rounded(None if h is None else round(h, 3)) for h in of.heights]
        for key, of in zip(keys, coordinates, strict=True)
    }
    columns = {**columns, "hue": [rounded(each) for each in hues], "i": list(range(len(hues)))}
    marks = [
        {"axis": key, "height": height, "mark": mark}
        for key, of in zip(keys, coordinates, strict=True)
        for mark, height in of.marks.items()
    ]
    names = " : ".join(
        f"datum.value == '{key}' ? {_quoted(of.name)}"
        for key, of in zip(keys, coordinates, strict=True)
    )
    across = {
        "field": "axis", "type": "ordinal", "sort": keys, "scale": {"padding": 0.4},
        "axis": {"orient": "top", "title": None, "labelExpr": f"{names} : ''", "labelAngle": 0,
                 "labelPadding": 18, "labelOverlap": False, "domain": False, "ticks": False},
    }  # fmt: skip
    upright = {"field": "height", "type": "quantitative", "axis": None,
               "scale": {"domain": [0, 1]}}  # fmt: skip
    shade = {"field": "hue", "type": "quantitative", "scale": {"scheme": "viridis"},
             "legend": {"title": hue, "orient": "bottom", "gradientLength": 220}}  # fmt: skip
    ends = {"data": {"values": [{"axis": key} for key in keys]}, "mark": {"type": "rule"},
            "encoding": {"x": across}}  # fmt: skip
    words = {"mark": {"type": "text", "align": "left", "dx": 4, "fontSize": 10},
             "data": {"values": marks},
             "encoding": {"x": across, "y": upright, "text": {"field": "mark"}}}  # fmt: skip
    drawn = {"mark": {"type": "line", "strokeWidth": 1, "opacity": 0.7},
             "transform": [{"fold": keys, "as": ["axis", "height"]}],
             "encoding": {"x": across, "y": upright, "color": shade,
                          "detail": {"field": "i"}}}  # fmt: skip
    meta = {"width_px": 110 * len(coordinates)}
    spec = {"layer": [ends, drawn, words]}
    return Chart(
        text.id, text.title, text.subtitle, text.description, PARALLEL_PX, spec, columns, (), meta
    )


def _quoted(text: str) -> str:
    """A name in two lines, as a list in Vega's language of expressions."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    head, dot, tail = escaped.rpartition(".")
    return f"['{head}{dot}', '{tail}']" if dot else f"'{escaped}'"
