"""Compound tests as the report shows them: values by state, plots, numbers, departures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from drivelab.charts import Chart
from drivelab.procedures.procedure import GROUPS, group_title
from drivelab.records import findings as records
from drivelab.records import steady_state
from drivelab.records.figure import Figure
from drivelab.records.test import AnyTest, Compound
from drivelab.report import plots
from drivelab.report import quantities as q
from drivelab.report.agreement import quantity
from drivelab.report.bars import as_published, state_class
from drivelab.report.plots import Axis, Drawing, RowSet
from drivelab.report.reading import Reviewed, remarks

GOALS = {"higher": "more is better", "lower": "less is better"}


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
class SteadyFacts:
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
    steady_states: tuple[SteadyFacts, ...]


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


def groups(review: Reviewed, model: str, prefix: str) -> list[Group]:
    """The compound tests of a model, by group."""
    figures = [figure for figure in review.figures if figure.model == model]
    tests: dict[str, dict[str, list[Compound]]] = {}
    for test in review.compounds:
        if test.model == model:
            tests.setdefault(test.group, {}).setdefault(test.id, []).append(test)
    order = sorted(tests, key=lambda group: GROUPS.index(group) if group in GROUPS else len(GROUPS))
    return [
        Group(
            group_title(group),
            tuple(_test(review, found, figures, prefix) for found in tests[group].values()),
        )
        for group in order
    ]


def _test(
    review: Reviewed, tests: Sequence[Compound], figures: Sequence[Figure], prefix: str
) -> CompoundTest:
    ordered = sorted(tests, key=lambda test: review.rank(test.state))
    first = ordered[0]
    anchor = f"{prefix}-{first.id}"
    return CompoundTest(
        id=first.id,
        anchor=anchor,
        title=first.title,
        states=tuple((test.state, state_class(review, test.state)) for test in ordered),
        values=_values(ordered, [figure for figure in figures if figure.test_id == first.id]),
        charts=tuple(_charts(review, ordered, anchor)),
        tables=tuple(table for test in ordered for table in _tables(test)),
        deviations=tuple(dict.fromkeys(line for test in ordered for line in test.deviations)),
        notes=_notes(ordered),
        steady_states=tuple(
            _steady(test.state, test.steady_state) for test in ordered if test.steady_state
        ),
    )


def _notes(tests: Sequence[Compound]) -> tuple[str, ...]:
    """Each remark once, with the states that it is about, if these aren't all."""
    return tuple(
        note if len(those) == len(tests) else f"{', '.join(test.state for test in those)}: {note}"
        for note, those in remarks(tests).items()
    )


def _values(tests: Sequence[Compound], figures: Sequence[Figure]) -> tuple[ValueRow, ...]:
    found: dict[str, dict[str, records.Value]] = {}
    for test in tests:
        for value in test.values:
            found.setdefault(value.name, {})[test.state] = value
    rows = []
    for name, by_state in found.items():
        first = next(iter(by_state.values()))
        rows.append(
            ValueRow(
                first.title,
                GOALS.get(first.better or "", ""),
                tuple(value_text(by_state.get(test.state)) for test in tests),
                "; ".join(_published(f) for f in figures if quantity(f) == f"value:{name}"),
            )
        )
    return tuple(rows)


def _published(figure: Figure) -> str:
    amount = as_published(figure)
    state = figure.state.split(" (")[0]
    return f"{amount} {'' if state == 'unstated' else state} [{figure.id}]".replace("  ", " ")


def value_text(value: records.Value | None) -> str:
    """A value of a test with its unit."""
    if value is not None and value.value is not None and value.unit == "B":
        return plots.size_text(value.value)
    return q.DASH if value is None else q.with_unit(value.value, value.unit, 4)


def _axis(table: records.Table | None, key: str, *, log: bool = False) -> Axis:
    columns = table.columns if table is not None else []
    column = next((column for column in columns if column.key == key), None)
    return Axis(key, column.title or key, column.unit, log) if column else Axis(key, key, "", log)


def table_of(test: AnyTest | None, name: str) -> records.Table | None:
    """A table of a test by its name; None if it has none."""
    return next((t for t in (test.tables if test else ()) if t.name == name), None)


def drawing_of(test: AnyTest, chart: records.Chart) -> Drawing:
    """A chart of a test, its columns as axes."""
    table = table_of(test, chart.table)
    return Drawing(
        title=chart.title,
        kind=chart.kind,
        x=_axis(table, chart.x, log=chart.log_x),
        y=_axis(table, chart.y, log=chart.log_y),
        by=_axis(table, chart.by) if chart.by else None,
    )


def row_set(test: AnyTest | None, chart: records.Chart, name: str, token: str) -> RowSet | None:
    """The rows that a test has for a chart of another state, or drive; None without that chart."""
    charts = test.charts if test is not None else []
    same = next((item for item in charts if item.title == chart.title), None)
    if same is None:
        return None
    table = table_of(test, same.table)
    return RowSet(name, token, tuple(table.rows) if table is not None else ())


def _charts(review: Reviewed, tests: Sequence[Compound], prefix: str) -> Iterable[Chart]:
    for index, chart in enumerate(tests[0].charts):
        sets = [
            found if len(tests) > 1 else replace(found, name="")
            for test in tests
            if (found := row_set(test, chart, test.state, f"${review.state(test.state).colour}"))
        ]
        yield from plots.draw(drawing_of(tests[0], chart), sets, f"{prefix}-{index}")


def _tables(test: Compound) -> Iterable[NumberTable]:
    for table in test.tables:
        axes = [_axis(table, column.key) for column in table.columns]
        yield NumberTable(
            title=table.title,
            state=test.state,
            heads=tuple(axis.text for axis in axes),
            rows=tuple(tuple(axis.word(row.get(axis.key)) for axis in axes) for row in table.rows),
        )


def _steady(state: str, found: steady_state.SteadyState) -> SteadyFacts:
    facts = tuple(
        (key.replace("_", " "), q.exact(value) if isinstance(value, int) else value)
        for key, value in found
        if key not in ("reached", "variables")
    )
    return SteadyFacts(state, found.reached, facts)
