"""A stream over time."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from drivelab.records.record import Amount, Count, Record, check_lengths


class Series(Record):
    """One value per interval, null where there was nothing to measure; a last interval that is cut
    short is left out. A whole column is null where nobody measured it (real drives)."""

    interval_s: Amount
    """Width of an interval"""
    mib_per_s: list[Amount]
    """Throughput of the tested direction"""
    latency_max_us: list[Amount | None]
    """The longest latency"""
    iops: list[Amount] | None
    """Requests of the tested direction per second"""
    latency_mean_us: list[Amount | None] | None
    """Mean latency"""
    latency_p99_us: list[Amount | None] | None
    """99 % of the requests took no longer, at most 3.2 % too high"""
    write_amplification: list[Amount | None] | None
    """Bytes programmed over bytes that the host wrote within the interval"""
    queue_depth_mean: list[Amount | None] | None
    """Requests in the drive, on average over the interval"""
    free_blocks: list[Count | None] | None
    """Erased blocks that the drive could write at the end of the interval"""
    cleaning_share: list[Amount | None] | None
    """Part of the time of all dies that cleaning and wear levelling took for themselves within the
    interval; above 1 where they work it off in later ones"""

    @model_validator(mode="after")
    def _are_of_the_same_intervals(self) -> Self:
        columns = {key: value for key, value in self if key != "interval_s"}
        check_lengths(**columns)
        return self
