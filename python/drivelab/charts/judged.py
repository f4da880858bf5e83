"""Many values against published ones: on the left both, on the right their ratio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.charts.chart import Chart
from drivelab.charts.drawing import Text, rounded

VALUES_PX, RATIOS_PX, HEIGHT_PX = 330, 430, 330
"""Widths of the two plots, and their height."""
SHAPES = ("circle", "square", "diamond", "triangle-up")
RATIO_MARKS = (0.5, 1 / 1.5, 0.8, 0.95, 1.05, 1.2, 1.5, 2.0)
_PERCENT = "format((datum.value - 1) * 100, '+.0f') + ' %'"


@dataclass(frozen=True)
class Mark:
    """One value: its ratio as drawn, a role (a colour), a kind (a shape), and a name if it has
    one, `dx` and `dy` pixels from it."""

    published: float
    modelled: float
    ratio: float
    role: str
    kind: str
    name: str = ""
    dx: float = 0.0
    dy: float = 0.0


def judged(
    text: Text, marks: Sequence[Mark], roles: Mapping[str, str], kinds: Sequence[str],
    *, bands: Sequence[tuple[float, str]], ends: tuple[float, float], reach: float, solid: str,
) -> Chart:  # fmt: skip
    """Two plots on log axes between these `ends`, ratios up to `reach` and down to 1 / reach.

    `roles` are names and their colours, `bands` relative errors that are shaded, the widest first;
    points of the role `solid` are filled.
    """
    columns: dict[str, list[Any]] = {
        "x": [rounded(mark.published) for mark in marks],
        "y": [rounded(mark.modelled) for mark in marks],
        "ratio": [rounded(mark.ratio) for mark in marks],
        "role": [mark.role for mark in marks],
        "kind": [mark.kind for mark in marks],
    }
    fills = [colour if name == solid else "$paper" for name, colour in roles.items()]
    across = _log("x", "published, in the figure's unit", list(ends), grid=True)
    points = {
        "mark": {
            "type": "point",
            "filled": False,
            "size": 34,
            "strokeWidth": 1.2,
            "opacity": 0.85,
            "clip": True,
        },
        "encoding": {
            "color": _named("role", list(roles), list(roles.values())),
            "fill": {**_named("role", list(roles), fills), "legend": None},
            "shape": _named("kind", list(kinds), list(SHAPES[: len(kinds)])),
        },
    }
    values = {
        "title": "Every compared value", "width": VALUES_PX, "height": HEIGHT_PX,
        "encoding": {"x": across, "y": _log("y", "modelled, in the same unit", list(ends))},
        "layer": [*_bands(bands, ends, "y"), points],
    }  # fmt: skip
    upright = _log("ratio", None, [1 / reach, reach], grid=False)
    upright["axis"] |= {"values": list(RATIO_MARKS), "labelExpr": _PERCENT, "labelOverlap": False}
    # A count would thin them.
    del upright["axis"]["tickCount"]
    words = " and ".join(f"±{100 * limit:.0f} %" for limit, _ in reversed(bands))
    ratios = {
        "title": f"Modelled / published, bands of {words}",
        "width": RATIOS_PX, "height": HEIGHT_PX,
        "encoding": {"x": across, "y": upright},
        "layer": [*_bands(bands, ends, "ratio"), points, *map(_name, filter(_is_named, marks))],
    }  # fmt: skip
    spec = {"hconcat": [values, ratios], "spacing": 30}
    return Chart(
        text.id, text.title, text.subtitle, text.description, HEIGHT_PX, spec, columns, (), {}
    )


def _log(field: str, title: str | None, ends: list[float], *, grid: bool = True) -> dict[str, Any]:
    scale = {"type": "log", "domain": ends, "nice": False}
    axis = {"title": title, "grid": grid, "tickCount": 6, "labelExpr": "format(datum.value, '~g')"}
    return {"field": field, "type": "quantitative", "scale": scale, "axis": axis}


def _named(field: str, names: list[str], looks: list[str]) -> dict[str, Any]:
    scale = {"domain": names, "range": looks}
    legend = {"orient": "bottom", "columns": 4, "offset": 6}
    return {"field": field, "type": "nominal", "title": None, "scale": scale, "legend": legend}


def _bands(
    bands: Sequence[tuple[float, str]], ends: tuple[float, float], field: str
) -> list[dict[str, Any]]:
    """What is within an error of the published value, and where both are the same."""
    found: list[dict[str, Any]] = []
    for limit, colour in bands:
        edges = [
            {"x": end, field: of * (1 - limit), "high": of * (1 + limit)}
            for end, of in zip(ends, ends if field == "y" else (1, 1), strict=True)
        ]
        area = {"type": "area", "color": colour, "clip": True}
        found.append(
            {"data": {"values": edges}, "mark": area, "encoding": {"y2": {"field": "high"}}}
        )
    same = [{"x": end, field: end if field == "y" else 1} for end in ends]
    return [*found, {"data": {"values": same}, "mark": {"type": "line", "color": "$soft",
                                                        "strokeWidth": 0.8}}]  # fmt: skip


def _is_named(mark: Mark) -> bool:
    return bool(mark.name)


def _name(mark: Mark) -> dict[str, Any]:
    text = {"type": "text", "text": mark.name, "fontSize": 9, "align": "left", "color": "$soft"}
    return {
        "data": {"values": [{"x": mark.published, "ratio": mark.ratio}]},
        "mark": {**text, "dx": mark.dx, "dy": mark.dy},
    }
