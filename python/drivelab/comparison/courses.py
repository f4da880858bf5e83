"""What a comparison draws of a test over time and by latency: of streams, runs and replays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from drivelab.comparison.compared import Work
from drivelab.comparison.pairing import Pair
from drivelab.latencies import tells
from drivelab.records.findings import Pass
from drivelab.records.series import Series
from drivelab.records.test import Stream, Test
from drivelab.report import streams

Points = Sequence[tuple[float, float]]
"""Percentiles of latency: percent and us."""


@dataclass(frozen=True)
class Course:
    """One side's."""

    series: Series | None
    every: Points
    """All percentiles that are known."""
    told: Points
    """Those that there were requests enough for."""
    longest_us: float | None
    pass_: Pass | None
    writes: bool


def of_record(record: Test | None) -> Course | None:
    """That of a stream, or of a direction of a job; None of other tests, which have none."""
    if isinstance(record, Stream):
        return Course(
            record.series,
            streams.percentiles(record, every=True),
            streams.percentiles(record),
            record.latency_us.max,
            record.pass_,
            record.writes,
        )
    if not isinstance(record, Work) or record.ios is None:
        return None
    every = [(at, us) for at, us in record.percentiles if at < 100]
    told = [(at, us) for at, us in every if tells(record.ios, at)]
    is_write = record.id.endswith(" write")
    return Course(record.series, every, told, record.longest_us, None, is_write)


def of_pair(pair: Pair) -> tuple[Course | None, ...]:
    """By side."""
    return tuple(of_record(record) for record in pair.records)


def have_course(pair: Pair) -> bool:
    """Whether a side has one."""
    return any(course is not None for course in of_pair(pair))
