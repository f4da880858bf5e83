"""Requests one by one, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from drivelab import results
from drivelab.workload import OUTCOMES

OPS = ("read", "write", "flush", "trim")
"""Kinds of requests, each at its number in the engine."""

WORDS = {"op": OPS, "outcome": OUTCOMES}
"""Columns of words."""

COLUMNS = (
    *("op", "offset_bytes", "length_bytes", "outcome"),
    *("issued_ns", "submitted_ns", "completed_ns", "latency_ns"),
    *(f"{part}_ns" for part in results.SPLIT_PARTS),
)
"""What is known of a request, in this order."""


def is_log(schema: Mapping[str, pl.DataType]) -> bool:
    """Whether a table has the columns of a request log, whatever its jobs are called."""
    wanted = log_schema(())
    return list(schema) == list(wanted) and all(
        isinstance(kind, pl.Enum) if name == "job" else kind == wanted[name]
        for name, kind in schema.items()
    )


def words(numbers: NDArray[Any], names: Sequence[str]) -> pl.Series:
    """A column of words by their numbers; it takes a byte a row, or as many as the words need."""
    # What polars has such a column made of.
    physical = np.uint8 if len(names) < 2**8 else np.uint16 if len(names) < 2**16 else np.uint32
    return pl.Series(numbers.astype(physical, copy=False)).cat.to(pl.Enum(names))


def request_table(columns: Mapping[str, Any]) -> pl.DataFrame:
    """The engine's columns as a table, in order of completion. Numbers are taken over, not copied.

    The parts of a latency (`queueing_ns` to `cleaning_ns`) add up to it.
    """
    return pl.DataFrame(
        {
            name: words(columns[name], WORDS[name]) if name in WORDS else columns[name]
            for name in COLUMNS
        }
    )


def log_table(columns: Mapping[str, Any], jobs: Sequence[str]) -> pl.DataFrame:
    """The same of a run's jobs, whose names differ, with that of each request."""
    job = words(columns["job"], jobs).alias("job")
    return request_table(columns).insert_column(0, job)


def log_schema(jobs: Sequence[str]) -> pl.Schema:
    """What the columns of such a table are made of."""
    enums = {"job": jobs, **WORDS}
    return pl.Schema(
        {name: pl.Enum(enums[name]) if name in enums else pl.UInt64() for name in ("job", *COLUMNS)}
    )
