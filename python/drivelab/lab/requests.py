"""Requests one by one, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from drivelab import results
from drivelab.quantities import SECTOR_BYTES

OPS = ("read", "write", "flush", "trim")
"""Kinds of requests, each at its number in the engine."""

OUTCOMES = ("done", "uncorrectable", "refused", "failed")
"""How requests end, each at its number in the engine."""


def words(numbers: NDArray[Any], names: Sequence[str]) -> pl.Series:
    """A column of words by their numbers; it takes a byte a row, or as many as the words need."""
    # What polars has such a column made of.
    physical = np.uint8 if len(names) < 2**8 else np.uint16 if len(names) < 2**16 else np.uint32
    return pl.Series(numbers.astype(physical, copy=False)).cat.to(pl.Enum(names))


def request_table(columns: Mapping[str, Any], start_ns: int) -> pl.DataFrame:
    """The engine's columns as a table, in order of completion: times in ns after `start_ns`.

    The parts of a latency (`queueing_ns` to `cleaning_ns`) add up to it.
    """
    times = {
        f"{name}_ns": columns[f"{name}_ns"] - np.uint64(start_ns)
        for name in ("issued", "submitted", "completed")
    }
    return pl.DataFrame(
        {
            "op": words(columns["op"], OPS),
            "offset_bytes": columns["lba"] * np.uint64(SECTOR_BYTES),
            "length_bytes": columns["sector_count"].astype(np.uint64) * np.uint64(SECTOR_BYTES),
            "outcome": words(columns["outcome"], OUTCOMES),
            **times,
            "latency_ns": times["completed_ns"] - times["issued_ns"],
            **{f"{part}_ns": columns[f"{part}_ns"] for part in results.SPLIT_PARTS},
        }
    )


def log_table(columns: Mapping[str, Any], start_ns: int, jobs: Sequence[str]) -> pl.DataFrame:
    """The same of a run's jobs, whose names differ, with that of each request."""
    job = words(columns["job"], jobs).alias("job")
    return request_table(columns, start_ns).insert_column(0, job)
