"""Published against modelled: figures, orderings, statements and traces, then the summary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from drivelab.figures import text
from drivelab.text.layout import BLANK, Line, Part, Table

Record = Mapping[str, Any]


def parts(found: Record, details: bool) -> Iterator[Part]:
    """The tables that have rows, and the summary; `details`: every value of the statements."""
    orders, claims, traces = (found[key] for key in ("orderings", "statements", "traces"))
    figures = text.figure_rows(found["figures"])
    checks = text.check_rows(claims) if details else []
    for table in (
        Table(text.COLUMNS, figures, text.NUMBERS, whole=("metric",)),
        Table(text.ORDER_COLUMNS, text.order_rows(orders)),
        Table(text.STATEMENT_COLUMNS, text.statement_rows(claims)),
        Table(text.CHECK_COLUMNS, checks, text.CHECK_NUMBERS),
        Table(text.TRACE_COLUMNS, text.trace_rows(traces), text.TRACE_NUMBERS),
    ):
        if table.rows:
            yield table
            yield BLANK
    yield from map(Line, text.summary_lines(found["summary"]))
