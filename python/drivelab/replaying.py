"""How a recorded trace is replayed: what `drivelab replay` and `drivelab.Trace` have in common."""

from __future__ import annotations

from dataclasses import dataclass

from drivelab import replay, rounds, traces
from drivelab.progress import TaskProgress
from drivelab.quantities import derive_seed
from drivelab.subject import Subject
from drivelab.targets import Report, Target
from drivelab.targets.engine import Columns
from drivelab.workload import RANDOM_BYTES, DataPattern, Job


@dataclass(frozen=True)
class Replay:
    """A trace's file, and everything that makes one replay of it another.

    `queue_depth` counts with closed pacing only, `idle_cap_ns` with capped pacing. `beyond` says
    what becomes of requests beyond a drive: reject, modulo (wrap) or compact (renumber). There are
    `repeat` rounds; `until_steady` ends them earlier.
    """

    file: traces.TraceFile
    idle_cap_ns: int
    pacing: replay.Pacing = "arrival"
    queue_depth: int | None = None
    beyond: str = "reject"
    data: DataPattern = RANDOM_BYTES
    repeat: int | None = None
    until_steady: bool = False

    def read(self, capacity_bytes: int, progress: TaskProgress) -> traces.Trace:
        """The trace as it fits so many bytes; raises RequestError as `traces.read_trace`."""
        return traces.read_trace(self.file, progress, capacity_bytes, self.beyond)

    def job(self, seed: int, drive: str, state: str) -> Job:
        """The job that replays it on a drive of this name in this state."""
        return replay.replay_job(
            self.file.path.name,
            self.pacing,
            self.queue_depth or 1,
            self.idle_cap_ns,
            derive_seed(seed, drive, state, "replay"),
            self.data,
        )

    def goal(self, drive: Subject, trace: traces.Trace, options: rounds.Options) -> rounds.Goal:
        """How long it goes round; raises RequestError for what never gets steady."""
        return rounds.goal(drive, trace, self.repeat, self.until_steady, options)


@dataclass(frozen=True)
class Rounds:
    """What the rounds of a replay measured."""

    reports: list[Report]
    columns: Columns | None
    """Every request of the last round, if they were to be kept."""

    @property
    def last(self) -> Report:
        """The round that a replay is judged by."""
        return self.reports[-1]


def run(
    target: Target,
    job: Job,
    trace: traces.Trace,
    goal: rounds.Goal,
    progress: TaskProgress,
    share: float = 1.0,
    *,
    log: bool = False,
) -> Rounds:
    """Replays a trace; raises WorkError for a round that didn't do all of it."""
    kept: list[Columns] = []

    def hear(columns: Columns) -> None:
        kept[:] = [columns]

    requests = trace.requests
    reports = rounds.run(target, job, requests, progress, share, goal, hear if log else None)
    for report in reports:
        replay.check_conservation(requests, report)
    return Rounds(reports, kept[0] if kept else None)
