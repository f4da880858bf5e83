"""Jobs of a script on a drive of the engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drivelab.lab.job import Job
from drivelab.names import told_apart
from drivelab.progress import TaskProgress
from drivelab.targets import EngineTarget, Report, Target
from drivelab.targets.going import FOR_EVER_NS, EngineRun

if TYPE_CHECKING:
    import polars as pl

    from drivelab.lab.steady import Steady

ROUND_SHARE = 0.1
"""Share of the remaining progress that a round takes: nobody knows how many there will be."""


@dataclass(frozen=True)
class DoneJobs:
    """Jobs that have ended."""

    run: EngineRun
    report: Report
    requests: pl.DataFrame | None
    steady: dict[str, Any] | None = None

    @property
    def target(self) -> EngineTarget:
        """The drive as they left it: a copy."""
        return self.run.target()


def begin_jobs(target: EngineTarget, jobs: Sequence[Job], seed: int, log: bool) -> EngineRun:
    """Starts jobs on a copy of a drive."""
    capacity_bytes = target.capacity_bytes
    found = [job.on_drive(capacity_bytes, seed, index) for index, job in enumerate(jobs)]
    return EngineRun(target, [job.job for job in found], log)


def done_jobs(
    run: EngineRun, jobs: Sequence[Job], log: bool, steady: dict[str, Any] | None = None
) -> DoneJobs:
    """What jobs that have ended measured."""
    report, names = _named(run.report(), jobs)
    if not log:
        return DoneJobs(run, report, None, steady)
    # Tables take a while to load, which processes that only measure don't need.
    from drivelab.lab.requests import request_table

    return DoneJobs(run, report, request_table(run.take_log(), report["start_ns"], names), steady)


def measure_jobs(
    target: Target,
    jobs: Sequence[Job],
    seed: int,
    progress: TaskProgress,
    share: float = 1.0,
    longest_ns: int | None = None,
) -> Report:
    """Runs jobs on whatever is tested, itself, each for `longest_ns` at most."""
    found = [job.on_drive(target.capacity_bytes, seed, index) for index, job in enumerate(jobs)]
    parts = [job.job for job in found]
    if longest_ns is not None:
        limits = [min(part.runtime_ns or longest_ns, longest_ns) for part in parts]
        parts = [
            part.model_copy(update={"runtime_ns": limit})
            for part, limit in zip(parts, limits, strict=True)
        ]
    return _named(target.run(parts, progress, share), jobs)[0]


def _named(report: Report, jobs: Sequence[Job]) -> tuple[Report, list[str]]:
    """A report whose jobs of one name, as those without one are, are told apart; their names."""
    names = told_apart([job.name for job in jobs])
    for name, record in zip(names, report["jobs"], strict=True):
        record["name"] = name
    return report, names


def run_jobs(
    target: EngineTarget,
    jobs: Sequence[Job],
    seed: int,
    log: bool,
    until: Steady | None,
    progress: TaskProgress,
) -> DoneJobs:
    """Runs jobs on a copy of a drive to their end, or until they are steady."""
    run = begin_jobs(target, jobs, seed, log)
    if until is None:
        run.advance(FOR_EVER_NS, progress)
        return done_jobs(run, jobs, log)
    steady = _until_steady(run, until, progress)
    return done_jobs(run, jobs, log, steady)


def _until_steady(run: EngineRun, until: Steady, progress: TaskProgress) -> dict[str, Any]:
    from drivelab.lab.steps import Steps

    # Rounds begin when all jobs measure: one with a part of a ramp in it is none.
    _, from_ns = run.measures_from_ns
    if from_ns > run.now_ns and run.advance(from_ns, progress, ROUND_SHARE):
        return until.verdict([])
    steps = Steps(run, until.every_ns)
    rounds: list[float | None] = []
    verdict = until.verdict(rounds)
    left = 1.0 - ROUND_SHARE
    while not steps.ended and not verdict["reached"]:
        step = steps.advance(progress, left * ROUND_SHARE)
        left -= left * ROUND_SHARE
        # What is left of a round at the end of the jobs is none.
        if not steps.ended:
            rounds.append(getattr(step, until.metric))
        verdict = until.verdict(rounds)
    steps.stop()
    return verdict
