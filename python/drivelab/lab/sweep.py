"""Sweeps: one job on many variants of a drive, or many jobs on one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from drivelab import schedule
from drivelab.errors import RequestError
from drivelab.lab import checks, cluster, shards
from drivelab.lab import store as stores
from drivelab.lab import workers as processes
from drivelab.lab.axes import varied
from drivelab.lab.drive import Drive
from drivelab.lab.job import Job
from drivelab.lab.points import Point, by_drive
from drivelab.lab.points import points as points_of
from drivelab.lab.trace import Trace
from drivelab.states import State

if TYPE_CHECKING:
    from distributed import Client

    from drivelab.lab.study import Study
    from drivelab.progress import Heard
    from drivelab.targets import Report

WORKERS_MAX = 64


@checks.keywords
def sweep(
    drive: Drive,
    grid: Mapping[str, object] | None = None,
    *,
    job: Job | Trace | None = None,
    points: Iterable[Mapping[str, Any]] | None = None,
    state: str | State | None = None,
    repeats: int = 1,
    workers: int | None = None,
    memory: str | int | None = None,
    executor: Client | None = None,
    scheduler: str | None = None,
    shard: str | None = None,
    store: str | Path | None = None,
    progress: bool | Heard = True,
) -> Study:
    """Measures a job for every combination of values; returns a `Study`.

    Keys are parameters of the model as `--set` takes them, "model", "state", "seed", or options of
    the job as "job.iodepth"; "trace" is a file that is replayed in place of a job, with the options
    of a `Trace` as `job`, if there is one. What is varied counts in place of what the drive or the
    job has. In `grid` each has a list of values; "job.bs, job.iodepth" are two that vary together,
    with lists of pairs. `points` are listed one by one, with the same keys each, as
    `drivelab.samples` draws them. `state` is prepared before each job, "new" by default. `repeats`
    measures every combination with so many seeds.

    Points are measured by `workers` processes, as many as there are processors by default, as far
    as `memory` goes: room for the drives in work, as "6g" or bytes, by default a quarter of the
    machine's, which `workers` alone may exceed. Or on a cluster, by a dask.distributed.Client as
    `executor` or the address of its `scheduler`, which count memory themselves. The results are the
    same to the bit wherever they come from. With `store`, a folder or a file NAME.duckdb, each
    result stays as soon as it is there: interrupted, however hard, the same call goes on where it
    was, and another sweep finds the points that it shares. `shard` "3/16" measures the
    third of sixteen parts. `progress`: a bar on a terminal, or somebody who hears of it: of the
    share that is done, and what is under way.

    >>> study = sweep(
    ...     Drive("intel-x25-m-g1-80gb", scale="1/64"),
    ...     {"spare_ratio": [0.07, 0.28], "job.iodepth": [1, 32]},
    ...     job=Job(rw="randwrite", bs="4k", io_size="16m"),
    ...     state="filled",
    ...     workers=1,
    ... )
    >>> study.frame().height
    4

    Raises RequestError for what can't be before anything runs, WorkError when it is stopped.
    """
    checks.instance("drive", drive, Drive)
    if job is not None and not isinstance(job, Trace):
        checks.instance("job", job, Job)
    if workers is not None:
        checks.whole("workers", workers, 1, WORKERS_MAX)
    _check_one_place(workers, executor, scheduler)
    room_bytes = None if memory is None else schedule.memory_bytes(memory, "memory")
    if room_bytes is not None and (executor is not None or scheduler is not None):
        raise RequestError(
            f'memory "{memory}": a cluster counts its own; allowed: without executor and scheduler'
        )
    with ExitStack() as open_places:
        what = varied(grid, points)
        team = None
        if executor is None and scheduler is None:
            count = len(what.combinations) * checks.whole("repeats", repeats, 1, 1000)
            team = open_places.enter_context(_team(workers, store, count))
        found = points_of(drive, what, job, state, repeats)
        if shard is not None:
            found = shards.part(found, shard)
        reports = _reports(
            open_places, found, team, workers, room_bytes, executor, scheduler, store, progress
        )
    return _load_study()(found, reports, what.keys)


def measured(
    points: Sequence[Point],
    workers: int | None,
    store: str | Path | None,
    progress: bool | Heard,
) -> list[Report]:
    """The reports of points that need no grid, each measured once; raises as `sweep` does."""
    with ExitStack() as open_places:
        team = open_places.enter_context(_team(workers, store, len(points)))
        return _reports(open_places, points, team, workers, None, None, None, store, progress)


def _reports(
    open_places: ExitStack,
    found: Sequence[Point],
    team: processes.Team | None,
    workers: int | None,
    room_bytes: int | None,
    executor: Client | None,
    scheduler: str | None,
    store: str | Path | None,
    progress: bool | Heard,
) -> list[Report]:
    """The reports of points, in their order: those that are kept, and those that are measured."""
    # What can be on one drive of a size can be on all that aren't disks; traces are read for that.
    models = {(p.job, p.drive.capacity_bytes, p.drive.model.is_disk): p.drive.model for p in found}
    for (own, *_), model in models.items():
        own.check(model)
    trace_bytes = max((own.memory_bytes for own, *_ in models if isinstance(own, Trace)), default=0)
    kept = open_places.enter_context(stores.opened(store))
    reports = kept.reports([point.key for point in found])
    missing = list({point.key: point for point in found if point.key not in reports}.values())

    def take(point: Point, report: str) -> None:
        # Numbers are as `json` reads them, to the bit, in a third of its time: of the process that
        # hands out work, every moment is one that a worker may wait for.
        reports[point.key] = from_json(report)
        kept.add(point, report, reports[point.key])

    if missing and scheduler is not None:
        executor = open_places.enter_context(cluster.connected(scheduler))
    shown, heard = (progress, None) if isinstance(progress, bool) else (False, progress)
    if shown and reports:
        # No note of the study: it is the same wherever its points come from.
        told = f"{len(reports)} of {len(reports) + len(missing)} points are there already"
        print(f"{store}: {told}", file=sys.stderr, flush=True)
    if missing and executor is not None:
        cluster.measure(executor, missing, take, shown, heard)
    elif missing and team is not None:
        side_by_side = _workers(workers, missing, trace_bytes, room_bytes)
        team.measure(missing, take, side_by_side, shown, _load_study, heard)
    return [reports[point.key] for point in found]


@contextmanager
def _team(workers: int | None, store: str | Path | None, points: int) -> Iterator[processes.Team]:
    """Processes for so many points: they start at once where none of them can be there yet."""
    with processes.Team(workers or _processors()) as team:
        if store is None or not stores.file_of(store).exists():
            team.start(points)
        yield team


def _load_study() -> type[Study]:
    """What a sweep returns: its tables take a while to load, for which a processor that has no more
    drives to measure is good."""
    from drivelab.lab.study import Study

    return Study


def _check_one_place(workers: int | None, executor: Client | None, scheduler: str | None) -> None:
    """Raises RequestError unless one place at most is given where points are measured."""
    given = {"workers": workers, "executor": executor, "scheduler": scheduler}
    names = [name for name, value in given.items() if value is not None]
    if len(names) > 1:
        raise RequestError(f"sweep(): {' and '.join(names)}: one of them is allowed")
    if executor is not None:
        cluster.check(executor)
    if scheduler is not None:
        checks.text("scheduler", scheduler)


def _workers(
    wanted: int | None, missing: list[Point], trace_bytes: int, room_bytes: int | None = None
) -> int:
    """How many processes: each holds a prepared drive, the copy that is measured where more points
    start from it, and the requests of a trace. Who wishes for some and names no room has them."""
    if wanted is not None and room_bytes is None:
        return wanted
    drives = by_drive(missing).values()
    held_bytes = max(min(len(own), 2) * own[0].drive.model.memory_bytes for own in drives)
    point_bytes = held_bytes + trace_bytes
    fitting = max(1, (room_bytes or schedule.usual_memory_bytes()) // max(1, point_bytes))
    return min(wanted or _processors(), fitting)


def _processors() -> int:
    """How many processes there are without a wish."""
    return min(len(os.sched_getaffinity(0)), WORKERS_MAX)
