"""Plots with the drives laid over one another: over time, over position, latencies, tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from drivelab.charts import Chart, Curve, Text
from drivelab.charts import latencies as percentiles
from drivelab.comparison import courses
from drivelab.comparison.courses import Course
from drivelab.comparison.pairing import Pair
from drivelab.comparison.sides import Side
from drivelab.report import compound, plots
from drivelab.report import quantities as q
from drivelab.report.plots import Axis, Drawing, RowSet

Row = Mapping[str, Any]
SAME_CAPACITY_RATIO = 0.02
"""Drives closer in size than this are drawn over GB, others over their share of the drive."""
TIME = Axis("time_s", "Time", "s")
THROUGHPUT = Drawing("", "lines", TIME, Axis("mib_per_s", "Throughput", "MiB/s"), None)
LONGEST = Drawing(
    "", "lines", TIME, Axis("latency_max_us", "Longest latency", "µs", log=True), None
)
AMPLIFICATION = Drawing(
    "", "lines", TIME, Axis("write_amplification", "Write amplification", ""), None
)
SLOW = Drawing(
    "", "lines", TIME, Axis("latency_p99_us", "99 % of latencies below", "µs", log=True), None
)


def _sets(
    sides: Sequence[Side], pair: Pair, rows: Callable[[Course], Sequence[Row]]
) -> list[RowSet]:
    found = [
        RowSet(side.label, side.token, tuple(rows(course)))
        for side, course in zip(sides, courses.of_pair(pair), strict=True)
        if course is not None
    ]
    return [item for item in found if item.rows]


def _lettered(sides: Sequence[Side], sets: Sequence[RowSet]) -> list[RowSet]:
    """Sets named by their sides' letters, where their names would take the plot's room."""
    letters = {side.label: side.letter for side in sides}
    return [replace(item, name=letters[item.name]) for item in sets]


def over_time(
    sides: Sequence[Side],
    pairs: Sequence[Pair],
    drawings: Sequence[Drawing] = (THROUGHPUT, LONGEST),
) -> list[Chart]:
    """What was measured in every interval of every test and state, by default throughput and the
    longest latency; nothing of a test of which no drive tells it."""
    found = []
    for index, pair in enumerate(pairs):
        for drawing in drawings:
            sets = _lettered(sides, _sets(sides, pair, partial(_series, drawing.y.key)))
            if any(len(item.rows) > 1 for item in sets):
                name = drawing.y.key.replace("_", "-")
                found += _titled(pair, drawing, sets, f"time-{name}-{index}", "time")
    return found


def _titled(
    pair: Pair, drawing: Drawing, sets: Sequence[RowSet], chart_id: str, link: str
) -> list[Chart]:
    """Plots that are zoomed and read together with all of the same link."""
    named = replace(drawing, title=f"{pair.title}, {pair.state}")
    return plots.draw(named, sets, chart_id, link=link)


def _series(key: str, course: Course) -> list[Row]:
    if course.series is None:
        return []
    return [
        {"time_s": round((index + 0.5) * course.series.interval_s, 6), key: value}
        for index, value in enumerate(getattr(course.series, key) or ())
    ]


def over_position(sides: Sequence[Side], pairs: Sequence[Pair]) -> list[Chart]:
    """Throughput of passes against position; drives of different sizes against their share."""
    sizes = [side.model.user_capacity_bytes for side in sides]
    alike = max(sizes) <= min(sizes) * (1 + SAME_CAPACITY_RATIO)
    along = Axis("at", "Position", "GB" if alike else "% of the drive")
    drawing = Drawing("", "lines", along, Axis("mb_per_s", "Throughput", "MB/s"), None)
    found = []
    for index, pair in enumerate(pairs):
        sets = _sets(sides, pair, partial(_zones, share=not alike))
        if any(item.rows for item in sets):
            lettered = _lettered(sides, sets)
            found += _titled(pair, drawing, lettered, f"position-{index}", "position")
    return found


def _zones(course: Course, *, share: bool) -> list[Row]:
    if course.pass_ is None:
        return []
    rates = course.pass_.mb_per_s
    step = 100.0 / len(rates) if share and rates else course.pass_.zone_bytes / 1e9
    return [
        {"at": round((index + 0.5) * step, 4), "mb_per_s": rate} for index, rate in enumerate(rates)
    ]


def latencies(sides: Sequence[Side], pairs: Sequence[Pair]) -> list[Chart]:
    """Latency percentiles on an axis of nines, the longest latency at its end."""
    found = []
    for index, pair in enumerate(pairs):
        known = [(side, c) for side, c in zip(sides, courses.of_pair(pair), strict=True) if c]
        points = [(side, course.told, course.longest_us) for side, course in known]
        shown = [item for item in points if item[1]]
        if not shown:
            continue
        title = f"{pair.title}, {pair.state}"
        words = "; ".join(
            f"{side.label}: " + ", ".join(f"{at:g} % under {q.latency(us)}" for at, us in of)
            for side, of, _ in shown
        )
        curves = [Curve(side.letter, side.token, of, longest) for side, of, longest in shown]
        about = Text(title, "", f"{title}; {words}", f"latency-{index}")
        found.append(percentiles(about, curves))
    return found


def of_tables(sides: Sequence[Side], pair: Pair, chart_id: str) -> list[Chart]:
    """The charts of a compound test, with every drive's rows; fields also as ratios."""
    found: list[Chart] = []
    for index, chart in enumerate(pair.first.charts):
        owners = zip(sides, pair.records, strict=True)
        tried = (compound.row_set(test, chart, s.label, s.token) for s, test in owners)
        sets = [item for item in tried if item is not None]
        drawing = compound.drawing_of(pair.first, chart)
        place = f"{chart_id}-{index}"
        fields = drawing.kind == "heat" and drawing.by is not None
        found += plots.draw(drawing, sets if fields else _lettered(sides, sets), place)
        if fields:
            found += _ratios(drawing, sets, place)
    return found


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
        title = f"{drawing.title}, {name}"
        subtitle = f"coloured for the drive that has more; {drawing.y.text}"
        about = Text(title, subtitle, f"{title}: {subtitle}", f"{chart_id}-ratio-{index}")
        yield plots.ratios(ratio, RowSet(name, item.token, tuple(rows)), sets[0], about)
