"""A run in steps: look at the drive as often as one likes while jobs run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from drivelab import counters
from drivelab.errors import RequestError
from drivelab.lab import pieces
from drivelab.lab.inside import Inside
from drivelab.progress import TaskProgress, run_alone
from drivelab.quantities import MIB, NS_PER_S, NS_PER_US
from drivelab.targets.going import FOR_EVER_NS, EngineRun
from drivelab.workload import READ, WRITE

if TYPE_CHECKING:
    from drivelab.lab.result import Result

_TRANSFERS = (READ, WRITE)
"""Of the kinds of requests, those that transfer data."""


@dataclass(frozen=True)
class Step:
    """What was done in one step, by all jobs together. What isn't known is None.

    >>> import drivelab as dl
    >>> drive = dl.Drive("intel-x25-m-g1-80gb", scale="1/128")
    >>> step = drive.steps(dl.Job(rw="write", bs="128k", io_size="64m"), every="100ms").advance()
    >>> step.time_s, step.iops == step.ios / step.duration_s
    (0.1, True)
    >>> step.inside().blocks.filter(role="open").height > 0
    True
    """

    time_s: float
    """When it ended, after the start of the run."""
    duration_s: float
    ios: int
    """Reads and writes that were done and count: none while all jobs are in their ramp."""
    iops: float | None
    """Over what of the step was measured; None while all jobs are in their ramp."""
    mib_per_s: float | None
    latency_mean_us: float | None
    write_amplification: float | None
    """Bytes programmed per byte written in this step; below 1 while data stay in the buffer."""
    _look: Callable[[], Inside] = field(repr=False, compare=False)

    def inside(self) -> Inside:
        """Every block and every die, as they are now: ask before the next step."""
        return self._look()


@dataclass(frozen=True)
class _Reading:
    """What cumulative meters say."""

    now_ns: int
    measures_from_ns: int
    ios: int
    bytes: int
    latency_sum_ns: int
    counters: Mapping[str, float]

    @classmethod
    def of(cls, run: EngineRun) -> _Reading:
        rows = [job[kind] for job in run.so_far() for kind in _TRANSFERS]
        ios, moved, latency_ns = (sum(row[place] for row in rows) for place in range(3))
        first_ns, _ = run.measures_from_ns
        return cls(run.target.now_ns, first_ns, ios, moved, latency_ns, run.target.counters())

    def step_from(self, before: _Reading, start_ns: int, look: Callable[[], Inside]) -> Step:
        seconds = (self.now_ns - before.now_ns) / NS_PER_S
        # Of the step in which a ramp ends, what comes after it.
        measured_s = (self.now_ns - max(before.now_ns, self.measures_from_ns)) / NS_PER_S
        ios = self.ios - before.ios
        latency_ns = self.latency_sum_ns - before.latency_sum_ns
        used: dict[str, Any] = counters.spent(before.counters, self.counters)
        return Step(
            time_s=(self.now_ns - start_ns) / NS_PER_S,
            duration_s=seconds,
            ios=ios,
            iops=ios / measured_s if measured_s > 0 else None,
            mib_per_s=(self.bytes - before.bytes) / MIB / measured_s if measured_s > 0 else None,
            latency_mean_us=latency_ns / ios / NS_PER_US if ios else None,
            write_amplification=counters.write_amplification(used),
            _look=look,
        )


class Walk:
    """Jobs on a copy of a drive, step by step."""

    def __init__(self, run: EngineRun, every_ns: int) -> None:
        self._run = run
        self._every_ns = every_ns
        self._start_ns = run.target.now_ns
        self._before = _Reading.of(run)
        self._ended = self._stopped = False

    def advance(self, progress: TaskProgress | None = None, share: float = 0.0) -> Step:
        """The next step; the last one ends with the jobs. Raises RequestError after that.

        With a `progress` that somebody else can cancel it is one call of the engine; without one,
        Ctrl-C is answered within the step, and who goes on goes on with the rest of it.
        """
        if self._ended:
            raise RequestError("steps: the jobs have ended; see result")
        until_ns = self._before.now_ns + self._every_ns
        if progress is not None:
            self._ended = self._run.advance(until_ns, progress, share)
        else:
            alone = TaskProgress("step")
            for end_ns in pieces.ends(self._run.target.now_ns, until_ns):
                self._ended = self._run.advance(end_ns, alone, 0.0)
                if self._ended:
                    break
        now = _Reading.of(self._run)
        step = now.step_from(self._before, self._start_ns, self.inside)
        self._before = now
        return step

    def stop(self) -> None:
        """Issues nothing more; what is outstanding is the end of the run."""
        if not self._ended:
            self._stopped = True
            self._run.stop()
            finish = partial(self._run.advance, FOR_EVER_NS)
            self._ended = run_alone("last requests", finish, shown=False)

    def inside(self) -> Inside:
        """Every block and every die, as they are now."""
        return Inside.of(self._run.target.inside())

    @property
    def ended(self) -> bool:
        """Whether the jobs have ended."""
        return self._ended


class Steps(Walk):
    """Jobs on a copy of a drive, step by step: `for step in drive.steps(job, every="1s")`.

    >>> import drivelab as dl
    >>> drive = dl.Drive("intel-x25-m-g1-80gb", scale="1/128")
    >>> steps = drive.steps(dl.Job(rw="write", bs="128k", io_size="64m"), every="100ms")
    >>> sum(step.ios for step in steps)
    512
    >>> steps.ended, steps.result.summary["ios"].item()
    (True, 512)

    Where it is cut into steps changes nothing of the result, which is there when the jobs have
    ended, or after `stop()`.
    """

    def __init__(
        self, run: EngineRun, every_ns: int, result: Callable[[EngineRun, bool], Result]
    ) -> None:
        super().__init__(run, every_ns)
        self._make_result = result
        self._result: Result | None = None

    def __iter__(self) -> Iterator[Step]:
        while not self.ended:
            yield self.advance()

    @property
    def result(self) -> Result:
        """What the whole run measured; raises RequestError before its end."""
        if not self.ended:
            raise RequestError("result: the jobs go on; take all steps, or stop()")
        if self._result is None:
            self._result = self._make_result(self._run, self._stopped)
        return self._result
