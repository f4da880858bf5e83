"""The drive under test, as tests and states of one's own see it."""

from __future__ import annotations

from drivelab.lab import checks
from drivelab.lab.job import Job
from drivelab.lab.result import Result
from drivelab.lab.running import checked_jobs, measure_jobs
from drivelab.progress import TaskProgress
from drivelab.quantities import NS_PER_S, derive_seed
from drivelab.targets import Target

QUICK_NS = 10 * NS_PER_S
"""Longest job of a quick review, in ns of the drive's time."""


class Bench:
    """The drive that a test or a state of one's own works on: a model or a real drive.

    It ages: what one call does to it, the next one finds. A function that a review runs is handed
    one; it makes none.

    >>> import drivelab as dl
    >>> @dl.test(group="mine", states=["filled"])
    ... def after_a_pause(bench):
    ...     "Random writes after ten seconds of rest."
    ...     began_s = bench.now_s
    ...     bench.idle("10s")
    ...     done = bench.run(dl.Job(rw="randwrite", bs="4k", io_size="4m"))
    ...     return [
    ...         dl.Value("rest_s", "Rest", round(bench.now_s - began_s), "s"),
    ...         dl.Value("writes", "Writes", done.summary["ios"].item(), ""),
    ...     ]
    >>> drive = dl.Drive("intel-x25-m-g1-80gb", scale="1/128").prepare("filled")
    >>> [value.value for value in drive.measure(after_a_pause).values]
    [10, 1024]
    """

    def __init__(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> None:
        self._target = target
        self._seed = seed
        self._quick = quick
        self._progress = progress
        self._left = 1.0
        self._runs = 0

    @property
    def capacity_bytes(self) -> int:
        """Bytes that the host can address."""
        return self._target.capacity_bytes

    @property
    def seed(self) -> int:
        """For random choices of one's own: the same in every review with the same seed."""
        return self._seed

    @property
    def quick(self) -> bool:
        """Whether the review is a quick one: then no job measures longer than 10 s."""
        return self._quick

    @property
    def now_s(self) -> float:
        """The drive's own time in seconds."""
        return self._target.now_ns / NS_PER_S

    @property
    def counters(self) -> dict[str, float]:
        """What the drive has counted since it was made, by name with unit."""
        return self._target.counters()

    def run(self, *jobs: Job) -> Result:
        """Runs jobs that start together; raises RequestError for one that can't be here."""
        own = checked_jobs("run", jobs)
        # Nobody knows how many runs are to come: each takes half of what is left of the bar.
        self._left /= 2
        seed = derive_seed(self._seed, "run", str(self._runs))
        self._runs += 1
        longest_ns = QUICK_NS if self._quick else None
        report = measure_jobs(self._target, own, seed, self._progress, self._left, longest_ns)
        return Result(report, None, own)

    def idle(self, time: str | float) -> None:
        """Lets time pass without commands: "60s", "5m", or seconds.

        Raises RequestError for what is no time.
        """
        self._target.idle(checks.time_ns("time", time))
