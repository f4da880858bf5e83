"""What a test found: headline numbers, tables, charts of them, and what it repeated."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import GetPydanticSchema, model_validator
from pydantic_core import core_schema

from drivelab.records.record import Amount, Better, Count, Record, misfit

Number = Annotated[
    float,
    GetPydanticSchema(
        lambda kind, handler: core_schema.union_schema(
            [core_schema.int_schema(strict=True), handler(kind)],
            mode="left_to_right",
            custom_error_type="float_type",
        ),
        lambda _, handler: handler(core_schema.float_schema()),
    ),
]
"""Whole numbers stay whole: counts, sizes and rounds are written as such."""
Cell = Number | str | None


class Value(Record):
    """A headline number."""

    name: str
    """As in queries and figures"""
    title: str
    """For people"""
    value: float | None
    """Null where the test found nothing"""
    unit: str
    """Of the value"""
    better: Better | None
    """`higher`, `lower`, or neither"""


class Column(Record):
    """A column of a table."""

    key: str
    """Of its cells in every row"""
    title: str
    """For people; labels the axis of a chart, too"""
    unit: str
    """Of its cells"""


class Table(Record):
    """A table of a test."""

    name: str
    """As in queries"""
    title: str
    """For people"""
    columns: list[Column]
    """In order"""
    rows: list[dict[str, Cell]]
    """Cells by the keys of the columns: numbers, texts, or null"""

    @model_validator(mode="after")
    def _have_a_cell_for_each_column(self) -> Self:
        keys = dict.fromkeys(column.key for column in self.columns).keys()
        for index, row in enumerate(self.rows):
            if not keys <= row.keys():
                lacking = [key for key in keys if key not in row]
                raise misfit(f"rows[{index}] lacks {', '.join(lacking)}")
        return self


class Chart(Record):
    """How a table is drawn."""

    table: str
    """Its name"""
    title: str
    """For people"""
    kind: Literal["lines", "bars", "heat"]
    """`lines`, `bars`, or `heat`: a field over x and `by`, coloured by y"""
    x: str
    """Key of a column"""
    y: str
    """Key of a column"""
    by: str | None
    """Key of the column that tells lines or bars apart"""
    log_x: bool
    """Whether the axis is logarithmic"""
    log_y: bool
    """Whether the axis is logarithmic"""


class Pass(Record):
    """A pass over all logical blocks; MB are 10^6 bytes."""

    zone_bytes: Count
    """Size of a zone"""
    mb_per_s: list[Amount]
    """Of every zone, by position"""
    mean_mb_per_s: Amount
    """Over the zones"""
    median_mb_per_s: Amount | None
    """Over the zones"""
    floor_mb_per_s: Amount
    """Of the slowest zone"""
    dips: Count | None
    """Runs of zones slower than half the median"""


class Estimate(Record):
    """A number of a test that was repeated; see [repeats](#repeats)."""

    values: list[float]
    """In the order of the seeds"""
    mean: float
    """Of the values"""
    low: float
    """Lower end of the 95 % interval of the mean"""
    high: float
    """Upper end"""
    method: str
    """Of the interval"""
