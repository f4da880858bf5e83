"""Jobs of a script on a drive of the engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from drivelab import output
from drivelab.errors import RequestError
from drivelab.lab import checks
from drivelab.lab.history import state_label
from drivelab.lab.job import Job
from drivelab.lab.request_file import check_replaceable
from drivelab.lab.trace import Trace
from drivelab.names import told_apart
from drivelab.progress import TaskProgress
from drivelab.targets import EngineTarget, Report, Target
from drivelab.targets.going import FOR_EVER_NS, EngineRun
from drivelab.workload import Job as EngineJob

if TYPE_CHECKING:
    import polars as pl

    from drivelab.lab.drive import Drive
    from drivelab.lab.steady import Steady
    from drivelab.lab.steps import Step
    from drivelab.lab.timeline import Recording, Timeline, Window

ROUND_SHARE = 0.1
"""Share of the remaining progress that a round takes: nobody knows how many there will be."""


@dataclass(frozen=True)
class DoneJobs:
    """Jobs that have ended."""

    target: EngineTarget
    """The drive as they left it."""
    report: Report
    requests: pl.DataFrame | None
    steady: dict[str, Any] | None = None
    timeline: Timeline | None = None


def checked_jobs(method: str, jobs: Sequence[object]) -> tuple[Job, ...]:
    """The jobs; raises RequestError where there are none, or something else."""
    if not jobs:
        raise RequestError(f"{method}(): needs at least one job, e.g. Job(rw='randread', bs='4k')")
    for job in jobs:
        checks.instance("job", job, Job, f"; several as {method}(one, another)")
    return tuple(job for job in jobs if isinstance(job, Job))


def checked_trace(jobs: Sequence[object], until: object, timeline: object) -> Trace:
    """The trace among these; raises RequestError for what can't be beside one."""
    if until is not None:
        raise RequestError(f"until = {until!r}: of a trace ask for Trace(..., until_steady=True)")
    if timeline is not False:
        raise RequestError(f"timeline = {timeline!r}: a trace has none; allowed: False")
    (trace, *others) = jobs
    if others or not isinstance(trace, Trace):
        raise RequestError(f"run(): a trace runs alone, and there are {len(jobs)} jobs")
    return trace


def endless_jobs(jobs: Sequence[Job], until: object, capacity_bytes: int) -> tuple[Job, ...]:
    """The jobs as they run until steady; raises RequestError if they can't be judged."""
    from drivelab.lab.steady import Steady

    checks.instance("until", until, Steady, "('iops')")
    assert isinstance(until, Steady)
    found = tuple(until.endless(job) for job in jobs)
    if not until.can_judge([job.on_drive(capacity_bytes, 0, 0).job for job in found]):
        raise RequestError(f'Steady("{until.metric}"): no job writes, so there is none')
    return found


def wanted_log(log: object) -> bool | Path:
    """Whether requests are kept, or the file for them; raises RequestError."""
    if isinstance(log, str | Path):
        # As it is named now: whoever reads it may be elsewhere by then.
        path = output.writable_file(Path(log), "log", ".parquet").absolute()
        check_replaceable(path, "log")
        return path
    if not isinstance(log, bool):
        allowed = "True, False, the name of a .parquet file"
        raise RequestError(f"log = {log!r}: allowed: {allowed}")
    return log


def wanted_window(timeline: object, is_disk: bool) -> Window | None:
    """What a timeline is wanted of; raises RequestError."""
    from drivelab.lab.timeline import Window

    if timeline is False:
        return None
    if is_disk:
        raise RequestError("timeline: a hard disk has no dies")
    if timeline is True:
        return Window()
    return Window.of("timeline", checks.text("timeline", timeline))


def begin_jobs(target: EngineTarget, jobs: Sequence[Job], seed: int, log: bool) -> EngineRun:
    """Starts jobs on a copy of a drive."""
    return EngineRun(target, _on_drive(target, jobs, seed), log)


def done_jobs(
    run: EngineRun, jobs: Sequence[Job], log: bool, steady: dict[str, Any] | None = None
) -> DoneJobs:
    """What jobs that have ended measured."""
    report, names = _named(run.report(), jobs)
    if not log:
        return DoneJobs(run.target, report, None, steady)
    # Tables take a while to load, which processes that only measure don't need.
    from drivelab.lab.requests import log_table

    requests = log_table(run.take_log(), names)
    return DoneJobs(run.target, report, requests, steady)


def measure_jobs(
    target: Target,
    jobs: Sequence[Job],
    seed: int,
    progress: TaskProgress,
    share: float = 1.0,
    longest_ns: int | None = None,
) -> Report:
    """Runs jobs on whatever is tested, itself, each for `longest_ns` at most."""
    parts = _on_drive(target, jobs, seed)
    if longest_ns is not None:
        limits = [min(part.runtime_ns or longest_ns, longest_ns) for part in parts]
        parts = [
            part.model_copy(update={"runtime_ns": limit})
            for part, limit in zip(parts, limits, strict=True)
        ]
    return _named(target.run(parts, progress, share), jobs)[0]


def measured(
    drive: Drive, jobs: Sequence[Job | Trace], progress: TaskProgress | None = None
) -> Report:
    """The report of jobs, or of a trace, on a copy of a drive, without more around it."""
    progress = progress or TaskProgress("run")
    if isinstance(jobs[0], Trace):
        state = state_label(drive.history)
        return run_trace(drive.make(), jobs[0], drive.seed, state, False, progress).report
    own = checked_jobs("run", jobs)
    return run_jobs(drive.make(), own, drive.seed, False, None, progress).report


def measured_once(drive: Drive, job: Job | Trace, target: EngineTarget) -> Report:
    """The same of one job, on `target`, which is as the drive is and nobody else's: it is run
    itself, since a copy of a large drive takes as much memory again, and seconds."""
    progress = TaskProgress("run")
    if isinstance(job, Trace):
        return job.replayed(target, drive.seed, state_label(drive.history), progress).last
    return measure_jobs(target, checked_jobs("run", [job]), drive.seed, progress)


def run_trace(
    target: EngineTarget,
    trace: Trace,
    seed: int,
    state: str,
    log: bool | Path,
    progress: TaskProgress,
) -> DoneJobs:
    """Replays a trace on a copy of a drive in a state; a log is of its last round. Raises WorkError
    where that can't be written."""
    after = target.clone()
    done = trace.replayed(after, seed, state, progress, log is not False)
    requests = None
    if done.columns is not None:
        # Tables take a while to load, which processes that only measure don't need.
        from drivelab.lab.request_file import write_table
        from drivelab.lab.requests import log_table

        requests = log_table(done.columns, [trace.name])
        if isinstance(log, Path):
            output.publish_files({log: partial(write_table, requests)})
            requests = None
    return DoneJobs(after, done.last, requests)


def _on_drive(target: Target, jobs: Sequence[Job], seed: int) -> list[EngineJob]:
    """Jobs as they run on a drive of this size."""
    capacity_bytes = target.capacity_bytes
    return [job.on_drive(capacity_bytes, seed, index).job for index, job in enumerate(jobs)]


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
    log: bool | Path,
    until: Steady | None,
    progress: TaskProgress,
    window: Window | None = None,
) -> DoneJobs:
    """Runs jobs on a copy of a drive to their end, or until they are steady; with a timeline of a
    window. A log may be a file, which is written meanwhile. Raises WorkError where it can't be."""
    in_memory = log is True or window is not None
    run = begin_jobs(target, jobs, seed, in_memory)
    recording = _recording(run, window)
    steady = None
    with _logged(run, jobs, log) if isinstance(log, Path) and not in_memory else nullcontext():
        if until is None:
            run.advance(FOR_EVER_NS, progress)
        else:
            steady = until_steady(run, until, progress)
    done = done_jobs(run, jobs, in_memory, steady)
    if recording is None:
        return done
    assert done.requests is not None
    timeline = recording.timeline(done.requests, done.report["start_ns"])
    if isinstance(log, Path):
        from drivelab.lab.request_file import write_table

        output.publish_files({log: partial(write_table, done.requests)})
    return replace(done, requests=done.requests if log is True else None, timeline=timeline)


@contextmanager
def _logged(run: EngineRun, jobs: Sequence[Job], path: Path) -> Iterator[None]:
    """What runs in here has its requests in a file."""
    from drivelab.lab.request_file import request_file

    names = told_apart([job.name for job in jobs])
    with request_file(path, names) as file:
        with file.following(run, 0):
            yield
        output.publish_files({path: file.move_to})


def _recording(run: EngineRun, window: Window | None) -> Recording | None:
    """The timeline in the making, if one is wanted."""
    if window is None:
        return None
    from drivelab.lab.timeline import Recording

    return Recording(run, window)


class Criterion(Protocol):
    """When jobs are steady: asked after every round of equal length."""

    @property
    def every_ns(self) -> int:
        """Length of a round."""

    @property
    def ramp_ns(self) -> int:
        """When the first one begins, after all jobs have begun to measure."""

    def judge(self, steps: Sequence[Step]) -> dict[str, Any]:
        """What the rounds so far say: whether it is `reached`, and whatever else."""


def until_steady(
    run: EngineRun, until: Criterion, progress: TaskProgress, share: float = 1.0
) -> dict[str, Any]:
    """Runs jobs until they are steady, or to their end; what was judged last."""
    from drivelab.lab.steps import Walk

    # Rounds begin when all jobs measure: one with a part of a ramp in it is none.
    from_ns = run.measures_from_ns[1] + until.ramp_ns
    if from_ns > run.target.now_ns and run.advance(from_ns, progress, share * ROUND_SHARE):
        return until.judge([])
    walk = Walk(run, until.every_ns)
    rounds: list[Step] = []
    verdict = until.judge(rounds)
    left = share * (1.0 - ROUND_SHARE)
    while not walk.ended and not verdict["reached"]:
        step = walk.advance(progress, left * ROUND_SHARE)
        left -= left * ROUND_SHARE
        # What is left of a round at the end of the jobs is none.
        if not walk.ended:
            rounds.append(step)
        verdict = until.judge(rounds)
    walk.stop()
    return verdict
