"""Power in watts from the drive's own energy counter, as the reviews measured it at the plug.

- `power-idle`: nothing is asked for one minute.
- `power-sequential-write`: 2 MiB writes, queue depth 1, from LBA 0, 1 minute.
- `power-random-write-qd32`: 4 KiB writes, 4K-aligned, queue depth 32, within 8 GiB, 1 minute.
"""

from __future__ import annotations

from dataclasses import dataclass

from drivelab.procedures.measured import Measured
from drivelab.procedures.stream import Stream
from drivelab.progress import TaskProgress
from drivelab.quantities import GIB, KIB, MIB, NS_PER_S
from drivelab.targets import Target


@dataclass(frozen=True, kw_only=True)
class Idle(Stream):
    """A time without commands."""

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Lets the time pass on a drive that is in the wanted state."""
        before = target.counters()
        duration_ns = round(self.duration_on(quick) * NS_PER_S)
        target.idle(duration_ns)
        nothing = {
            "ios": 0,
            "bytes": 0,
            "runtime_ns": duration_ns,
            "iops": None,
            "bytes_per_s": None,
            "latency_ns": None,
            "split_mean_ns": None,
            "series": {"interval_ns": NS_PER_S, "bytes": [], "latency_max_ns": []},
        }
        report = {
            "measure_start_ns": 0,
            "end_ns": duration_ns,
            "counters_before": before,
            "counters_after": target.counters(),
            "jobs": [{self.direction: nothing}],
        }
        return Measured(0, report)

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a test of 3 minutes."""
        return 0.01


PROCEDURES = (
    Idle(
        id="power-idle",
        title="Power, idle",
        group="power",
        direction="read",
        order="sequential",
        block_bytes=0,
        queue_depth=0,
        align_bytes=1,
        duration_s=60,
    ),
    Stream(
        id="power-sequential-write",
        title="Power, 2 MB sequential write",
        group="power",
        direction="write",
        order="sequential",
        block_bytes=2 * MIB,
        queue_depth=1,
        align_bytes=2 * MIB,
        duration_s=60,
        default_for=(),
    ),
    Stream(
        id="power-random-write-qd32",
        title="Power, 4 KB random write, queue depth 32",
        group="power",
        direction="write",
        order="random",
        block_bytes=4 * KIB,
        queue_depth=32,
        align_bytes=4 * KIB,
        duration_s=60,
        span_bytes=8 * GIB,
        default_for=(),
    ),
)
