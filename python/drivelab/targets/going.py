"""Jobs under way on a copy of a drive, and a drive in the loop of somebody's program."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drivelab import _engine
from drivelab.progress import TaskProgress
from drivelab.targets.engine import EngineTarget, engine_errors
from drivelab.targets.target import Report
from drivelab.workload import Job, jobs_to_json

Columns = dict[str, NDArray[Any]]

FOR_EVER_NS = 2**64 - 1
"""A time that never comes."""


class EngineRun:
    """Jobs that run in pieces. Raises RequestError for a job that can't be."""

    def __init__(self, target: EngineTarget, jobs: Sequence[Job], log: bool) -> None:
        with engine_errors():
            self._run = _engine.Run(target.engine, jobs_to_json(jobs), log)
        self._model, self._seed = target.model, target.seed

    def advance(self, until_ns: int, progress: TaskProgress, share: float = 1.0) -> bool:
        """Goes on until this time of the drive's clock; whether the jobs have ended."""
        engine_progress = _engine.Progress()
        with engine_errors(), progress.stage(share, engine_progress):
            return self._run.advance(until_ns, engine_progress)

    def stop(self) -> None:
        """Issues nothing more: what is outstanding is the end."""
        self._run.stop()

    @property
    def measures_from_ns(self) -> tuple[int, int]:
        """When the first job begins to measure, and when the last one does: after their ramps."""
        return self._run.measures_from_ns

    def so_far(self) -> list[list[tuple[int, int, int]]]:
        """For each job and each of read, write, flush and trim: requests, bytes, and the sum of
        their latencies in ns."""
        return [list(kinds) for kinds in self._run.so_far()]

    def report(self) -> Report:
        """What jobs that have ended measured."""
        report: Report = json.loads(self._run.report())
        return report

    def take_log(self) -> Columns:
        """Every request since the last call."""
        return self._run.take_log()

    def target(self) -> EngineTarget:
        """The drive as it is now: a copy."""
        return EngineTarget.around(self._run.drive(), self._model, self._seed)

    def inside(self) -> tuple[Columns, Columns]:
        """Every block, and every die."""
        return self._run.inside()

    def counters(self) -> dict[str, float]:
        """Cumulative counters since the drive was made."""
        counters: dict[str, float] = json.loads(self._run.counters())
        return counters

    @property
    def now_ns(self) -> int:
        """Virtual time that the drive has reached."""
        return self._run.now_ns


class EngineSession:
    """A copy of a drive to which a program hands requests."""

    def __init__(self, target: EngineTarget, data: dict[str, Any], seed: int, fua: bool) -> None:
        with engine_errors():
            self._session = _engine.Session(target.engine, json.dumps(data), seed, fua)

    def submit(
        self,
        op: NDArray[np.uint8],
        lba: NDArray[np.uint64],
        sector_count: NDArray[np.uint32],
        arrival_ns: NDArray[np.uint64],
    ) -> int:
        """Takes requests over; the number of the first. Raises RequestError."""
        with engine_errors():
            return self._session.submit(op, lba, sector_count, arrival_ns)

    def advance(self, until_ns: int) -> None:
        """Lets the drive work until this time of its clock."""
        with engine_errors():
            self._session.advance(until_ns)

    def take_done(self) -> tuple[NDArray[np.uint64], Columns]:
        """Numbers and columns of what is done since the last call."""
        return self._session.take_done()

    @property
    def waiting(self) -> int:
        """Requests that are not done."""
        return self._session.waiting

    def inside(self) -> tuple[Columns, Columns]:
        """Every block, and every die."""
        return self._session.inside()

    def counters(self) -> dict[str, float]:
        """Cumulative counters since the drive was made."""
        counters: dict[str, float] = json.loads(self._session.counters())
        return counters

    @property
    def now_ns(self) -> int:
        """Virtual time that the drive has reached."""
        return self._session.now_ns
