"""Sweeps: one job on many variants of a drive, or many jobs on one."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from drivelab import schedule
from drivelab.lab import checks
from drivelab.lab import store as stores
from drivelab.lab.drive import Drive
from drivelab.lab.job import Job
from drivelab.lab.points import Point, groups, points
from drivelab.lab.study import Study
from drivelab.lab.workers import Worker
from drivelab.progress import Bar, Crew, TaskProgress
from drivelab.states import State
from drivelab.targets import Report

WORKERS_MAX = 64


def sweep(
    drive: Drive,
    grid: Mapping[str, Iterable[Any]],
    *,
    job: Job,
    state: str | State | None = None,
    repeats: int = 1,
    workers: int | None = None,
    store: str | Path | None = None,
    progress: bool = True,
) -> Study:
    """Measures a job for every combination of values; returns a `Study`.

    Keys of `grid` are parameters of the model as `--set` takes them, "state", or options of the job
    as "job.iodepth"; each has a list of values. `state` is prepared before each job, "new" by
    default. `repeats` measures every combination with so many seeds. `workers` are processes, as
    many as there are processors by default, or as drives fit into a quarter of the memory; the
    results are the same to the bit with any number. With `store`, a folder or a file NAME.duckdb,
    each result stays as soon as it is there: interrupted, however hard, the same call goes on where
    it was, and another sweep finds the points that it shares.

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
    checks.instance("job", job, Job)
    if workers is not None:
        checks.whole("workers", workers, 1, WORKERS_MAX)
    found = points(drive, grid, job, state, repeats)
    for point in {(point.drive.key, point.job): point for point in found}.values():
        point.job.on_drive(point.drive.capacity_bytes, point.drive.seed, 0)
    with stores.opened(store) as kept:
        reports = kept.find([point.key for point in found])
        missing = list({point.key: point for point in found if point.key not in reports}.values())
        if missing:
            _measure(missing, kept, reports, _workers(workers, missing), progress)
    return Study(found, [reports[point.key] for point in found], tuple(grid))


def _workers(wanted: int | None, missing: list[Point]) -> int:
    """How many processes: each holds a prepared drive and the copy that is measured."""
    if wanted is not None:
        return wanted
    drive_bytes = max(2 * point.drive.model.memory_bytes for point in missing)
    fitting = max(1, schedule.usual_memory_bytes() // max(1, drive_bytes))
    return min(len(os.sched_getaffinity(0)), fitting, WORKERS_MAX)


def _measure(
    missing: list[Point],
    kept: stores.Store,
    reports: dict[str, Report],
    workers: int,
    shown: bool,
) -> None:
    """Measures points in processes; results are kept by one thread at a time."""
    turn = threading.Lock()
    free: queue.SimpleQueue[Worker] = queue.SimpleQueue()
    crew_workers = [Worker() for _ in range(workers)]
    for one in crew_workers:
        free.put(one)

    def take(progress: TaskProgress, share: float, point: Point, report: Report) -> None:
        with turn:
            kept.add(point, report)
            reports[point.key] = report
        progress.add(share)

    def work(group: list[Point], progress: TaskProgress) -> None:
        one = free.get()
        try:
            one.measure(group, partial(take, progress, 1 / len(group)), progress)
        finally:
            free.put(one)

    parts = groups(missing, workers)
    tasks = [TaskProgress(f"{part[0].drive.name}, {part[0].values}", len(part)) for part in parts]
    try:
        with Bar(len(missing), shown) as bar, Crew(workers, bar) as crew:
            crew.tasks.extend(tasks)
            crew.wait(
                *(
                    crew.submit(task, partial(work, part))
                    for task, part in zip(tasks, parts, strict=True)
                )
            )
    finally:
        for one in crew_workers:
            one.close()
