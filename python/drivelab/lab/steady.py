"""Steady state as an option of any run: rounds of equal length until a window of them is level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

from drivelab.errors import RequestError, nearest
from drivelab.lab import checks
from drivelab.lab.job import Job
from drivelab.procedures.pts.steady_state import WINDOW_ROUNDS, last_window
from drivelab.quantities import NS_PER_S

if TYPE_CHECKING:
    from drivelab.lab.steps import Step
    from drivelab.workload import Job as EngineJob

Metric = Literal["iops", "mib_per_s", "latency_mean_us", "write_amplification"]

_ENDS = ("runtime", "io_size", "loops")
"""Options with which a job ends by itself."""


class Steady:
    """Runs until a metric is steady as the SNIA test defines it: over five rounds, max - min at
    most 20 % of the average, and the fitted line rises or falls by at most 10 % of it.

    >>> Steady("write_amplification", every="30s", limit="6h")
    Steady('write_amplification', every='30s', limit='6h')

    `every` is the length of a round, in the drive's time; a job that has no end of its own ends
    after `limit`. Raises RequestError for what can't be.
    """

    @checks.keywords
    def __init__(
        self, metric: Metric = "iops", *, every: str | float = "60s", limit: str | float = "24h"
    ) -> None:
        known = get_args(Metric)
        if metric not in known:
            raise RequestError(
                f'Steady("{metric}"): unknown{nearest(str(metric), known)} '
                f"There are: {', '.join(known)}"
            )
        self.metric = metric
        self.ramp_ns = 0
        """Rounds begin at once when the jobs measure."""
        # As files can hold them.
        self.every: Any = checks.plain(every)
        self.limit: Any = checks.plain(limit)
        self.every_ns = checks.time_ns("every", every, 1)
        self.limit_ns = checks.time_ns("limit", limit, 1)
        if self.limit_ns < WINDOW_ROUNDS * self.every_ns:
            raise RequestError(
                f"limit = {limit!r}: allowed: at least {WINDOW_ROUNDS} rounds of {every!r}"
            )

    def endless(self, job: Job) -> Job:
        """The job as it runs: one without an end of its own has the limit."""
        if any(key in job.options for key in _ENDS):
            return job
        return job.with_options(time_based=True, runtime=self.limit)

    def can_judge(self, jobs: Sequence[EngineJob]) -> bool:
        """Whether these jobs have the metric: without it they would go on to the limit."""
        return self.metric != "write_amplification" or any(job.writes for job in jobs)

    def judge(self, steps: Sequence[Step]) -> dict[str, Any]:
        """What the last window of these rounds says."""
        return self.verdict([getattr(step, self.metric) for step in steps])

    def record(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"metric": self.metric, "every": self.every, "limit": self.limit}

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Steady:
        """The criterion of such a record."""
        return cls(record["metric"], every=record["every"], limit=record["limit"])

    def verdict(self, rounds: Sequence[float | None]) -> dict[str, Any]:
        """What the last window of these rounds says."""
        window = list(rounds[-WINDOW_ROUNDS:])
        found = last_window([value for value in window if value is not None])
        return {
            "metric": self.metric,
            "reached": found is not None and found.steady and found.average > 0,
            "rounds": len(rounds),
            "round_s": self.every_ns / NS_PER_S,
            "average": None if found is None else found.average,
            "excursion_percent": None if found is None else found.excursion_percent,
        }

    def __repr__(self) -> str:
        return f"Steady({self.metric!r}, every={self.every!r}, limit={self.limit!r})"
