"""How long requests took: figures, percentiles, a histogram, and where the time went."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, Strict, model_validator

from drivelab.records.record import Amount, Count, Record, Share, check_lengths

Percent = Annotated[float, Field(ge=0, le=100)]
Requests = Annotated[Count, Field(ge=1)]
Pair = Annotated[tuple[Percent, Amount], Strict(False)]


class Histogram(Record):
    """Counts of requests by latency. Bins of all tests have the same edges, so they can be added:
    16 of equal width from each power of two of a nanosecond to the next one."""

    latency_below_us: list[Amount]
    """Upper edges of the bins that hold a request, ascending; a request on an edge is in the bin
    above it"""
    requests: list[Requests]
    """How many there are in each of them"""

    @model_validator(mode="after")
    def _are_of_the_same_bins(self) -> Self:
        check_lengths(latency_below_us=self.latency_below_us, requests=self.requests)
        return self


class LatencyField(Record):
    """How long requests took over time: counts in at most 64 stretches of time, by half octaves of
    latency."""

    interval_s: Amount
    """Length of a stretch; the last may have been cut short"""
    edges_us: list[Amount]
    """Least latency of each row, ascending, and one past the greatest of the last"""
    requests: list[list[Count]]
    """Requests of each row, stretch by stretch"""

    @model_validator(mode="after")
    def _has_every_row(self) -> Self:
        if len(self.edges_us) < 2:
            raise ValueError("edges_us needs two edges or more")
        if any(len(column) != len(self.edges_us) - 1 for column in self.requests):
            raise ValueError("requests must be one fewer than edges_us in every stretch")
        return self


class Latency(Record):
    """Latencies in us: completion less submission (less arrival, if the test has arrivals)."""

    min: Amount | None
    """Shortest; null, as all of these, if there was no request"""
    mean: Amount | None
    """Mean"""
    stddev: Amount | None
    """Standard deviation"""
    p50: Amount | None
    """Half of the requests took no longer, at most 0.1 % too high, as all percentiles"""
    p90: Amount | None
    """90 %"""
    p99: Amount | None
    """99 %"""
    p99_9: Amount | None
    """99.9 %"""
    p99_99: Amount | None
    """99.99 %"""
    max: Amount | None
    """Longest"""
    percentiles: list[Pair]
    """Pairs [percent, us]"""
    histogram: Histogram | None
    """The whole distribution; null if there was no request, or nobody kept it"""


class Split(Record):
    """Mean parts of a latency in us, which add up to its mean; see below. Null if nobody knows."""

    queueing: Amount | None
    """Waiting for other work of the host"""
    link: Amount | None
    """The command's own time on the link"""
    firmware: Amount | None
    """Firmware at work on the command"""
    flash: Amount | None
    """Flash at work for the command"""
    cleaning: Amount | None
    """Waiting for cleaning"""


class Tail(Record):
    """The slowest requests of a stream, and what they waited for."""

    share_of_requests: Share
    """How many of all requests these are, about: 0.1, 0.01, 0.001, 0.0001"""
    count: Count
    """How many requests that is: at least the share, as these are whole bins, eight to an octave"""
    latency_min_us: Amount
    """The shortest of them"""
    split_mean_us: Split
    """Mean parts of their latency"""
