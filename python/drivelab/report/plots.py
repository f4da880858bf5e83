"""Charts of compound tests, drawn from their tables: lines, bars and fields of colour.

A chart says which columns it shows; here that becomes a plot. Several sets of rows (states of one
drive, or drives) share a plot if their lines can still be told apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from drivelab import charts
from drivelab.charts import Cells, Chart, Line, Scale, Text, steady_colours
from drivelab.report import quantities as q

SIZE_UNITS = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B"))
SIZES = {unit: size for size, unit in SIZE_UNITS if size > 1}

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
        """A value that is a place on the axis: "0.5", not "0.5000"."""
        amount = q.number(value)
        if amount is None or self.unit == "B" or isinstance(value, int):
            return self.word(value)
        return q.exact(float(f"{amount:.4g}"))

    def line(self, value: Any) -> str:
        """A value as a line's name: a number with its unit, or its title, as no axis says it."""
        if q.number(value) is None or self.unit == "B":
            return self.place(value)
        return (
            f"{self.place(value)} {self.unit}" if self.unit else f"{self.title} {self.place(value)}"
        )

    def scale(self, *, named: bool = False) -> Scale:
        """The axis as charts have it, of numbers or of names."""
        kind = "names" if named else "log" if self.log else "linear"
        return Scale(self.title, self.unit, kind)


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


def draw(drawing: Drawing, sets: Sequence[RowSet], chart_id: str, *, link: str = "") -> list[Chart]:
    """The plots of a chart: one if its lines fit, otherwise one for each set or for each line.

    Those with the same `link` are zoomed and read together.
    """
    sets = [item for item in sets if any(_known(drawing, row) for row in item.rows)]
    if not sets:
        return []
    if drawing.kind == "heat" and drawing.by is not None:
        return [_heat(drawing, item, f"{chart_id}-{i}") for i, item in enumerate(sets)]
    lines = _names(drawing, sets)
    if drawing.by is None or len(lines) <= 1:
        return [_plot(drawing, sets, "", chart_id, link)]
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
    return list(dict.fromkeys(by.line(row.get(by.key)) for item in sets for row in item.rows))


def _only(drawing: Drawing, item: RowSet, name: str) -> RowSet:
    by = drawing.by
    assert by is not None
    rows = tuple(row for row in item.rows if by.line(row.get(by.key)) == name)
    return RowSet(item.name, item.token, rows)


def _split(drawing: Drawing, item: RowSet) -> list[RowSet]:
    """A set cut into its lines, each with a colour of its own."""
    names = _names(drawing, [item])
    return [
        RowSet(name, token, _only(drawing, item, name).rows)
        for name, token in zip(names, steady_colours(names), strict=True)
    ]


def _plot(
    drawing: Drawing, sets: Sequence[RowSet], of: str, chart_id: str, link: str = ""
) -> Chart:
    title = f"{drawing.title}, {of}" if of else drawing.title
    numeric = all(
        q.number(row.get(drawing.x.key)) is not None for item in sets for row in item.rows
    )
    words = "; ".join(f"{item.name}: {_course(drawing, item)}" for item in sets)
    text = Text(title, "", f"{title}; {words}", chart_id)
    x, y = drawing.x, drawing.y
    upright = drawing.kind == "bars" or not numeric
    parts = []
    for item in sets:
        known = [row for row in item.rows if _known(drawing, row)]
        places = [x.place(row[x.key]) if upright else row[x.key] for row in known]
        parts.append(Line(item.name, item.token, places, [row[y.key] for row in known]))
    if upright:
        return charts.bars(text, parts, x.scale(named=True), y.scale())
    if x.log and x.unit in SIZES:
        # Sizes that double are marked as 512 B, 4 KiB, 32 KiB, not as 0.5, 1, 2, 5.
        size, x = SIZES[x.unit], replace(x, unit="B")
        parts = [replace(part, x=[round(at * size) for at in part.x]) for part in parts]
    return charts.lines(text, parts, x.scale(), y.scale(), link=link)


def _course(drawing: Drawing, item: RowSet) -> str:
    values = [row[drawing.y.key] for row in item.rows if _known(drawing, row)]
    unit = drawing.y.unit
    if not values:
        return "no value"
    return f"{q.with_unit(min(values), unit)} to {q.with_unit(max(values), unit)}"


def _heat(drawing: Drawing, item: RowSet, chart_id: str) -> Chart:
    y = drawing.y
    title = f"{drawing.title}, {item.name}" if item.name else drawing.title
    text = Text(
        title, f"{y.text}; darker is more, by its logarithm",
        f"{title}: {_course(drawing, item)}", chart_id,
    )  # fmt: skip
    return _field(drawing, item, text)


def ratios(drawing: Drawing, item: RowSet, base: RowSet, text: Text) -> Chart:
    """A field whose rows are ratios to another set's, coloured for the one that has more."""
    return _field(drawing, item, text, ends=(base.token, item.token))


def _field(
    drawing: Drawing, item: RowSet, text: Text, ends: tuple[str, str] | None = None
) -> Chart:
    x, y, by = drawing.x, drawing.y, drawing.by
    assert by is not None
    known = [row for row in item.rows if _known(drawing, row)]
    cells = Cells(
        across=[x.place(row[x.key]) for row in known],
        down=[by.place(row.get(by.key)) for row in known],
        values=[row[y.key] for row in known],
        words=[y.word(row[y.key]) for row in known],
    )
    return charts.heat(text, cells, x.text, by.text, ends=ends)
