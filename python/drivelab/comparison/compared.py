"""The records of a review as comparisons read them: runs of jobs are among its tests."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, Strict

from drivelab.records.record import Count
from drivelab.records.series import Series
from drivelab.records.test import Compound, Stream
from drivelab.report.reading import Reviewed


class Work(Compound):
    """Any other test than one stream; of a direction of a job also what decides what was run.

    No results.json has these: `runs.as_review` makes them of a job file's run, or of a replay.
    """

    data: str | None = None
    """What was written"""
    options: str | None = None
    """Those of the job, or how a trace was replayed"""
    ios: Count | None = None
    """Requests"""
    longest_us: float | None = None
    """The slowest of them; of repeats the first's"""
    series: Series | None = None
    """Over time; of repeats the first"""
    percentiles: list[Annotated[tuple[float, float], Strict(False)]] = Field(default_factory=list)
    """Of latency: percent and us; of repeats the first"""


class Compared(Reviewed):
    """A review, or what a run of jobs is made into."""

    # Nobody changes a record, so its list may be of a narrower kind.
    tests: list[Annotated[Stream | Work, Field(discriminator="kind")]]  # type: ignore[assignment]
    """What was measured"""
