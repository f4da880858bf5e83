"""The groups of a job file on a drive, one after another, with all that was asked of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from drivelab.errors import RequestError
from drivelab.fio.jobs import FioJob, Workload
from drivelab.progress import TaskProgress
from drivelab.targets import EngineTarget, Report, Target
from drivelab.targets.fio.lineage import Lineage
from drivelab.workload import Job

if TYPE_CHECKING:
    from drivelab.lab.request_file import RequestFile
    from drivelab.lab.steady import Steady
    from drivelab.lab.timeline import Recording, Window


@dataclass(frozen=True)
class Asked:
    """What is asked of a run beyond its reports."""

    requests: RequestFile | None = None
    """Where every request goes, also of jobs without logs of their own."""
    until: Steady | None = None
    """The last group ends once it is steady, or at the limit."""
    window: Window | None = None
    """The last group has a timeline of this."""


@dataclass(frozen=True)
class GroupRun:
    """A group that has run."""

    report: Report
    columns: Mapping[str, Any] | None = None
    """Every request, for the logs or the timeline that were asked for."""
    steady: Mapping[str, Any] | None = None
    """What `steadystate` of the jobs judged last."""
    until: Mapping[str, Any] | None = None
    """What the criterion that was asked for judged last."""
    recording: Recording | None = None
    """Of a group with a timeline."""
    counters_begun: Mapping[str, float] | None = None
    """The drive's when the group began, before the delays and ramps of its jobs; a real drive
    isn't asked."""


def run(
    workload: Workload,
    asked: Asked,
    target: Target,
    progress: TaskProgress,
    share: float = 1.0,
) -> list[GroupRun]:
    """Runs all groups; raises RequestError for a job that can't be."""
    each = share / len(workload.groups)
    others = replace(asked, until=None, window=None)
    last = len(workload.groups) - 1
    first_jobs = accumulate((len(group) for group in workload.groups), initial=0)
    found = []
    for place, (group, first) in enumerate(zip(workload.groups, first_jobs, strict=False)):
        begun = target.counters() if isinstance(target, EngineTarget) else None
        done = _run(group, first, asked if place == last else others, target, progress, each)
        found.append(replace(done, counters_begun=begun))
    return found


def check(workload: Workload, asked: Asked, real: bool) -> None:
    """Raises RequestError for what can't be asked of these jobs, before anything runs."""
    for group in workload.groups:
        _check_steady(group, real)
    if asked.until is not None:
        if not asked.until.can_judge([job.job for job in workload.groups[-1]]):
            raise RequestError(
                f"--until-steady {asked.until.metric}: no job of the last group writes, so there "
                "is none"
            )
        for job in workload.groups[-1]:
            if job.steady is not None:
                raise RequestError(
                    f'--until-steady: job "{job.name}" has a steadystate of its own; leave one out'
                )
            if job.job.rw.endswith("trim"):
                raise RequestError(f'--until-steady: job "{job.name}" neither reads nor writes')


def _check_steady(group: Sequence[FioJob], real: bool) -> None:
    """Raises RequestError for jobs that fio would end one by one."""
    first = next((job for job in group if job.steady is not None), None)
    if first is None or len(group) == 1:
        return
    if real:
        raise RequestError(
            f'job "{first.name}": steadystate: on a real drive for jobs that run alone; put a '
            "stonewall between them"
        )
    if any(job.steady != first.steady or not job.reported_together for job in group):
        raise RequestError(
            f'job "{first.name}": steadystate: {len(group)} jobs run together, so all of them need '
            "group_reporting and the same steadystate options: they end together"
        )


def _run(
    group: Sequence[FioJob],
    first_job: int,
    asked: Asked,
    target: Target,
    progress: TaskProgress,
    share: float,
) -> GroupRun:
    jobs = [job.job for job in group]
    steady, until, window, requests = group[0].steady, asked.until, asked.window, asked.requests
    log = window is not None or any(job.logs for job in group)
    if isinstance(target, Lineage):
        return GroupRun(target.run(jobs, progress, share, [_of_fio(job) for job in group]))
    if not log and requests is None and until is None and steady is None:
        return GroupRun(target.run(jobs, progress, share))
    # They need tables, which take a while to load.
    from drivelab.lab.running import until_steady
    from drivelab.targets.going import FOR_EVER_NS, EngineRun

    assert isinstance(target, EngineTarget)
    if until is not None:
        jobs = [_endless(job, until.limit_ns) for job in jobs]
    going = EngineRun(target, jobs, log, copy=False)
    recording = None
    if window is not None:
        from drivelab.lab.timeline import Recording

        recording = Recording(going, window)
    criterion = until or steady
    judged = None
    # What is needed whole afterwards goes into the file then.
    streamed = requests is not None and not log
    with requests.following(going, first_job) if requests and streamed else nullcontext():
        if criterion is None:
            going.advance(FOR_EVER_NS, progress, share)
        else:
            judged = until_steady(going, criterion, progress, share)
    report = going.report()
    columns = going.take_log() if log else None
    if requests is not None and columns is not None:
        requests.add(columns, first_job, report["start_ns"])
    return GroupRun(
        report,
        columns,
        None if until is not None else judged,
        judged if until is not None else None,
        recording,
    )


def _endless(job: Job, limit_ns: int) -> Job:
    """The job as it runs until it is steady: one without an end of its own has the limit."""
    ends = (job.runtime_ns, job.io_bytes, job.io_requests)
    if any(end is not None for end in ends) or job.loops > 1:
        return job
    return job.model_copy(update={"time_based": True, "runtime_ns": limit_ns})


def _of_fio(job: FioJob) -> dict[str, str]:
    """Options of a real drive's job that fio itself carries out."""
    options = dict(job.steady.options) if job.steady is not None else {}
    if (logs := job.logs) is not None:
        options["log_offset"] = str(int(logs.offsets))
        options["log_max_value"] = str(int(logs.longest))
        if logs.every_ns is None:
            options["log_avg_msec"] = "0"
    return options
