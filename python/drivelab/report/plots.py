"""Charts of compound tests, drawn from their tables: lines, bars and fields of colour.

A chart says which columns it shows; here that becomes a plot. Several sets of rows (states of one
drive, or drives) share a plot if their lines can still be told apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.report import quantities as q
from drivelab.report.axes import LINE_HEIGHT_SHARE, axis, below, label, log_axis, spread
from drivelab.report.charts import Chart

TOKENS = ("$new", "$used", "$tortured", "$trimmed", "$passed", "$published", "$accent", "$other")
"""Colours of lines that are not states."""
LINES_MAX = 8
"""More lines than this can't be told apart: they are drawn as a field of colour."""
SIZE_UNITS = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B"))
HEIGHT_PX, HEAT_ROW_PX = 230, 30
CLOSE_SHARE = 0.6
"""Lines whose lowest point is above this share of the highest are drawn without zero."""

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Axis:
    """A column as an axis."""

    key: str
    title: str
    unit: str
    log: bool = False

    @property
    def text(self) -> str:
        """Title and unit."""
        return f"{self.title}, {self.unit}" if self.unit and self.unit != "B" else self.title

    def word(self, value: Any) -> str:
        """A value on the axis as text."""
        amount = q.number(value)
        if amount is None:
            return q.DASH if value is None else str(value)
        if self.unit == "B":
            return size_text(amount)
        # Counts (threads, rounds, block sizes) are whole numbers, and stay so.
        return q.exact(value) if isinstance(value, int) else q.significant(amount, 4)

    def place(self, value: Any) -> str:
        """A value that is a place on the axis, or a line's name: "0.5", not "0.5000"."""
        amount = q.number(value)
        if amount is None or self.unit == "B" or isinstance(value, int):
            return self.word(value)
        return q.exact(float(f"{amount:.4g}"))

    def tick(self, value: float) -> str:
        """A mark of a log axis: 1, 2 or 5 times a power of ten."""
        return f"{value:,.0f}" if value >= 1 else f"{value:g}"


@dataclass(frozen=True)
class Drawing:
    """A chart of a compound test as the report reads it; `kind` is lines, bars or heat."""

    title: str
    kind: str
    x: Axis
    y: Axis
    by: Axis | None


@dataclass(frozen=True)
class RowSet:
    """Rows of one state or drive, with its name and colour."""

    name: str
    token: str
    rows: tuple[Row, ...]


def size_text(amount: float) -> str:
    """A size in bytes, in the largest binary unit that it is a multiple of."""
    for size, unit in SIZE_UNITS:
        if amount >= size and (amount % size == 0 or unit == "B"):
            return f"{amount / size:g} {unit}"
    return f"{amount:g} B"


def draw(drawing: Drawing, sets: Sequence[RowSet], chart_id: str) -> list[Chart]:
    """The plots of a chart: one if its lines fit, otherwise one for each set or for each line."""
    sets = [item for item in sets if any(_known(drawing, row) for row in item.rows)]
    if not sets:
        return []
    if drawing.kind == "heat" and drawing.by is not None:
        return [_heat(drawing, item, f"{chart_id}-{i}") for i, item in enumerate(sets)]
    lines = _names(drawing, sets)
    if drawing.by is None or len(lines) <= 1:
        return [_plot(drawing, sets, "", chart_id)]
    if len(sets) == 1:
        return [_plot(drawing, _split(drawing, sets[0]), sets[0].name, chart_id)]
    if len(lines) <= len(sets) or len(lines) <= 3:
        parts = [(name, [_only(drawing, item, name) for item in sets]) for name in lines]
        return [
            _plot(drawing, [s for s in part if s.rows], name, f"{chart_id}-{i}")
            for i, (name, part) in enumerate(parts)
        ]
    return [
        _plot(drawing, _split(drawing, item), item.name, f"{chart_id}-{i}")
        for i, item in enumerate(sets)
    ]


def _known(drawing: Drawing, row: Row) -> bool:
    return row.get(drawing.x.key) is not None and q.number(row.get(drawing.y.key)) is not None


def _names(drawing: Drawing, sets: Iterable[RowSet]) -> list[str]:
    """The lines of a chart, in order of appearance."""
    by = drawing.by
    if by is None:
        return []
    return list(dict.fromkeys(by.place(row.get(by.key)) for item in sets for row in item.rows))


def _only(drawing: Drawing, item: RowSet, name: str) -> RowSet:
    by = drawing.by
    assert by is not None
    rows = tuple(row for row in item.rows if by.place(row.get(by.key)) == name)
    return RowSet(item.name, item.token, rows)


def _split(drawing: Drawing, item: RowSet) -> list[RowSet]:
    """A set cut into its lines, each with a colour of its own."""
    names = _names(drawing, [item])
    return [
        RowSet(name, TOKENS[index % len(TOKENS)], _only(drawing, item, name).rows)
        for index, name in enumerate(names)
    ]


def _plot(drawing: Drawing, sets: Sequence[RowSet], of: str, chart_id: str) -> Chart:
    subtitle = f"{drawing.y.text} against {_lower(drawing.x.text)}"
    title = f"{drawing.title}, {of}" if of else drawing.title
    numeric = all(
        q.number(row.get(drawing.x.key)) is not None for item in sets for row in item.rows
    )
    words = "; ".join(f"{item.name}: {_course(drawing, item)}" for item in sets)
    upright = drawing.kind == "bars" or not numeric
    spec = _bars(drawing, sets) if upright else _lines(drawing, sets)
    return Chart(chart_id, title, subtitle, f"{title}; {words}", HEIGHT_PX, spec)


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def _course(drawing: Drawing, item: RowSet) -> str:
    values = [row[drawing.y.key] for row in item.rows if _known(drawing, row)]
    unit = drawing.y.unit
    if not values:
        return "no value"
    return f"{q.with_unit(min(values), unit)} to {q.with_unit(max(values), unit)}"


def _lines(drawing: Drawing, sets: Sequence[RowSet]) -> dict[str, Any]:
    x, y = drawing.x, drawing.y
    data, ends = [], []
    every_x: list[float] = []
    every_y: list[float] = []
    for item in sets:
        points = [(row[x.key], row[y.key]) for row in item.rows if _known(drawing, row)]
        points = [p for p in points if (p[0] > 0 or not x.log) and (p[1] > 0 or not y.log)]
        every_x += [place for place, _ in points]
        every_y += [value for _, value in points]
        ends.append(points[-1][1] if points else 0.0)
        data.append(
            {
                "type": "scatter", "mode": "lines+markers" if len(points) < 60 else "lines",
                "name": item.name, "x": [p for p, _ in points], "y": [v for _, v in points],
                "line": {"color": item.token, "width": 1.8}, "marker": {"size": 5},
                "customdata": [[x.word(p), y.word(v)] for p, v in points],
                "hovertemplate": f"%{{customdata[1]}} {y.unit} at %{{customdata[0]}}",
            }
        )  # fmt: skip
    if not every_x:
        return {"data": data, "layout": {}}
    y_axis, places = _upright(y, every_y, ends)
    layout = {
        "xaxis": _along(x, every_x),
        "yaxis": y_axis,
        "annotations": [
            label(item.name, place, item.token) for item, place in zip(sets, places, strict=True)
        ]
        if len(sets) > 1
        else [],
        "margin": {"l": 48, "r": _margin(sets), "t": 8, "b": 30},
        "hovermode": "closest",
    }
    return {"data": data, "layout": layout}


def _margin(sets: Sequence[RowSet]) -> int:
    """Room in px for the longest label at the right end of a line."""
    return max(30, 16 + 7 * max(len(item.name) for item in sets)) if len(sets) > 1 else 16


def _upright(y: Axis, values: list[float], ends: list[float]) -> tuple[dict[str, Any], list[float]]:
    """The vertical axis, and where labels of lines that end at these values stand."""
    if y.log:
        low, high = math.log10(min(values)) - 0.08, math.log10(max(values)) + 0.08
        upright = log_axis(low, high, y.tick)
        low, high = upright["range"]
        logs = [math.log10(end) if end > 0 else low for end in ends]
        return upright, _placed(logs, low, high)
    low, high = min(values), max(values) or 1.0
    # Lines that lie close together far from zero would be one line on an axis from zero.
    room = (high - low) * 0.25 if low > CLOSE_SHARE * high and len(values) > 2 else 0.0
    low = low - room if room else min(0.0, low)
    top = high + room if room else high * 1.08
    return axis(range=[low, top], nticks=5), _placed(ends, low, top)


def _placed(ends: list[float], low: float, high: float) -> list[float]:
    """Where the labels of lines stand that end at these values: apart, and not above the plot."""
    gap = (high - low) * LINE_HEIGHT_SHARE
    return below(spread(ends, gap), high, gap)


def _along(x: Axis, values: list[float]) -> dict[str, Any]:
    """The horizontal axis; sizes are marked where they were measured."""
    if not x.log:
        return axis(showgrid=False, nticks=6)
    places = sorted(set(values))
    low, high = math.log10(places[0]), math.log10(places[-1])
    if x.unit != "B":
        return log_axis(low - 0.05, high + 0.05, x.tick, showgrid=False)
    shown = places[:: max(1, -(-len(places) // 7))]
    return axis(
        type="log",
        range=[low - 0.08, high + 0.08],
        tickvals=shown,
        ticktext=[x.word(place) for place in shown],
        tickangle=0,
        showgrid=False,
    )


def _bars(drawing: Drawing, sets: Sequence[RowSet]) -> dict[str, Any]:
    x, y = drawing.x, drawing.y
    data = [
        {
            "type": "bar", "name": item.name,
            "x": [x.place(row[x.key]) for row in item.rows if _known(drawing, row)],
            "y": [row[y.key] for row in item.rows if _known(drawing, row)],
            "marker": {"color": item.token},
            "hovertemplate": f"{item.name}: %{{y:.4g}} {y.unit}, %{{x}}",
        }
        for item in sets
    ]  # fmt: skip
    layout = {
        "xaxis": axis(type="category", showgrid=False),
        "yaxis": axis(rangemode="tozero", nticks=5, **({"type": "log"} if y.log else {})),
        "barmode": "group",
        "bargap": 0.25,
        "showlegend": len(sets) > 1,
        "legend": {"orientation": "h", "y": 1.18, "x": 0},
        "margin": {"l": 48, "r": 12, "t": 26 if len(sets) > 1 else 8, "b": 30},
        "hovermode": "closest",
    }
    return {"data": data, "layout": layout}


def _heat(drawing: Drawing, item: RowSet, chart_id: str) -> Chart:
    x, y, by = drawing.x, drawing.y, drawing.by
    assert by is not None
    known = [row for row in item.rows if _known(drawing, row)]
    across = list(dict.fromkeys(x.place(row[x.key]) for row in known))
    down = list(dict.fromkeys(by.place(row.get(by.key)) for row in known))
    cells = {(x.place(r[x.key]), by.place(r.get(by.key))): r[y.key] for r in known}
    field = [[cells.get((place, line)) for place in across] for line in down]
    shades = [
        [None if value is None else math.log10(value) if value > 0 else None for value in line]
        for line in field
    ]
    data = {
        "type": "heatmap", "x": across, "y": down, "z": shades, "showscale": False,
        "colorscale": [[0, "$raised"], [1, "$link"]], "xgap": 2, "ygap": 2,
        "text": [[y.word(value) for value in line] for line in field],
        "texttemplate": "%{text}", "hovertemplate": f"%{{text}} {y.unit}: %{{x}}, %{{y}}",
    }  # fmt: skip
    layout = {
        "xaxis": axis(type="category", showgrid=False, title={"text": x.text}),
        "yaxis": axis(
            type="category", showgrid=False, autorange="reversed", title={"text": by.text}
        ),
        "margin": {"l": 60, "r": 10, "t": 8, "b": 44},
    }
    height = 70 + HEAT_ROW_PX * len(down)
    title = f"{drawing.title}, {item.name}" if item.name else drawing.title
    words = f"{title}: {_course(drawing, item)}"
    subtitle = f"{y.text}; darker is more, by its logarithm"
    spec = {"data": [data], "layout": layout}
    return Chart(chart_id, title, subtitle, words, height, spec)
