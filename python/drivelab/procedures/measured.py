"""What a test brings: numbers with names and units, tables, and how to draw them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from drivelab.targets import Report

Cell = float | int | str | None
Row = Mapping[str, Cell]


@dataclass(frozen=True)
class Value:
    """One number that the test is about.

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
    better: Literal["higher", "lower"] | None = None


@dataclass(frozen=True)
class Column:
    """One column of a table; its title and unit label the axis of a chart too.

    >>> Column("p99_us", "99 % of reads take at most", "us").unit
    'us'
    """

    key: str
    title: str
    unit: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of cells, by column key.

    >>> columns = [Column("depth", "Queue depth"), Column("iops", "Reads", "IOPS")]
    >>> rows = [{"depth": 1, "iops": 9000.0}, {"depth": 32, "iops": 35000.0}]
    >>> Table("depths", "Reads by queue depth", columns, rows).rows[1]["iops"]
    35000.0
    """

    name: str
    """As in queries: "rounds"."""
    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]


@dataclass(frozen=True)
class Chart:
    """How a table is drawn. `x`, `y` and `by` are keys of its columns.

    >>> chart = Chart("depths", "Reads by queue depth", "lines", "depth", "iops", log_x=True)
    >>> chart.x, chart.y, chart.by
    ('depth', 'iops', None)

    `lines` and `bars`: y against x, a line or a bar for each value of `by`. `heat`: a field over x
    and `by`, coloured by y.
    """

    table: str
    title: str
    kind: Literal["lines", "bars", "heat"]
    x: str
    y: str
    by: str | None = None
    log_x: bool = False
    log_y: bool = False


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


def _check(table: Table, charts: list[Chart]) -> None:
    keys = {column.key for column in table.columns}
    for row in table.rows:
        if set(row) != keys:
            raise ValueError(f"table {table.name}: row {dict(row)} has not the columns {keys}")
    for chart in charts:
        used = {chart.x, chart.y, *([chart.by] if chart.by else [])}
        if not used <= keys:
            raise ValueError(f"chart {chart.title}: columns {used - keys} are not in {table.name}")
