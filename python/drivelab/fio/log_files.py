"""fio's own logs of a run of the engine, row for row as fio 3 writes them.

A row is `time, value, direction, block size, [offset,] priority`: the time in ms since the job
began to measure, the value in ns (`lat`, `clat`), KiB/s (`bw`) or IOPS (`iops`), the direction 0
read, 1 write, 2 trim. With `log_avg_msec` it stands for the requests of one direction that ended in
an interval, which ends at its time; without it for one request, with the size and offset of that
one. There a bandwidth is in 1000 bytes/s, as fio has it. What is left after the last whole interval
has latencies only: fio has no bandwidth and no IOPS of it.

Submission takes a model no time: `clat` is `lat`, and there is no `slat`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from drivelab.fio.logs import Logs
from drivelab.quantities import KIB, NS_PER_MS, NS_PER_S
from drivelab.workload import FLUSH, OUTCOMES, READ, TRIM, WRITE

DIRECTIONS = {READ: 0, WRITE: 1, TRIM: 2}
"""fio's numbers of directions, by those of the engine's operations."""


def texts(
    logs: Logs, columns: Mapping[str, Any], job: int, start_ns: int, end_ns: int
) -> dict[str, str]:
    """The logs of one job by kind, from the engine's log of a run in which it has this index.

    It began to measure `start_ns` after the run's start, and ended at `end_ns`.
    """
    # What a drive has refused moved nothing: neither a rate nor a latency has it.
    was_done = columns["outcome"] <= OUTCOMES.index("uncorrectable")
    own = (columns["job"] == job) & (columns["op"] != FLUSH) & was_done
    requests = pl.DataFrame(
        {
            "direction": columns["op"][own],
            "end_ns": columns["completed_ns"][own] - start_ns,
            "latency_ns": columns["latency_ns"][own],
            "bytes": columns["length_bytes"][own],
            "offset": columns["offset_bytes"][own],
        }
    ).with_columns(pl.col("direction").replace_strict(DIRECTIONS, return_dtype=pl.UInt8))
    kinds = [kind for kind in logs.names if kind != "slat"]
    if logs.every_ns is None:
        return {kind: _text(_each(requests, kind), logs.offsets) for kind in kinds}
    lasted_ns = end_ns - start_ns
    windows = _windows(requests, logs.every_ns, lasted_ns, logs.longest)
    return {kind: _text(_averages(windows, kind, logs.every_ns), logs.offsets) for kind in kinds}


def _each(requests: pl.DataFrame, kind: str) -> pl.DataFrame:
    """A row for each request."""
    latency = pl.col("latency_ns")
    values = {
        "iops": pl.lit(1),
        "bw": pl.when(latency > 0).then(pl.col("bytes") * 10**6 // latency).otherwise(0),
    }
    return requests.with_columns(
        time_ms=pl.col("end_ns") // NS_PER_MS, value=values.get(kind, latency)
    )


def _windows(requests: pl.DataFrame, every_ns: int, lasted_ns: int, longest: bool) -> pl.DataFrame:
    """Sums over intervals, of each direction."""
    # What ends an interval belongs to it, so that none begins at the end of the run. fio's clock of
    # logs has whole milliseconds: with less than one left, the last requests belong before it.
    last = max(lasted_ns - NS_PER_MS, 0) // every_ns
    index = ((pl.col("end_ns").cast(pl.Int64) - 1) // every_ns).clip(0, last)
    latency = pl.col("latency_ns")
    return (
        requests.group_by(index.alias("window"), "direction")
        .agg(
            pl.len().alias("count"),
            pl.col("bytes").sum().alias("moved"),
            (latency.max() if longest else (latency.mean() + 0.5).floor()).alias("lat"),
        )
        .sort("window", "direction")
        .with_columns(
            end_ns=((pl.col("window") + 1) * every_ns).clip(upper_bound=max(lasted_ns, 1)),
        )
        .with_columns(length_ns=pl.col("end_ns") - pl.col("window") * every_ns)
    )


def _averages(windows: pl.DataFrame, kind: str, every_ns: int) -> pl.DataFrame:
    """A row for each interval and direction in which requests ended; speeds of whole ones only."""
    per_second = NS_PER_S / every_ns
    values = {"iops": pl.col("count") * per_second, "bw": pl.col("moved") * per_second / KIB}
    if kind in values:
        windows = windows.filter(pl.col("length_ns") == every_ns)
    return windows.with_columns(
        time_ms=pl.col("end_ns") // NS_PER_MS,
        value=values.get(kind, pl.col("lat")).floor().cast(pl.Int64),
        bytes=pl.lit(0),
        offset=pl.lit(0),
    )


def _text(rows: pl.DataFrame, offsets: bool) -> str:
    """Rows as fio writes them; everything has its usual priority."""
    names = ["time_ms", "value", "direction", "bytes", *(["offset"] if offsets else [])]
    line = pl.format(", ".join("{}" for _ in names) + ", 0\n", *names)
    return "".join(rows.select(line).to_series())
