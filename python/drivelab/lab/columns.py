"""Columns of the tables of a result, of each its type; docs/columns.md says what they mean."""

from __future__ import annotations

import polars as pl

from drivelab import results
from drivelab.counters import FAILED

TIMES = ("mean", "stddev", "min", *results.QUOTED_PERCENTILES, "max")
"""What is told of latencies."""
OF_WHOLE = ("duration_s", "unmapped_read_share", "energy_j", *FAILED)
"""What the drive did as a whole: the same beside every row of `Result.summary`."""
OF_DRIVE = ("duration_s", "write_amplification", "unmapped_read_share", "energy_j", *FAILED)
"""The same of a run of one direction, whose write amplification is the drive's."""
SUMMARY: dict[str, pl.DataType | type[pl.DataType]] = {
    "job": pl.String,
    "direction": pl.String,
    "ios": pl.Int64,
    "bytes": pl.Int64,
    "iops": pl.Float64,
    "mib_per_s": pl.Float64,
    **{f"latency_{name}_us": pl.Float64 for name in TIMES},
    "flash_write_bytes": pl.Int64,
    "write_amplification": pl.Float64,
    "erases": pl.Int64,
}
"""Columns of `Result.summary`."""
LATENCY = {
    "job": pl.String,
    "direction": pl.String,
    "latency_us": pl.Float64,
    "count": pl.Int64,
    "share": pl.Float64,
}
OF_DRIVE_OVER_TIME: dict[str, pl.DataType | type[pl.DataType]] = {
    "write_amplification": pl.Float64,
    "queue_depth_mean": pl.Float64,
    "free_blocks": pl.Int64,
    "cleaning_share": pl.Float64,
}
"""Columns of `Result.series` that tell what the drive did meanwhile."""
SERIES: dict[str, pl.DataType | type[pl.DataType]] = {
    "job": pl.String,
    "direction": pl.String,
    "time_s": pl.Float64,
    "interval_s": pl.Float64,
    "iops": pl.Float64,
    "mib_per_s": pl.Float64,
    "latency_mean_us": pl.Float64,
    "latency_max_us": pl.Float64,
    "latency_p99_us": pl.Float64,
    **OF_DRIVE_OVER_TIME,
}
"""Columns of `Result.series`."""
PARTS = {"job": pl.String, "direction": pl.String, "part": pl.String, "mean_us": pl.Float64}
ROUNDS: dict[str, pl.DataType | type[pl.DataType]] = {
    "round": pl.Int64,
    "duration_s": pl.Float64,
    "mib_per_s": pl.Float64,
    "host_write_bytes": pl.Int64,
    "flash_write_bytes": pl.Int64,
    "write_amplification": pl.Float64,
    "erases": pl.Int64,
    "write_latency_max_us": pl.Float64,
}
TAILS = {
    "job": pl.String,
    "direction": pl.String,
    "share_of_requests": pl.Float64,
    "requests": pl.Int64,
    "latency_min_us": pl.Float64,
    "part": pl.String,
    "mean_us": pl.Float64,
}
