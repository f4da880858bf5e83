"""How much each metric of a study follows from each thing that was varied."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import polars as pl

LEVELS_MAX = 8
"""A number with more values than this, as samples have, is cut into bins of equally many points."""
METRICS = (
    "iops",
    "mib_per_s",
    "latency_mean_us",
    "latency_p99_us",
    "latency_max_us",
    "write_amplification",
)
"""What is looked at unless somebody asks for something else."""


def is_number(values: Sequence[Any]) -> bool:
    """Whether all of these are numbers; truth values are names."""
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def levels(values: Sequence[Any]) -> list[int]:
    """The level of each value: equal values, or those in one bin, have one. Numbers in order."""
    distinct = list(dict.fromkeys(values))
    if is_number(distinct):
        distinct.sort()
    places = {value: index for index, value in enumerate(distinct)}
    if not is_number(distinct) or len(distinct) <= LEVELS_MAX:
        return [places[value] for value in values]
    bins = min(LEVELS_MAX, max(2, math.isqrt(len(values) // 2)))
    return [places[value] * bins // len(distinct) for value in values]


def share(values: Sequence[float], level_of: Sequence[int]) -> float | None:
    """The part of the variance of `values` that lies between levels: the first-order sensitivity
    index (Sobol' 1993) of a full grid, elsewhere the correlation ratio. None where all are equal.

    >>> share([1.0, 1.0, 3.0, 3.0], [0, 0, 1, 1]), share([1.0, 3.0, 1.0, 3.0], [0, 0, 1, 1])
    (1.0, 0.0)
    """
    mean = math.fsum(values) / len(values)
    whole = math.fsum((value - mean) ** 2 for value in values)
    if whole <= (1e-12 * mean) ** 2 * len(values):
        return None
    groups: dict[int, list[float]] = {}
    for value, level in zip(values, level_of, strict=True):
        groups.setdefault(level, []).append(value)
    between = math.fsum(
        len(own) * (math.fsum(own) / len(own) - mean) ** 2 for own in groups.values()
    )
    return min(1.0, between / whole)


def sensitivity(
    frame: pl.DataFrame, keys: Sequence[str], metrics: Sequence[str] = METRICS
) -> pl.DataFrame:
    """A row for each direction, metric and key: `share` of the variance (0 to 1) that follows from
    the key alone, and the smallest and largest mean of a level."""
    rows: list[dict[str, Any]] = []
    for (direction,), part in frame.group_by("direction", maintain_order=True):
        for metric in metrics:
            known = part.filter(pl.col(metric).is_not_null())
            values = known[metric].to_list()
            for key in keys if values else ():
                level_of = levels(known[key].to_list())
                means = known.group_by(pl.Series(level_of)).agg(pl.col(metric).mean())[metric]
                rows.append(
                    {
                        "direction": direction,
                        "metric": metric,
                        "key": key,
                        "share": share(values, level_of),
                        "mean_min": means.min(),
                        "mean_max": means.max(),
                    }
                )
    return pl.DataFrame(rows, schema=_SCHEMA)


_SCHEMA = {
    "direction": pl.String,
    "metric": pl.String,
    "key": pl.String,
    "share": pl.Float64,
    "mean_min": pl.Float64,
    "mean_max": pl.Float64,
}
