"""Response times as PTS draws them: requests by time, and the share of them that took no longer."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from drivelab.procedures.measured import Chart, Column, Row, Table
from drivelab.quantities import NS_PER_MS
from drivelab.targets import Report

BINS_PER_DECADE = 20
"""Of the engine's bins, which are 0.1 % wide, so many are kept in a factor of ten."""
NINES = {
    "50 %": 0.5,
    "90 %": 0.9,
    "99 %": 0.99,
    "99.9 %": 0.999,
    "99.99 %": 0.9999,
    "99.999 %": 0.99999,
}
"""Shares of requests that percentiles are given for."""

Bins = Mapping[int, int]
"""Longest latency of a bin in ns, and requests in it."""


def bins_of(reports: Iterable[Report]) -> Bins:
    """Requests of several reports, reads and writes together."""
    found: Counter[int] = Counter()
    for report in reports:
        for direction in ("read", "write"):
            latency: Mapping[str, Any] | None = report["jobs"][0][direction]["latency_ns"]
            for top_ns, count in latency["bins"] if latency is not None else ():
                found[top_ns] += count
    return found


def percentile_ms(bins: Bins, share: float) -> float | None:
    """Latency that this share of the requests doesn't exceed; None with no request beyond it."""
    total = sum(bins.values())
    if total * (1 - share) < 1:
        return None
    seen = 0
    for top_ns in sorted(bins):
        seen += bins[top_ns]
        if seen >= share * total:
            return top_ns / NS_PER_MS
    return None


def tables(named: Mapping[str, Bins], what: str) -> tuple[Table, ...]:
    """Histogram and percentiles of one or more sets of requests, by name."""
    rows: list[Row] = [row for name, bins in named.items() for row in _rows(name, bins)]
    points: list[Row] = [
        {"set": name, "share": label, "latency_ms": percentile_ms(bins, share)}
        for name, bins in named.items()
        for label, share in NINES.items()
    ]
    set_column = Column("set", "Requests")
    latency = Column("latency_ms", "Response time", "ms")
    return (
        Table(
            "histogram",
            f"Response times, {what}",
            (
                set_column,
                latency,
                Column("requests", "Requests in the bin"),
                Column("share_percent", "Not longer", "%"),
                Column("nines", "Nines of requests that took no longer (2 is 99 %)"),
            ),
            tuple(rows),
        ),
        Table(
            "percentiles",
            f"Percentiles, {what}",
            (set_column, Column("share", "Share"), latency),
            tuple(points),
        ),
    )


def charts(what: str) -> tuple[Chart, ...]:
    """Requests by time, and nines by time."""
    return (
        Chart(
            "histogram",
            f"Response-time histogram, {what}",
            "lines",
            "latency_ms",
            "requests",
            by="set",
            log_x=True,
            log_y=True,
        ),
        Chart(
            "histogram",
            f"Response times in nines, {what}",
            "lines",
            "latency_ms",
            "nines",
            by="set",
            log_x=True,
        ),
    )


def _rows(name: str, bins: Bins) -> Iterable[Row]:
    total = sum(bins.values())
    coarse: dict[int, tuple[int, int]] = {}
    for top_ns in sorted(bins):
        place = math.floor(math.log10(max(top_ns, 1)) * BINS_PER_DECADE)
        before = coarse.get(place, (0, 0))[1]
        coarse[place] = (top_ns, before + bins[top_ns])
    seen = 0
    for top_ns, count in coarse.values():
        seen += count
        beyond = (total - seen) / total
        yield {
            "set": name,
            "latency_ms": top_ns / NS_PER_MS,
            "requests": count,
            "share_percent": 100 * seen / total,
            # Beyond the last bin there is nothing: no number of nines.
            "nines": -math.log10(beyond) if beyond > 0 else None,
        }
