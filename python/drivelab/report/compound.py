"""Compound tests as the report shows them: values by state, plots, numbers, departures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.charts import Chart
from drivelab.procedures.procedure import GROUP_TITLES, GROUPS
from drivelab.report import plots
from drivelab.report import quantities as q
from drivelab.report.bars import as_published, state_class
from drivelab.report.loose import dicts, text
from drivelab.report.measurements import Figure, Review
from drivelab.report.plots import Axis, Drawing, RowSet

GOALS = {"higher": "more is better", "lower": "less is better"}
Record = Mapping[str, Any]


@dataclass(frozen=True)
class ValueRow:
    """One value of a test in every state."""

    title: str
    goal: str
    cells: tuple[str, ...]
    published: str
    """What was published of it, in words."""


@dataclass(frozen=True)
class NumberTable:
    """A table of a test in one state, every cell written."""

    title: str
    state: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class SteadyState:
    """What the steady-state criterion said, in words."""

    state: str
    reached: bool
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class CompoundTest:
    """One test of one model, in all its states."""

    id: str
    anchor: str
    title: str
    states: tuple[tuple[str, str], ...]
    """Names and their CSS classes."""
    values: tuple[ValueRow, ...]
    charts: tuple[Chart, ...]
    tables: tuple[NumberTable, ...]
    deviations: tuple[str, ...]
    notes: tuple[str, ...]
    steady_states: tuple[SteadyState, ...]


@dataclass(frozen=True)
class Group:
    """Tests of one group."""

    title: str
    tests: tuple[CompoundTest, ...]

    @property
    def deviations(self) -> tuple[str, ...]:
        """Where all of its tests depart from what they repeat, if they are several."""
        first, *others = self.tests
        shared = (line for line in first.deviations if all(line in t.deviations for t in others))
        return tuple(shared) if others else ()


def groups(review: Review, model: str, prefix: str) -> list[Group]:
    """The compound tests of a model, by group."""
    own = [record for record in review.compound if record.get("model") == model]
    figures = [figure for figure in review.figures if figure.model == model]
    tests: dict[str, dict[str, list[Record]]] = {}
    for record in own:
        by_id = tests.setdefault(text(record.get("group")), {})
        by_id.setdefault(text(record.get("id")), []).append(record)
    order = sorted(tests, key=lambda group: GROUPS.index(group) if group in GROUPS else len(GROUPS))
    return [
        Group(
            group_title(group),
            tuple(_test(review, rows, figures, prefix) for rows in tests[group].values()),
        )
        for group in order
    ]


def group_title(group: str) -> str:
    """A group's name as a heading."""
    return GROUP_TITLES.get(group, group[:1].upper() + group[1:])


def _test(
    review: Review, records: Sequence[Record], figures: Sequence[Figure], prefix: str
) -> CompoundTest:
    ordered = sorted(records, key=lambda record: review.rank(text(record.get("state"))))
    first = ordered[0]
    test_id = text(first.get("id"))
    names = [text(record.get("state")) for record in ordered]
    return CompoundTest(
        id=test_id,
        anchor=f"{prefix}-{test_id}",
        title=text(first.get("title")) or test_id,
        states=tuple((name, state_class(review.state(name))) for name in names),
        values=_values(ordered, [f for f in figures if f.test_id == test_id]),
        charts=tuple(_charts(review, ordered, f"{prefix}-{test_id}")),
        tables=tuple(table for record in ordered for table in _tables(record)),
        deviations=_lines(ordered, "deviations"),
        notes=_lines(ordered, "notes"),
        steady_states=tuple(_steady(r) for r in ordered if r.get("steady_state")),
    )


def _lines(records: Sequence[Record], key: str) -> tuple[str, ...]:
    """Sentences of all states, each once."""
    return tuple(dict.fromkeys(str(line) for record in records for line in record.get(key) or []))


def _values(records: Sequence[Record], figures: Sequence[Figure]) -> tuple[ValueRow, ...]:
    found: dict[str, dict[str, Record]] = {}
    for record in records:
        for value in dicts(record.get("values")):
            found.setdefault(text(value.get("name")), {})[text(record.get("state"))] = value
    rows = []
    for name, by_state in found.items():
        any_value = next(iter(by_state.values()))
        cells = (by_state.get(text(record.get("state")), {}) for record in records)
        rows.append(
            ValueRow(
                text(any_value.get("title")),
                GOALS.get(text(any_value.get("better")), ""),
                tuple(value_text(cell) for cell in cells),
                "; ".join(_published(f) for f in figures if f.quantity == f"value:{name}"),
            )
        )
    return tuple(rows)


def _published(figure: Figure) -> str:
    amount = as_published(figure)
    state = figure.state.split(" (")[0]
    return f"{amount} {'' if state == 'unstated' else state} [{figure.id}]".replace("  ", " ")


def value_text(value: Record) -> str:
    """A value of a test with its unit."""
    unit = text(value.get("unit"))
    amount = q.number(value.get("value"))
    if amount is not None and unit == "B":
        return plots.size_text(amount)
    return q.with_unit(amount, unit, 4)


def _axis(record: Record, table: Record, key: str, *, log: bool = False) -> Axis:
    column = next((c for c in dicts(table.get("columns")) if c.get("key") == key), {})
    return Axis(key, text(column.get("title")) or key, text(column.get("unit")), log)


def _table_of(record: Record, name: str) -> Record:
    return next((t for t in dicts(record.get("tables")) if t.get("name") == name), {})


def drawing_of(record: Record, chart: Record) -> Drawing:
    """A chart of a record of results.json, its columns as axes."""
    table = _table_of(record, text(chart.get("table")))
    by = text(chart.get("by"))
    return Drawing(
        title=text(chart.get("title")),
        kind=text(chart.get("kind")),
        x=_axis(record, table, text(chart.get("x")), log=chart.get("log_x") is True),
        y=_axis(record, table, text(chart.get("y")), log=chart.get("log_y") is True),
        by=_axis(record, table, by) if by else None,
    )


def rows_of(record: Record, chart: Record) -> tuple[Record, ...]:
    """The rows that a chart of a record draws."""
    return tuple(dicts(_table_of(record, text(chart.get("table"))).get("rows")))


def _charts(review: Review, records: Sequence[Record], prefix: str) -> Iterable[Chart]:
    charts = dicts(records[0].get("charts"))
    for index, chart in enumerate(charts):
        sets = []
        for record in records:
            same = [c for c in dicts(record.get("charts")) if c.get("title") == chart.get("title")]
            state = text(record.get("state"))
            if same:
                token = f"${review.state(state).colour}"
                sets.append(RowSet(state, token, rows_of(record, same[0])))
        named = sets if len(records) > 1 else [RowSet("", s.token, s.rows) for s in sets]
        yield from plots.draw(drawing_of(records[0], chart), named, f"{prefix}-{index}")


def _tables(record: Record) -> Iterable[NumberTable]:
    for table in dicts(record.get("tables")):
        columns = dicts(table.get("columns"))
        axes = [_axis(record, table, text(column.get("key"))) for column in columns]
        yield NumberTable(
            title=text(table.get("title")),
            state=text(record.get("state")),
            heads=tuple(axis.text for axis in axes),
            rows=tuple(
                tuple(axis.word(row.get(axis.key)) for axis in axes)
                for row in dicts(table.get("rows"))
            ),
        )


def _steady(record: Record) -> SteadyState:
    found = record["steady_state"]
    facts = tuple(
        (str(key).replace("_", " "), _fact_text(value))
        for key, value in found.items()
        if not isinstance(value, list | dict) and key != "reached"
    )
    return SteadyState(text(record.get("state")), found.get("reached") is True, facts)


def _fact_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return q.exact(value)
    return q.significant(value, 4) if q.number(value) is not None else text(value, q.DASH)
