"""Jobs under way on a copy of a drive, and a drive in the loop of somebody's program."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from drivelab import _engine
from drivelab.progress import TaskProgress
from drivelab.targets.engine import Columns, EngineTarget, engine_errors
from drivelab.targets.target import Report
from drivelab.workload import Job, jobs_to_json

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FOR_EVER_NS = 2**64 - 1
"""A time that never comes."""


class EngineRun:
    """Jobs that run in pieces. Raises RequestError for a job that can't be."""

    def __init__(
        self, target: EngineTarget, jobs: Sequence[Job], log: bool, copy: bool = True
    ) -> None:
        """On a copy of the drive, or on the drive itself."""
        self.target = target.clone() if copy else target
        """The drive as the jobs have left it so far: to look at while they run."""
        with engine_errors():
            self._run = _engine.Run(self.target.engine, jobs_to_json(jobs), log)

    def advance(self, until_ns: int, progress: TaskProgress, share: float = 1.0) -> bool:
        """Goes on until this time of the drive's clock; whether the jobs have ended."""
        engine_progress = _engine.Progress()
        with engine_errors(), progress.stage(share, engine_progress):
            return self._run.advance(self.target.engine, until_ns, engine_progress)

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
        return self._run.so_far()

    def latencies_so_far(self) -> list[tuple[int, int, int, list[int]]]:
        """Reads and writes of all jobs by how long they took: from and to how many ns, how many,
        and the sums of the parts of their latencies in ns, in the order of `results.SPLIT_PARTS`.
        """
        return self._run.latencies_so_far()

    def report(self) -> Report:
        """What jobs that have ended measured."""
        report: Report = json.loads(self._run.report(self.target.engine))
        return report

    def stream_log(self) -> _engine.LogReader:
        """Every request from now on, for another thread: a run that nobody reads stands still."""
        return self._run.stream_log()

    def end_log(self) -> None:
        """Who reads the log gets its last requests and its end."""
        self._run.end_log()

    def take_log(self) -> Columns:
        """Every request since the last call."""
        return self._run.take_log()


class EngineSession:
    """A copy of a drive to which a program hands requests."""

    def __init__(self, target: EngineTarget, data: dict[str, Any], seed: int, fua: bool) -> None:
        self.target = target.clone()
        """The drive as it is now: to look at."""
        with engine_errors():
            self._session = _engine.Session(self.target.engine, json.dumps(data), seed, fua)

    def submit(
        self,
        op: NDArray[np.uint8],
        lba: NDArray[np.uint64],
        sector_count: NDArray[np.uint32],
        arrival_ns: NDArray[np.uint64],
        hint: NDArray[np.uint8] | None = None,
    ) -> int:
        """Takes requests over; the number of the first. Raises RequestError."""
        with engine_errors():
            return self._session.submit(self.target.engine, op, lba, sector_count, arrival_ns, hint)

    def advance(self, until_ns: int) -> None:
        """Lets the drive work until this time of its clock."""
        with engine_errors():
            self._session.advance(self.target.engine, until_ns)

    def take_done(self) -> tuple[NDArray[np.uint64], Columns]:
        """Numbers and columns of what is done since the last call."""
        return self._session.take_done()

    @property
    def waiting(self) -> int:
        """Requests that are not done."""
        return self._session.waiting
