"""What a procedure needs of a drive, whatever the drive is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

from drivelab.progress import TaskProgress
from drivelab.workload import Job, Requests

Report = dict[str, Any]
"""What a run measured: see `results.measured_record` for the keys that are used."""


@dataclass(frozen=True)
class Original:
    """A drive at its full size."""

    user_bytes: int
    """What the host can address: of a partition its size."""
    raw_bytes: int
    is_partitioned: bool


class Target(Protocol):
    """A drive to be tested. Times are in ns of the target's own clock."""

    @property
    def capacity_bytes(self) -> int:
        """Bytes that the host can address."""

    @property
    def original(self) -> Original | None:
        """The drive that this is, or is a small version of; None where there is no model."""

    @property
    def scale_remarks(self) -> tuple[str, ...]:
        """What a small version has to say of itself; nothing of others."""

    @property
    def queue_depth(self) -> int:
        """Commands that the drive accepts at once."""

    @property
    def now_ns(self) -> int:
        """Time that has passed for the drive."""

    def clone(self) -> Self:
        """An independent copy of the drive in its present state."""

    def variant(self, overrides: Sequence[tuple[str, str]]) -> Target:
        """A new drive of the same model with other parameters, as (key, value).

        Raises RequestError for a key or a value that can't be, and where there is no model.
        """

    def parameter(self, key: str) -> float | None:
        """A number of the model, as "flash.read_ns", or one that follows from it, as
        "raw_capacity_bytes"; None where it says none, and where there is no model."""

    def run(self, jobs: Sequence[Job], progress: TaskProgress, share: float = 1.0) -> Report:
        """Runs jobs that start together; they are `share` of the task whose progress is given."""

    def run_requests(
        self, job: Job, requests: Requests, progress: TaskProgress, share: float = 1.0
    ) -> Report:
        """Runs given requests."""

    def idle(self, duration_ns: int) -> None:
        """Lets time pass without commands."""

    def age(self, duration_ns: int) -> None:
        """What is in flash becomes older, as on a shelf, without power.

        Raises RequestError where that can't be.
        """

    @property
    def erase_method(self) -> str:
        """How `secure_erase` is done, in words."""

    def secure_erase(self) -> None:
        """Erases every block: the new state."""

    def counters(self) -> dict[str, float]:
        """Cumulative counters of the drive."""
