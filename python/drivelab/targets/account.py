"""What a test did to all the drives that it used: the one it was given, copies, and variants.

A test that works on copies leaves the given drive as it was: its counters alone would say that
nothing was written. So every drive that comes of the given one books what it does in one account.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from drivelab import spans
from drivelab.counters import spent
from drivelab.progress import TaskProgress
from drivelab.targets.target import Original, Report, Target
from drivelab.workload import Job, Requests


class Account:
    """Sums over drives."""

    def __init__(self) -> None:
        self.duration_ns = 0
        """Time of the drives, one after the other."""
        self.used: Counter[str] = Counter()
        """Cumulative counters, as far as the drives have them."""
        self.drive_count = 0
        """Drives that did anything."""


class AccountedTarget:
    """A drive that books what it does, as do its copies and variants.

    With `span_bytes` it shows its first bytes only, so that whoever uses it keeps to them.
    """

    def __init__(self, target: Target, account: Account, span_bytes: int | None = None) -> None:
        self.drive = target
        """The drive itself; what it is asked to do past this goes to no account."""
        self._account = account
        self._span_bytes = span_bytes
        self._now_ns, self._counters = target.now_ns, target.counters()
        self._has_worked = False
        # Every counter that the drive has is there, if only as 0.
        account.used.update(spent(self._counters, self._counters))

    def _book(self) -> None:
        now_ns, counters = self.drive.now_ns, self.drive.counters()
        self._account.duration_ns += now_ns - self._now_ns
        self._account.used.update(spent(self._counters, counters))
        self._account.drive_count += not self._has_worked
        self._now_ns, self._counters, self._has_worked = now_ns, counters, True

    @property
    def capacity_bytes(self) -> int:
        """Bytes that the host can address, or those of them that are used."""
        return spans.bounded(self.drive.capacity_bytes, self._span_bytes)

    @property
    def original(self) -> Original | None:
        """The drive at its full size, if there is a model of it."""
        return self.drive.original

    @property
    def scale_remarks(self) -> tuple[str, ...]:
        """What a small version has to say of itself."""
        return self.drive.scale_remarks

    @property
    def queue_depth(self) -> int:
        """Commands that the drive accepts at once."""
        return self.drive.queue_depth

    @property
    def now_ns(self) -> int:
        """Time that has passed for the drive."""
        return self.drive.now_ns

    @property
    def erase_method(self) -> str:
        """How `secure_erase` is done, in words."""
        return self.drive.erase_method

    def clone(self) -> AccountedTarget:
        """An independent copy of the drive, on the same account."""
        return self.beside(self.drive.clone())

    def beside(self, drive: Target) -> AccountedTarget:
        """Another drive, on the same account."""
        return AccountedTarget(drive, self._account, self._span_bytes)

    def variant(self, overrides: Sequence[tuple[str, str]]) -> AccountedTarget:
        """A new drive of the same model with other parameters, on the same account."""
        return self.beside(self.drive.variant(overrides))

    def run(self, jobs: Sequence[Job], progress: TaskProgress, share: float = 1.0) -> Report:
        """Runs jobs that start together."""
        report = self.drive.run([self._within(job) for job in jobs], progress, share)
        self._book()
        return report

    def _within(self, job: Job) -> Job:
        """A job over the whole drive as one over what is used of it."""
        if self._span_bytes is None or job.span_bytes is not None:
            return job
        span_bytes = self.capacity_bytes - job.offset_bytes
        return job.model_copy(update={"span_bytes": span_bytes})

    def run_requests(
        self, job: Job, requests: Requests, progress: TaskProgress, share: float = 1.0
    ) -> Report:
        """Runs given requests."""
        report = self.drive.run_requests(job, requests, progress, share)
        self._book()
        return report

    def idle(self, duration_ns: int) -> None:
        """Lets time pass without commands."""
        self.drive.idle(duration_ns)
        self._book()

    def age(self, duration_ns: int) -> None:
        """What is in flash becomes older, as on a shelf, without power."""
        self.drive.age(duration_ns)

    def parameter(self, key: str) -> float | None:
        """A number of the model."""
        return self.drive.parameter(key)

    def secure_erase(self) -> None:
        """Brings the drive into the state before its first use."""
        self.drive.secure_erase()
        self._book()

    def counters(self) -> dict[str, float]:
        """Cumulative counters of the drive."""
        return self.drive.counters()
