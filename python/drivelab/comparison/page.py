"""A comparison as one HTML file that needs nothing else and opens offline."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from drivelab.charts import Chart
from drivelab.comparison import Comparison, overlays, published
from drivelab.comparison.courses import have_course, of_pair
from drivelab.comparison.notes import notes
from drivelab.comparison.pairing import LITTLE_RATIO, Metric, Pair
from drivelab.comparison.sides import Side, lettered
from drivelab.comparison.specifications import WHOLE, Difference
from drivelab.records.test import AnyTest
from drivelab.report import page, streams
from drivelab.report import quantities as q
from drivelab.report.bars import Bar, BarChart, Mark
from drivelab.report.compound import table_of
from drivelab.report.plots import Axis, Row

PACKAGE = "drivelab.comparison"
ARROWS = {"higher": "↑ more is better", "lower": "↓ less is better", None: ""}
REACH_MIN = math.log(2)
"""The scale of differences reaches at least to twice and half."""


@dataclass(frozen=True)
class Delta:
    """A difference to the first side, and whether it is better or worse."""

    text: str
    mood: str


@dataclass(frozen=True)
class Lane:
    """One bar of the overview: from the middle to `at`, -1 to 1; right is better."""

    label: str
    css: str
    at: float
    text: str


@dataclass(frozen=True)
class OverviewRow:
    """One test in the overview of differences."""

    title: str
    state: str
    what: str
    marks: tuple[Lane, ...]


@dataclass(frozen=True)
class MetricRow:
    """One metric of a test, written."""

    title: str
    arrow: str
    cells: tuple[str, ...]
    deltas: tuple[Delta, ...]


@dataclass(frozen=True)
class NumberTable:
    """A table of a compound test with every side's values beside each other."""

    title: str
    keys: tuple[str, ...]
    heads: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]


@dataclass(frozen=True)
class TestSection:
    """A compound test in one state."""

    title: str
    id: str
    state: str
    metrics: tuple[MetricRow, ...]
    charts: tuple[Chart, ...]
    tables: tuple[NumberTable, ...]
    notes: tuple[str, ...]
    remarks: tuple[str, ...]


def delta(metric: Metric, index: int) -> Delta:
    """How a side's value differs from the first side's, in percent or as a factor."""
    ratio = metric.ratio(index)
    words = q.DASH if ratio is None else change_text(ratio)
    return Delta(words, {True: "better", False: "worse", None: ""}[metric.is_better(index)])


def change_text(ratio: float) -> str:
    """A ratio to the first side in percent, or as a factor where percent would say too little."""
    if ratio <= LITTLE_RATIO:
        return f"1/{q.significant(1 / ratio)}"
    return q.percent(ratio - 1, signed=True) if ratio < 10 else q.times(ratio)


def metric_row(metric: Metric) -> MetricRow:
    """A metric as it is written: every side's value, and the others' differences to the first."""
    sides = range(len(metric.values))
    title = metric.title[:1].upper() + metric.title[1:]
    return MetricRow(
        title=title,
        arrow=ARROWS[metric.better],
        cells=tuple(metric.text(index) for index in sides),
        deltas=tuple(delta(metric, index) for index in sides[1:]),
    )


KINDS = ("Flash drives", "Hard disks")


def _bars(sides: Sequence[Side], pair: Pair) -> BarChart | None:
    """The bars of a test's headline; hard disks have a scale of their own beside flash drives."""
    metric = pair.headline
    if metric is None:
        return None
    shown = [side for side in sides if metric.values[side.index] is not None]
    kinds = [[side for side in shown if side.model.is_disk is disk] for disk in (False, True)]
    found: list[Bar] = []
    for heading, of in zip(KINDS, kinds, strict=True):
        bars = _bars_of_a_kind(of, pair, metric, published.of_metric(sides, pair, metric))
        if all(kinds):
            bars[0] = replace(bars[0], heading=heading)
        found += bars
    return BarChart(
        f"{pair.title}, {pair.state}", metric.title, ARROWS[metric.better], tuple(found)
    )


def _bars_of_a_kind(
    sides: Sequence[Side], pair: Pair, metric: Metric, figures: Sequence[published.Published]
) -> list[Bar]:
    """On a scale of their own: the longest of their values and published figures is full."""
    indices = {side.index for side in sides}
    spreads = {i: (metric.plus_minus[i] if metric.plus_minus else None) or 0.0 for i in indices}
    values = {i: metric.values[i] or 0.0 for i in indices}
    own = [item for item in figures if item.index in indices]
    ends = [*(values[i] + spreads[i] for i in indices), *(item.value for item in own)]
    longest = max([0.0, *ends]) or 1.0
    found = []
    for side in sides:
        value, words = values[side.index], metric.text(side.index)
        if side.index and metric.ratio(side.index) is not None:
            words += f" ({delta(metric, side.index).text})"
        found.append(
            Bar(
                side.letter,
                "",
                "",
                words,
                value,
                max(0.0, value) / longest,
                f"mine {side.css}",
                spreads[side.index] / longest if value > 0 else 0.0,
                tuple(
                    Mark(f"{item.text} [{item.id}]", item.value / longest)
                    for item in own
                    if item.index == side.index
                ),
            )
        )
    return found


def overview(sides: Sequence[Side], pairs: Sequence[Pair]) -> list[OverviewRow]:
    """Every headline that has a better end, as a bar to the side of the one that is better."""
    # What was read of nothing, out of the map, is no speed of a drive.
    shown = [(pair, pair.headline) for pair in pairs if not pair.is_from_map]
    judged = [(pair, m) for pair, m in shown if m is not None and m.better and m.size]
    gains = [[metric.gain(side.index) for side in sides[1:]] for _, metric in judged]
    reach = max([REACH_MIN, *(abs(gain) for row in gains for gain in row if gain is not None)])
    return [
        OverviewRow(
            pair.title,
            pair.state,
            metric.title[:1].lower() + metric.title[1:],
            tuple(
                Lane(side.label, side.css, gain / reach, _better_by(metric, side.index))
                for side, gain in zip(sides[1:], row, strict=True)
                if gain is not None
            ),
        )
        for (pair, metric), row in zip(judged, gains, strict=True)
    ]


def _better_by(metric: Metric, index: int) -> str:
    """The same way as the bar: "1.25 × better" to the right, "1.25 × worse" to the left: a factor,
    whatever its size, so that bars of one length say the same."""
    gain = metric.gain(index)
    if gain is None:
        return q.DASH
    if not metric.told_apart(index):
        return "same"
    return f"{q.times(math.exp(abs(gain)))} {'better' if gain > 0 else 'worse'}"


def _section(sides: Sequence[Side], pair: Pair, index: int, told: Collection[str]) -> TestSection:
    return TestSection(
        title=pair.title,
        id=pair.id,
        state=pair.state,
        metrics=tuple(map(metric_row, pair.metrics)),
        charts=tuple(overlays.of_tables(sides, pair, f"test-{index}")),
        tables=tuple(_number_tables(sides, pair)),
        notes=tuple(note for note in pair.notes(sides) if note not in told),
        remarks=lettered(sides, [record.deviations if record else () for record in pair.records]),
    )


def _number_tables(sides: Sequence[Side], pair: Pair) -> Iterable[NumberTable]:
    """Tables that all sides have, rows joined by what the charts draw along, and by words."""
    for table in pair.first.tables:
        columns = [Axis(column.key, column.title, column.unit) for column in table.columns]
        found = [table_of(record, table.name) for record in pair.records]
        rows = [item.rows if item is not None else [] for item in found]
        keys = _key_columns(pair.first, table.name, columns, rows)
        values = [column for column in columns if column not in keys]
        joined = [{_key(row, keys): row for row in of} for of in rows]
        order = dict.fromkeys(key for of in joined for key in of)
        if not keys or any(len(of) != len(by) for of, by in zip(rows, joined, strict=True)):
            continue
        yield NumberTable(
            title=table.title,
            keys=tuple(key.text for key in keys),
            heads=tuple(f"{column.text}, {side.letter}" for column in values for side in sides),
            rows=tuple(
                (
                    key,
                    tuple(
                        column.word(by.get(key, {}).get(column.key))
                        for column in values
                        for by in joined
                    ),
                )
                for key in order
            ),
        )


def _key(row: Row, keys: Sequence[Axis]) -> tuple[str, ...]:
    return tuple(key.word(row.get(key.key)) for key in keys)


def _key_columns(
    test: AnyTest, name: str, columns: Sequence[Axis], rows: Sequence[Sequence[Row]]
) -> list[Axis]:
    """Columns that say what a row is about."""
    along = {end for chart in test.charts if chart.table == name for end in (chart.x, chart.by)}
    words = {
        column.key
        for column in columns
        if any(isinstance(row.get(column.key), str) for of in rows for row in of)
    }
    return [column for column in columns if column.key in along | words]


def by_group(specifications: Iterable[Difference]) -> list[tuple[str, list[Difference]]]:
    """Parameters by part of the drive, facts of the whole drive first."""
    groups: dict[str, list[Difference]] = {WHOLE: []}
    for item in specifications:
        groups.setdefault(item.group, []).append(item)
    return [(name, items) for name, items in groups.items() if items]


def _has_section(pair: Pair) -> bool:
    """Whether a test has more to show than the numbers and courses that all have."""
    return pair.stream is None or any(record.tables for record in pair.records if record)


def render(found: Comparison) -> str:
    """The comparison as HTML; the same comparison gives the same text."""
    sides = found.sides
    told = [(pair, pair.stream) for pair in found.pairs if pair.stream is not None]
    # What power tests draw along the way, the throughput tests show.
    known = [pair for pair in found.pairs if have_course(pair)]
    courses = [p for p in known if p.stream is None or streams.pattern(p.stream) != "power"]
    # What a section of its own says isn't said of the whole, unless most tests say it.
    told_first = [
        note
        for note in notes(sides, found.pairs)
        if note.is_common or not all(map(_has_section, note.pairs))
    ]
    texts = [note.text for note in told_first]
    sections = [
        _section(sides, pair, index, texts)
        for index, pair in enumerate(found.pairs)
        if _has_section(pair)
    ]
    time, position = overlays.over_time(sides, courses), overlays.over_position(sides, courses)
    writes = [p for p in courses if any(course and course.writes for course in of_pair(p))]
    amplification = overlays.over_time(sides, writes, [overlays.AMPLIFICATION])
    slow = overlays.over_time(sides, courses, [overlays.SLOW])
    latency = overlays.latencies(sides, courses)
    drawn = [
        *time,
        *amplification,
        *slow,
        *position,
        *latency,
        *(c for section in sections for c in section.charts),
    ]
    names = [side.label for side in sides]
    bars = (_bars(sides, pair) for pair in found.pairs)
    versions = dict.fromkeys(side.run.engine_version for side in sides)
    return (
        page.environment(PACKAGE)
        .get_template("compare.html.j2")
        .render(
            title=f"{', '.join(names[:-1])} and {names[-1]}",
            many=False,
            run={"engine_version": ", ".join(versions), "quick": False},
            sides=sides,
            several_kinds=len({side.model.is_disk for side in sides}) > 1,
            repeat_count=max(side.review.repeat_count for side in sides),
            found=found,
            notes=[f"{note.whose[:1].upper()}{note.whose[1:]}: {note.text}" for note in told_first],
            capacities=[q.capacity(side.model.user_capacity_bytes) for side in sides],
            overview=overview(sides, found.pairs),
            bars=[chart for chart in bars if chart is not None and len(chart.bars) > 1],
            numbers=[(pair, list(map(metric_row, pair.metrics))) for pair, _ in told],
            specifications=by_group(found.differences),
            shared=by_group(found.shared),
            sections=sections,
            time_charts=time,
            amplification_charts=amplification,
            slow_charts=slow,
            position_charts=position,
            latency_charts=latency,
            drawing=page.drawn(drawn),
            style=page.style() + Markup("\n") + page.inline("compare.css", PACKAGE),
            helpers=[page.inline("tables.js")],
        )
    )
