"""The flow of requests in an engine's report as plain numbers, for the rows of tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from drivelab.procedures.measured import Column
from drivelab.quantities import MB, MIB, NS_PER_MS, NS_PER_S
from drivelab.targets import Report

PERCENTILES = {"p50_ms": 50.0, "p99_ms": 99.0, "p99_9_ms": 99.9, "p99_99_ms": 99.99}
COLUMNS = {
    column.key: column
    for column in (
        Column("ios", "Requests"),
        Column("bytes", "Bytes", "B"),
        Column("duration_s", "Time", "s"),
        Column("iops", "Requests per second", "IOPS"),
        Column("mib_per_s", "Throughput", "MiB/s"),
        Column("mb_per_s", "Throughput", "MB/s"),
        Column("mean_ms", "Mean latency", "ms"),
        Column("p50_ms", "50 % latency", "ms"),
        Column("p99_ms", "99 % latency", "ms"),
        Column("p99_9_ms", "99.9 % latency", "ms"),
        Column("p99_99_ms", "99.99 % latency", "ms"),
        Column("max_ms", "Longest latency", "ms"),
    )
}
"""Columns of a flow's numbers, by key."""
EMPTY_SERIES: Mapping[str, Any] = {
    "interval_ns": NS_PER_S,
    "bytes": [],
    "ios": [],
    "latency_max_ns": [],
}
"""Of a measurement that keeps nothing over time."""


def flow(
    report: Report, direction: Literal["read", "write"] | None = None, job: int = 0
) -> dict[str, float | int | None]:
    """Numbers of one direction of a job, or of reads and writes together.

    Keys as in `COLUMNS`; MiB are 2^20 bytes, MB 10^6. Values that don't exist are None; so are
    percentiles of two directions together, which can't be computed from those of the parts.
    """
    measured = report["jobs"][job]
    parts = [measured[direction]] if direction else [measured["read"], measured["write"]]
    parts = [part for part in parts if part["ios"]] or parts[:1]
    ios, moved = sum(part["ios"] for part in parts), sum(part["bytes"] for part in parts)
    seconds = max(part["runtime_ns"] for part in parts) / NS_PER_S
    known = seconds > 0 and ios > 0
    return {
        "ios": ios,
        "bytes": moved,
        "duration_s": seconds,
        "iops": ios / seconds if known else None,
        "mib_per_s": moved / seconds / MIB if known else None,
        "mb_per_s": moved / seconds / MB if known else None,
        "mean_ms": _mean_ms(parts),
        **_percentiles(parts),
        "max_ms": max((_ms(part, "max") for part in parts if part["ios"]), default=None),
    }


def longest_of_buckets(series: Mapping[str, Any]) -> list[int | None]:
    """Longest latency of each bucket in ns; None where nothing was done, of which an engine's
    report says 0."""
    pairs = zip(series["latency_max_ns"], series["ios"], strict=True)
    return [ns if ios else ns or None for ns, ios in pairs]


def _ms(part: Mapping[str, Any], key: str) -> float:
    return float(part["latency_ns"][key]) / NS_PER_MS


def _mean_ms(parts: Sequence[Mapping[str, Any]]) -> float | None:
    ios = sum(part["ios"] for part in parts)
    total = math.fsum(_ms(part, "mean") * part["ios"] for part in parts if part["ios"])
    return total / ios if ios else None


def _percentiles(parts: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    if len(parts) > 1 or not parts[0]["ios"]:
        return dict.fromkeys(PERCENTILES)
    points = {float(key): ns for key, ns in parts[0]["latency_ns"]["percentiles"].items()}
    found = {key: points.get(percent) for key, percent in PERCENTILES.items()}
    return {key: None if ns is None else ns / NS_PER_MS for key, ns in found.items()}
