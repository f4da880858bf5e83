"""The queue of measurements that pages started: one at a time, with progress, to be cancelled."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drivelab.errors import WorkError
from drivelab.progress import Stopwatch
from drivelab.web import work
from drivelab.web.work import AnyOrder

Record = dict[str, Any]
WAITING_MAX = 32
KEPT_MAX = 50
"""Jobs that have ended and are still listed."""
LINE_BYTES_MAX = 64 * 1024
FIRST_MAX = 900_000_000
"""Numbers of jobs begin somewhere below."""
TOLD_S = 0.25
"""Pages are told at most so often."""
REASON_LETTERS_MAX = 300
SURE_SHARE = 0.02
"""Before so much is done, the remaining time is a guess."""
LONGER_RATIO, LONGER_S = 1.25, 5.0
"""A remaining time that grows by less goes on as it was told: parts of a job differ in speed, and
what is told runs backwards only where the work takes longer than was thought."""


class FullError(WorkError):
    """The queue takes no more."""


@dataclass
class Job:
    """A measurement that somebody asked for."""

    id: int
    order: AnyOrder
    state: str = "waiting"
    """waiting, running, done, failed or cancelled."""
    share: float = 0.0
    doing: tuple[str, ...] = ()
    runs: list[int] | None = None
    """The numbers of its runs in the database, once they are there; a study has none."""
    error: str = ""
    """Why it failed; of one that is done, which of its tests have no result, and why."""
    watch: Stopwatch | None = None
    ends_s: float | None = None
    """When it ends, by its watch, as far as was told."""

    def record(self) -> Record:
        """As pages read it."""
        return {
            "id": self.id,
            **work.described(self.order),
            "state": self.state,
            "share": self.share,
            "doing": list(self.doing),
            "left_s": self._left_s(),
            "run": self.runs[0] if self.runs else None,
            "runs": self.runs or [],
            "error": self.error,
        }

    def _left_s(self) -> float | None:
        if self.state != "running" or self.watch is None or self.share < SURE_SHARE:
            return None
        now_s = self.watch.seconds()
        left_s = now_s * (1 - self.share) / self.share
        told_s = None if self.ends_s is None else self.ends_s - now_s
        if told_s is None or not told_s <= left_s <= max(LONGER_RATIO * told_s, told_s + LONGER_S):
            self.ends_s = now_s + left_s
            return round(left_s, 1)
        return round(max(told_s, 1.0), 1)


class Jobs:
    """All jobs of a server; lives in its event loop."""

    def __init__(self, results: Path) -> None:
        self._results = results
        self._jobs: dict[int, Job] = {}
        # Pages outlive a server, and tell jobs of the next one from its by their numbers.
        self._next = 1 + secrets.randbelow(FIRST_MAX)
        self._process: asyncio.subprocess.Process | None = None
        self._task: asyncio.Task[None] | None = None
        self._changed = asyncio.Condition()
        self._version = 0

    def records(self) -> list[Record]:
        """Every job, the oldest first."""
        return [job.record() for job in self._jobs.values()]

    async def add(self, *orders: AnyOrder) -> list[Record]:
        """Queues orders that were checked, all of them or none; raises FullError."""
        waiting = sum(job.state == "waiting" for job in self._jobs.values())
        if waiting + len(orders) > WAITING_MAX:
            raise FullError(f"{waiting} measurements are waiting; allowed: {WAITING_MAX}")
        added = [Job(self._next + place, order) for place, order in enumerate(orders)]
        self._next += len(added)
        self._jobs |= {job.id: job for job in added}
        ended = [i for i, kept in self._jobs.items() if kept.state not in ("waiting", "running")]
        for old in ended[: max(0, len(ended) - KEPT_MAX)]:
            del self._jobs[old]
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())
        await self._tell()
        return [job.record() for job in added]

    async def cancel(self, job_id: int) -> Record | None:
        """Ends a job, or takes it out of the queue; None if there is none of this number."""
        job = self._jobs.get(job_id)
        if job is None:
            return None
        if job.state == "running" and self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
        if job.state in ("waiting", "running"):
            job.state = "cancelled"
        await self._tell()
        return job.record()

    async def changes(self) -> AsyncIterator[list[Record]]:
        """All jobs, and again whenever something has changed."""
        while True:
            # Before what is told: a change while a page takes that is told next.
            told = self._version
            yield self.records()
            async with self._changed:
                while self._version == told:
                    await self._changed.wait()
            await asyncio.sleep(TOLD_S)

    async def close(self) -> None:
        """Ends what is running."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _tell(self) -> None:
        self._version += 1
        async with self._changed:
            self._changed.notify_all()

    async def _work(self) -> None:
        while True:
            job = next((item for item in self._jobs.values() if item.state == "waiting"), None)
            if job is None:
                return
            job.state, job.watch = "running", Stopwatch()
            try:
                await self._run(job)
            except (OSError, ValueError) as error:
                # No process to be had, or a line that is none of the worker's: the next may do.
                if job.runs is None:
                    job.error = f"the process that measures: {error}"[:REASON_LETTERS_MAX]
            finally:
                if job.state == "running":
                    job.state = "failed" if job.runs is None else "done"
                    if job.state == "failed" and not job.error:
                        job.error = "the process that measured it ended"
            await self._tell()

    async def _run(self, job: Job) -> None:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "drivelab.web.worker"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=LINE_BYTES_MAX,
        )
        self._process = process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            if job.state != "running":
                return  # Cancelled while the process began.
            asked = {"results": str(self._results), "order": job.order.model_dump()}
            process.stdin.write(json.dumps(asked).encode() + b"\n")
            async for line in process.stdout:
                self._hear(job, json.loads(line))
                await self._tell()
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            self._process = None

    @staticmethod
    def _hear(job: Job, told: Record) -> None:
        job.share = told.get("share", job.share)
        job.doing = tuple(told.get("doing", job.doing))
        job.runs = told.get("runs")
        job.error = told.get("error", "")
