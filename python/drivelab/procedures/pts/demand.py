"""Threads x queue depths: what a drive makes of growing demand."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from drivelab.procedures.measured import Cell, Chart, Column, Row, Table
from drivelab.procedures.pts.rates import RATE_COLUMNS, rates
from drivelab.targets import Report

THREADS = DEPTHS = (32, 16, 8, 6, 4, 2, 1)
FULL_DEMAND = (32, 32)
CELLS = tuple((threads, depth) for threads in THREADS for depth in DEPTHS)

Demand = tuple[int, int]
"""Threads and queue depth."""


def measure(apply: Callable[[int], Report]) -> dict[Demand, Report]:
    """Applies every demand in turn; `apply` gets the number of outstanding requests."""
    return {(threads, depth): apply(threads * depth) for threads, depth in CELLS}


def rows_of(reports: Mapping[Demand, Report]) -> dict[Demand, dict[str, Cell]]:
    """Rates of every demand."""
    return {demand: rates(report) for demand, report in reports.items()}


def table(cells: Mapping[Demand, Mapping[str, Cell]], what: str) -> Table:
    """Every demand."""
    rows: tuple[Row, ...] = tuple(
        {
            "threads": threads,
            "queue_depth": depth,
            "outstanding": threads * depth,
            **cell,
        }
        for (threads, depth), cell in cells.items()
    )
    columns = (
        Column("threads", "Threads"),
        Column("queue_depth", "Queue depth"),
        Column("outstanding", "Requests outstanding"),
        *RATE_COLUMNS,
    )
    return Table("demand", f"Demand, {what}", columns, rows)


CHARTS = (
    Chart("demand", "IOPS by demand", "heat", "queue_depth", "iops", by="threads"),
    Chart(
        "demand",
        "Demand variation",
        "lines",
        "queue_depth",
        "iops",
        by="threads",
        log_x=True,
    ),
    Chart(
        "demand",
        "Demand intensity: mean latency against IOPS",
        "lines",
        "iops",
        "mean_ms",
        by="threads",
        log_y=True,
    ),
)
