"""Jobs of a script on whatever is tested, to their end: what processes that only measure need."""

from __future__ import annotations

from collections.abc import Sequence

from drivelab.lab.job import Job
from drivelab.names import told_apart
from drivelab.progress import TaskProgress
from drivelab.targets import Report, Target


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
    return with_names(target.run(parts, progress, share), jobs)[0]


def with_names(report: Report, jobs: Sequence[Job]) -> tuple[Report, list[str]]:
    """A report whose jobs of one name, as those without one are, are told apart; their names."""
    names = told_apart([job.name for job in jobs])
    for name, record in zip(names, report["jobs"], strict=True):
        record["name"] = name
    return report, names
