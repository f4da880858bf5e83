"""What a test brings: numbers with names and units, tables, and how to draw them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol, get_args

from drivelab.errors import RequestError
from drivelab.lab import checks
from drivelab.targets import Report

Cell = float | int | str | None
Row = Mapping[str, Cell]
Better = Literal["higher", "lower"]
Kind = Literal["lines", "bars", "heat"]


class Frame(Protocol):
    """A polars frame, as every table of a `dl.Result` is one."""

    def to_dicts(self) -> list[dict[str, Any]]:
        """Its rows."""


@dataclass(frozen=True)
class Value:
    """One number that the test is about; raises RequestError for a field that can't be.

    >>> import drivelab as dl
    >>> drive = dl.Drive("intel-x25-m-g1-80gb", scale="1/128").prepare("filled")
    >>> first = drive.measure("power-idle", quick=True).values[0]
    >>> isinstance(first, dl.Value), first.unit, first.better
    (True, 'W', 'lower')
    """

    name: str
    """As in queries and figures: "write_mb_per_s"."""
    title: str
    value: float | None
    """None where the test found nothing."""
    unit: str
    """Without one: "", or None."""
    better: Better | None = None

    def __post_init__(self) -> None:
        what = _named(self, "name", self.name)
        _text(what, "title", self.title)
        _set(self, "value", _number(f"{what}value", self.value))
        _set(self, "unit", _unit(what, self.unit))
        if self.better is not None:
            checks.choice("better", self.better, get_args(Better), what)


@dataclass(frozen=True)
class Column:
    """One column of a table; its title and unit label the axis of a chart too. Raises RequestError
    for a field that can't be.

    >>> Column("p99_us", "99 % of reads take at most", "us").unit
    'us'
    """

    key: str
    title: str
    unit: str = ""

    def __post_init__(self) -> None:
        what = _named(self, "key", self.key)
        _text(what, "title", self.title)
        _set(self, "unit", _unit(what, self.unit))


@dataclass(frozen=True, init=False)
class Table:
    """Rows of cells, by column key: dicts, or a polars frame.

    >>> columns = [Column("depth", "Queue depth"), Column("iops", "Reads", "IOPS")]
    >>> rows = [{"depth": 1, "iops": 9000.0}, {"depth": 32, "iops": 35000.0}]
    >>> Table("depths", "Reads by queue depth", columns, rows).rows[1]["iops"]
    35000.0

    Raises RequestError for two columns of one key, for a row that lacks a column or has one more,
    and for a cell that is no finite number, text or None.
    """

    name: str
    """As in queries: "rounds"."""
    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]

    def __init__(
        self, name: str, title: str, columns: Sequence[Column], rows: Sequence[Row] | Frame
    ) -> None:
        _set(self, "name", name)
        what = _named(self, "name", name)
        _text(what, "title", title)
        _set(self, "title", title)
        _set(self, "columns", _columns(what, columns))
        _set(self, "rows", _rows(what, rows, [column.key for column in self.columns]))


@dataclass(frozen=True)
class Chart:
    """How a table is drawn. `x`, `y` and `by` are keys of its columns.

    >>> chart = Chart("depths", "Reads by queue depth", "lines", "depth", "iops", log_x=True)
    >>> chart.x, chart.y, chart.by
    ('depth', 'iops', None)

    `lines` and `bars`: y against x, a line or a bar for each value of `by`; of several states or
    drives a plot for each value, or for each of them where there are many values. `heat`: a field
    over x and `by`, coloured by y. Raises RequestError for a field that can't be.
    """

    table: str
    title: str
    kind: Kind
    x: str
    y: str
    by: str | None = None
    log_x: bool = False
    log_y: bool = False

    def __post_init__(self) -> None:
        what = _named(self, "title", self.title)
        checks.choice("kind", self.kind, get_args(Kind), what)
        for key in ("table", "x", "y", *(["by"] if self.by is not None else [])):
            _text(what, key, getattr(self, key), empty=False)
        for key in ("log_x", "log_y"):
            log = checks.plain(getattr(self, key))
            if not isinstance(log, bool):
                shown = checks.shown(log)
                raise RequestError(f"{what}{key} = {shown}: allowed: True, False", key)
            _set(self, key, log)
        if self.kind == "heat" and self.by is None:
            raise RequestError(f"{what}kind = 'heat': needs by=..., its other axis", "by")


@dataclass(frozen=True)
class Measured:
    """What a test brought."""

    span_bytes: int | None = None
    """Size of the region that it used."""
    report: Report | None = None
    """Of a stream: the engine's report of the measured part."""
    more: dict[str, Any] = field(default_factory=dict)
    """Keys that only this kind of test adds to its record."""
    values: tuple[Value, ...] = ()
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    deviations: tuple[str, ...] = ()
    """Where it departs from the standard or the program that it repeats."""
    notes: tuple[str, ...] = ()
    """What a reader of the numbers must know."""
    steady_state: dict[str, Any] | None = None

    def found(self) -> dict[str, Any]:
        """Values, tables and charts as records of results.json.

        Raises ValueError for rows or charts that don't agree with the columns.
        """
        for table in self.tables:
            _check(table, [chart for chart in self.charts if chart.table == table.name])
        return {
            "values": [asdict(value) for value in self.values],
            "tables": [
                {
                    "name": table.name,
                    "title": table.title,
                    "columns": [asdict(column) for column in table.columns],
                    "rows": [dict(row) for row in table.rows],
                }
                for table in self.tables
            ],
            "charts": [asdict(chart) for chart in self.charts],
            "deviations": list(self.deviations),
            "notes": list(self.notes),
            "steady_state": self.steady_state,
        }

    def __str__(self) -> str:
        """Values and tables, deviations and notes."""
        # Loaded only where something is printed.
        from drivelab.text import terminal
        from drivelab.text import test as text

        return terminal.as_text(text.parts(self.found()))

    def _repr_html_(self) -> str:
        from drivelab.text import terminal
        from drivelab.text import test as text

        return terminal.as_html(text.parts(self.found()))


def _check(table: Table, charts: list[Chart]) -> None:
    keys = {column.key for column in table.columns}
    for chart in charts:
        used = {chart.x, chart.y, *([chart.by] if chart.by else [])}
        if unknown := sorted(used - keys):
            raise ValueError(
                f'chart "{chart.title}": table "{table.name}" has no column {_listed(unknown)}; '
                f"there are: {', '.join(sorted(keys))}"
            )
        words = [row[chart.y] for row in table.rows if isinstance(row[chart.y], str)]
        if words:
            raise ValueError(
                f'chart "{chart.title}": y = {chart.y!r}: allowed: a column of numbers; it holds '
                f"{checks.shown(words[0])}"
            )


def _set(record: object, key: str, value: object) -> None:
    """Puts what was meant in place of what was given."""
    object.__setattr__(record, key, value)


def _named(record: object, key: str, name: object) -> str:
    """How messages about a record begin; raises RequestError for what is no name."""
    kind = type(record).__name__
    _text(f"{kind}: ", key, name, empty=False)
    return f'{kind} "{name}": '


def _text(what: str, key: str, value: object, *, empty: bool = True) -> None:
    if not isinstance(value, str) or not (value or empty) or not checks.is_written(value):
        more = "" if empty else ", and not an empty one"
        raise RequestError(f"{what}{key} = {checks.shown(value)}: allowed: a text{more}", key)


def _unit(what: str, unit: object) -> object:
    if unit is not None:
        _text(what, "unit", unit)
    return "" if unit is None else unit


def _number(what: str, value: object) -> object:
    found = checks.plain(value)
    if found is not None and not checks.is_finite(found):
        raise RequestError(
            f"{what} = {checks.shown(found)}: allowed: finite numbers, None where there is none",
            "value",
        )
    return found


def _columns(what: str, columns: object) -> tuple[Column, ...]:
    found = tuple(columns) if isinstance(columns, Iterable) else (columns,)
    for column in found:
        if not isinstance(column, Column):
            example = column if isinstance(column, str) and column else "iops"
            raise RequestError(
                f"{what}columns: {checks.shown(column)}: allowed: columns, as "
                f"dl.Column({checks.shown(example)}, 'Title', 'unit')",
                "columns",
            )
    keys = [column.key for column in found]
    for key in keys:
        if keys.count(key) > 1:
            raise RequestError(f"{what}columns: there are two of key {key!r}", "columns")
    return found


def _rows(what: str, rows: object, columns: Sequence[str]) -> tuple[Row, ...]:
    if hasattr(rows, "to_dicts"):
        rows = rows.to_dicts()
    if isinstance(rows, Mapping | str) or not isinstance(rows, Iterable):
        raise RequestError(
            f"{what}rows = {checks.shown(rows)}: allowed: a list of dicts, or a polars frame",
            "rows",
        )
    keys = dict.fromkeys(columns).keys()
    return tuple(_row(f"{what}rows[{index}]", row, keys) for index, row in enumerate(rows))


def _row(what: str, row: object, columns: Iterable[str]) -> Row:
    if not isinstance(row, Mapping):
        raise RequestError(
            f"{what} = {checks.shown(row)}: allowed: dicts of cells by the keys of columns", "rows"
        )
    if row.keys() != columns:
        lacks = [key for key in columns if key not in row]
        extra = [key for key in row if key not in columns]
        said = [f"lacks {_listed(lacks)}"] if lacks else []
        said += [f"has {_listed(extra)}, which is no column"] if extra else []
        raise RequestError(f"{what} {', and '.join(said)}", "rows")
    return {key: _cell(what, key, cell) for key, cell in row.items()}


def _cell(what: str, key: str, cell: Any) -> Cell:
    found: Any = cell if isinstance(cell, str) else checks.plain(cell)
    if isinstance(found, str) and checks.is_written(found):
        return found
    if found is not None and not checks.is_finite(found):
        raise RequestError(
            f"{what}, {key} = {checks.shown(found)}: allowed: finite numbers, texts, None where "
            "there is none",
            "rows",
        )
    number: float | int | None = found
    return number


LISTED_MAX = 5
"""Keys that a message names."""


def _listed(keys: Sequence[object]) -> str:
    named = ", ".join(map(checks.shown, keys[:LISTED_MAX]))
    return named if len(keys) <= LISTED_MAX else f"{named} and {len(keys) - LISTED_MAX} more"
