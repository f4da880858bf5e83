"""Flows of several rounds as one row, and samples of a flow over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from drivelab.procedures.flow import COLUMNS, flow, longest_of_buckets
from drivelab.procedures.measured import Cell, Column
from drivelab.quantities import MB, NS_PER_MS, NS_PER_S
from drivelab.targets import Report

RATE_KEYS = ("iops", "mb_per_s", "mean_ms", "max_ms")
RATE_COLUMNS = tuple(COLUMNS[key] for key in RATE_KEYS)


def rates(report: Report) -> dict[str, Cell]:
    """Requests and bytes per second, mean and longest latency, reads and writes together."""
    found = flow(report)
    return {key: found[key] for key in RATE_KEYS}


def numeric(cell: Cell) -> float | None:
    """A cell as a number; None if it is none."""
    return float(cell) if isinstance(cell, int | float) else None


def iops(report: Report) -> float:
    """Requests per second; 0 if none was done."""
    found = flow(report)["iops"]
    return 0.0 if found is None else float(found)


def averaged(rows: Sequence[dict[str, Cell]]) -> dict[str, Cell]:
    """The mean of several rounds; the longest latency is the longest of all."""
    found: dict[str, Cell] = {}
    for key in RATE_KEYS:
        values = [value for row in rows if isinstance(value := row[key], int | float)]
        longest = max(values, default=None)
        found[key] = longest if key == "max_ms" else sum(values) / len(values) if values else None
    return found


@dataclass(frozen=True)
class Sample:
    """One piece of time of a stream of writes."""

    start_s: float
    """Since the stream began."""
    width_s: float
    ios: int
    byte_count: int
    mean_ms: float | None
    """None where nobody measured it, as with fio, or nothing was done."""
    max_ms: float | None

    @property
    def iops(self) -> float:
        """Requests per second."""
        return self.ios / self.width_s

    @property
    def mb_per_s(self) -> float:
        """10^6 bytes per second."""
        return self.byte_count / MB / self.width_s


def samples(report: Report) -> list[Sample]:
    """Writes of a report over time, in whole samples; a last one that is cut short is left out."""
    write = report["jobs"][0]["write"]
    series = write["series"]
    width_ns = series["interval_ns"]
    whole = write["runtime_ns"] // width_ns
    columns = zip(
        series["ios"][:whole],
        series["bytes"],
        series["latency_mean_ns"] or [None] * whole,
        longest_of_buckets(series),
        strict=False,
    )
    return [
        Sample(
            index * width_ns / NS_PER_S,
            width_ns / NS_PER_S,
            ios,
            byte_count,
            _ms(mean_ns),
            _ms(max_ns),
        )
        for index, (ios, byte_count, mean_ns, max_ns) in enumerate(columns)
    ]


def _ms(latency_ns: float | None) -> float | None:
    return None if latency_ns is None else latency_ns / NS_PER_MS


def duration_s(report: Report) -> float:
    """Time that a report measured."""
    return float(report["jobs"][0]["write"]["runtime_ns"]) / NS_PER_S


def whole_sample(report: Report) -> list[Sample]:
    """Writes that were over before their first sample, as one sample; none if nothing was done."""
    write, lasted_s = report["jobs"][0]["write"], duration_s(report)
    if not write["ios"] or lasted_s <= 0:
        return []
    latency = write["latency_ns"] or {}
    mean_ms, max_ms = (_ms(latency.get(key)) for key in ("mean", "max"))
    return [Sample(0.0, lasted_s, write["ios"], write["bytes"], mean_ms, max_ms)]


MINUTE = Column("minute", "Time", "min")
