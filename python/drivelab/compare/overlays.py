"""Plots with the drives laid over one another: over time, over position, latencies, tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from drivelab.compare.pairing import Pair
from drivelab.compare.sides import Record, Side
from drivelab.report import compound, plots
from drivelab.report import quantities as q
from drivelab.report.axes import MAX_AT, axis, nines
from drivelab.report.charts import Chart
from drivelab.report.measurements import Measurement, dicts, text
from drivelab.report.plots import Axis, Drawing, RowSet

Row = Mapping[str, Any]
LEVELS = (0.0, 90.0, 99.0, 99.9, 99.99)
"""Marks of the nines axis, in percent."""
SAME_CAPACITY_RATIO = 0.02
"""Drives closer in size than this are drawn over GB, others over their share of the drive."""


@dataclass(frozen=True)
class _LatencyAxis(Axis):
    """An axis of us, marked in readable units."""

    def word(self, value: Any) -> str:
        """A latency as text."""
        return q.latency(value, 1) if q.number(value) is not None else q.DASH

    def tick(self, value: float) -> str:
        """The unit stands at every mark, as it changes along the axis."""
        return q.latency(value, 1)


TIME = Axis("time_s", "Time", "s")
THROUGHPUT = Drawing("", "lines", TIME, Axis("mib_per_s", "Throughput", "MiB/s"), None)
LONGEST = Drawing(
    "", "lines", TIME, _LatencyAxis("latency_max_us", "Longest latency", "", log=True), None
)


def _sets(
    sides: Sequence[Side], pair: Pair, rows: Callable[[Measurement, Record], Sequence[Row]]
) -> list[RowSet]:
    found = [
        RowSet(side.label, side.token, tuple(rows(test, record)))
        for side, test, record in zip(sides, pair.measurements, pair.records, strict=True)
        if test is not None and record is not None
    ]
    return [item for item in found if item.rows]


def _lettered(sides: Sequence[Side], sets: Sequence[RowSet]) -> list[RowSet]:
    """Sets named by their sides' letters, where their names would take the plot's room."""
    letters = {side.label: side.letter for side in sides}
    return [replace(item, name=letters[item.name]) for item in sets]


def _zooming(chart: Chart, group: str) -> Chart:
    """The same plot, zoomed and pointed at together with all of its group (see compare.js)."""
    layout = dict(chart.spec["layout"])
    # A plot in which nothing can be drawn has no axes.
    layout["xaxis"] = {**layout.get("xaxis", {}), "fixedrange": False}
    layout |= {"dragmode": "zoom", "hovermode": "x", "meta": {"link": group}, "uirevision": group}
    return replace(chart, spec={"data": chart.spec["data"], "layout": layout})


def over_time(sides: Sequence[Side], pairs: Sequence[Pair]) -> list[Chart]:
    """Throughput, and the longest latency, of every test and state."""
    found = []
    for index, pair in enumerate(pairs):
        for drawing in (THROUGHPUT, LONGEST):
            sets = _lettered(sides, _sets(sides, pair, partial(_series, drawing.y.key)))
            if any(len(item.rows) > 1 for item in sets):
                name = drawing.y.key.replace("_", "-")
                found += _titled(pair, drawing, sets, f"time-{name}-{index}")
    return [_zooming(chart, "time") for chart in found]


def _titled(pair: Pair, drawing: Drawing, sets: Sequence[RowSet], chart_id: str) -> list[Chart]:
    named = replace(drawing, title=f"{pair.title}, {pair.state}")
    return plots.draw(named, sets, chart_id)


def _series(key: str, _: Measurement, record: Record) -> list[Row]:
    series = record.get("series") or {}
    step = q.number(series.get("interval_s")) or 1.0
    return [
        {"time_s": round((index + 0.5) * step, 6), key: value}
        for index, value in enumerate(series.get(key) or ())
    ]


def over_position(sides: Sequence[Side], pairs: Sequence[Pair]) -> list[Chart]:
    """Throughput of passes against position; drives of different sizes against their share."""
    sizes = [side.model.user_capacity_bytes or 0.0 for side in sides]
    alike = max(sizes) <= min(sizes) * (1 + SAME_CAPACITY_RATIO)
    along = Axis("at", "Position", "GB" if alike else "% of the drive")
    drawing = Drawing("", "lines", along, Axis("mb_per_s", "Throughput", "MB/s"), None)
    found = []
    for index, pair in enumerate(pairs):
        sets = _sets(sides, pair, lambda test, _: _zones(test, share=not alike))
        if any(item.rows for item in sets):
            found += _titled(pair, drawing, _lettered(sides, sets), f"position-{index}")
    return [_zooming(chart, "position") for chart in found]


def _zones(test: Measurement, *, share: bool) -> list[Row]:
    count = len(test.zones_mb_per_s)
    step = 100.0 / count if share and count else (test.zone_bytes or 0.0) / 1e9
    return [
        {"at": round((index + 0.5) * step, 4), "mb_per_s": rate}
        for index, rate in enumerate(test.zones_mb_per_s)
    ]


def latencies(sides: Sequence[Side], pairs: Sequence[Pair]) -> list[Chart]:
    """Latency percentiles on an axis of nines, the longest latency at its end."""
    along = Axis("at", "Share of requests", "")
    upright = _LatencyAxis("us", "Latency", "", log=True)
    found = []
    for index, pair in enumerate(pairs):
        sets = _lettered(sides, _sets(sides, pair, lambda _, record: _percentiles(record)))
        drawing = Drawing(f"{pair.title}, {pair.state}", "lines", along, upright, None)
        drawn = plots.draw(drawing, sets, f"latency-{index}")
        found += [_on_nines(chart, sets) for chart in drawn]
    return found


def _percentiles(record: Record) -> list[Row]:
    latency = record.get("latency_us") or {}
    points = [
        (at, us)
        for at, us in latency.get("percentiles") or ()
        if q.number(at) is not None and 0 <= at < 100 and q.number(us) is not None
    ]
    if not points:
        return []
    # The shortest stands at 0 %, the longest has the axis' last place.
    ends = [(0.0, latency.get("min")), *points]
    rows = [{"at": round(nines(at), 4), "us": us, "percent": at} for at, us in ends]
    return [*rows, {"at": MAX_AT, "us": latency.get("max"), "percent": None}]


def _on_nines(chart: Chart, sets: Sequence[RowSet]) -> Chart:
    data = [
        trace | {"hovertemplate": "%{customdata[0]}", "customdata": _hovers(item)}
        for trace, item in zip(chart.spec["data"], sets, strict=True)
    ]
    marks = axis(
        range=[-0.05, MAX_AT + 0.1],
        tickvals=[*map(nines, LEVELS), MAX_AT],
        ticktext=[*(f"{at:g}%" for at in LEVELS), "max"],
        tickangle=0,
    )
    layout = {**chart.spec["layout"], "xaxis": marks}
    subtitle = "latency against the share of requests that stay below it"
    return replace(chart, subtitle=subtitle, spec={"data": data, "layout": layout})


def _hovers(item: RowSet) -> list[list[str]]:
    return [
        [
            f"{item.name}: longest {q.latency(row['us'])}"
            if row["percent"] is None
            else f"{item.name}: {row['percent']:g} % under {q.latency(row['us'])}"
        ]
        for row in item.rows
        if q.number(row["us"]) is not None and row["us"] > 0
    ]


def of_tables(sides: Sequence[Side], pair: Pair, chart_id: str) -> list[Chart]:
    """The charts of a compound test, with every drive's rows; fields also as ratios."""
    found: list[Chart] = []
    for index, chart in enumerate(dicts(pair.first.get("charts"))):
        sets = []
        for side, record in zip(sides, pair.records, strict=True):
            same = [c for c in dicts((record or {}).get("charts")) if _like(c, chart)]
            if record is not None and same:
                sets.append(RowSet(side.label, side.token, compound.rows_of(record, same[0])))
        drawing = compound.drawing_of(pair.first, chart)
        place = f"{chart_id}-{index}"
        fields = drawing.kind == "heat" and drawing.by is not None
        found += plots.draw(drawing, sets if fields else _lettered(sides, sets), place)
        if fields:
            found += _ratios(drawing, sets, place)
    return found


def _like(one: Record, other: Record) -> bool:
    return text(one.get("title")) == text(other.get("title"))


def _ratios(drawing: Drawing, sets: Sequence[RowSet], chart_id: str) -> Iterator[Chart]:
    """Fields of the other drives' values over the first one's."""
    if len(sets) < 2:
        return
    x, y, by = drawing.x.key, drawing.y.key, drawing.by
    assert by is not None
    base = {(row.get(x), row.get(by.key)): q.number(row.get(y)) for row in sets[0].rows}
    for index, item in enumerate(sets[1:]):
        rows = []
        for row in item.rows:
            value, first = q.number(row.get(y)), base.get((row.get(x), row.get(by.key)))
            rows.append({**row, y: value / first if value and first else None})
        name = f"{item.name} over {sets[0].name}"
        ratio = replace(drawing, y=Axis(y, f"{drawing.y.title}, ratio", ""))
        for chart in plots.draw(ratio, [RowSet(name, item.token, tuple(rows))], chart_id):
            trace = dict(chart.spec["data"][0])
            most = max((abs(z) for line in trace["z"] for z in line if z is not None), default=0.0)
            reach = max(most, math.log10(2))
            trace |= {
                "colorscale": [[0, sets[0].token], [0.5, "$raised"], [1, item.token]],
                "zmin": -reach,
                "zmax": reach,
            }
            spec = {"data": [trace], "layout": chart.spec["layout"]}
            subtitle = f"coloured for the drive that has more; {drawing.y.text}"
            yield replace(chart, id=f"{chart_id}-ratio-{index}", subtitle=subtitle, spec=spec)
