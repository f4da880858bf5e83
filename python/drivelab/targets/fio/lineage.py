"""Copies of a drive that there is only once: each is brought about again when its turn comes.

A copy is the list of what was done to the drive since it was erased. A copy that is used while the
drive is in another one's condition has its list repeated first. So a copy costs the time and the
writes of its preparation, unless nobody changed anything since.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Never, TypeVar

import numpy as np

from drivelab.errors import RequestError
from drivelab.progress import TaskProgress
from drivelab.targets.fio.rehearsal import Rehearsal
from drivelab.targets.fio.target import FioTarget
from drivelab.targets.target import Report
from drivelab.workload import FLUSH, READ, Job, Requests

T = TypeVar("T")
READS = ("read", "randread")
"""Directions that change nothing in a drive."""


@dataclass(frozen=True, eq=False)
class _Step:
    """Something that was done to the drive."""

    repeat: Callable[[], object]
    changes: bool
    """Whether blocks were written or freed; flushing and resting change none."""


@dataclass
class _Shared:
    """Whose list the drive has gone through."""

    user: Lineage | None = field(default=None)


class Lineage:
    """A drive, or a copy of it. Its clock and its counters know nothing of the other copies."""

    def __init__(self, drive: FioTarget | Rehearsal, name: str) -> None:
        self._drive = drive
        self._name = name
        self._shared = _Shared()
        self._steps: list[_Step] = []
        self._counters: dict[str, float] = dict.fromkeys(drive.counters(), 0)
        self._now_ns = 0

    @property
    def capacity_bytes(self) -> int:
        """Bytes that the host can address."""
        return self._drive.capacity_bytes

    @property
    def original(self) -> None:
        """There is no model of a real drive."""

    @property
    def scale_remarks(self) -> tuple[str, ...]:
        """A real drive is whole."""
        return ()

    @property
    def queue_depth(self) -> int:
        """Commands at once."""
        return self._drive.queue_depth

    @property
    def now_ns(self) -> int:
        """Time that this copy was in use."""
        return self._now_ns

    @property
    def erase_method(self) -> str:
        """How `secure_erase` is done, in words."""
        return self._drive.erase_method

    def clone(self) -> Lineage:
        """A copy in the present condition; nothing happens before it is used."""
        other = copy.copy(self)
        other._steps, other._counters = list(self._steps), dict(self._counters)
        return other

    def variant(self, overrides: Sequence[tuple[str, str]]) -> Never:
        """Raises RequestError: a real drive is as it is."""
        raise RequestError(
            f"{self._name}: the test changes parameters of a model, and a real drive has none"
        )

    def run(
        self,
        jobs: Sequence[Job],
        progress: TaskProgress,
        share: float = 1.0,
        more: Sequence[Mapping[str, str]] = (),
    ) -> Report:
        """Runs jobs that start together; raises RequestError for a job that can't be.

        `more` are options of fio for each of them.
        """
        report = self._in_turn(partial(self._drive.run, jobs, progress, share, more))
        if any(job.rw not in READS for job in jobs):
            self._note(partial(self._drive.run, jobs, progress, 0.0, more), changes=True)
        return report

    def run_requests(
        self, job: Job, requests: Requests, progress: TaskProgress, share: float = 1.0
    ) -> Report:
        """Runs given requests; raises RequestError if they can't be."""
        report = self._in_turn(partial(self._drive.run_requests, job, requests, progress, share))
        changes = not bool(np.all((requests.op == READ) | (requests.op == FLUSH)))
        if changes or np.any(requests.op == FLUSH):
            self._note(partial(self._drive.run_requests, job, requests, progress, 0.0), changes)
        return report

    def idle(self, duration_ns: int) -> None:
        """Lets time pass without commands."""
        self._in_turn(partial(self._drive.idle, duration_ns))
        self._note(partial(self._drive.idle, duration_ns), changes=False)

    def age(self, duration_ns: int) -> None:
        """Raises RequestError: real flash takes its time."""
        self._drive.age(duration_ns)

    def parameter(self, key: str) -> float | None:
        """What is known of the drive; None: nobody knows."""
        return self._drive.parameter(key)

    def secure_erase(self) -> None:
        """Brings the new state about; what was done before counts no more."""
        self._steps = []
        self._in_turn(self._drive.secure_erase)
        self._note(self._drive.secure_erase, changes=True)

    def counters(self) -> dict[str, float]:
        """What the host asked of this copy."""
        return dict(self._counters)

    def _in_turn(self, work: Callable[[], T]) -> T:
        """Does something to the drive in this copy's condition."""
        user, self._shared.user = self._shared.user, self
        if user is not None and user is not self and user._changes() != self._changes():
            for step in self._steps:
                step.repeat()
        before, start_ns = self._drive.counters(), self._drive.now_ns
        result = work()
        self._now_ns += self._drive.now_ns - start_ns
        for key, value in self._drive.counters().items():
            self._counters[key] += value - before[key]
        return result

    def _note(self, repeat: Callable[[], object], changes: bool) -> None:
        self._steps.append(_Step(repeat, changes))

    def _changes(self) -> list[int]:
        return [id(step) for step in self._steps if step.changes]
