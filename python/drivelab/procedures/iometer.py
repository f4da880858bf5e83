"""Iometer's classic access profiles at queue depths of 1 to 32.

Database, file server, web server and workstation, as their mixes of sizes, reads and random places
have been handed on [TOOLS]. Each runs over the whole drive, each depth on a copy of the drive as
it was prepared. Requests begin at any sector, Iometer's "MB/s" are MiB/s, its default data repeat
one byte [IOM].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from drivelab.counters import spent_in, write_amplification
from drivelab.data_patterns import parse_data_pattern
from drivelab.procedures.flow import COLUMNS, flow
from drivelab.procedures.measured import Chart, Column, Measured, Table, Value
from drivelab.procedures.procedure import Procedure
from drivelab.procedures.stream import QUICK_DURATION_S, REPEATING
from drivelab.progress import TaskProgress
from drivelab.quantities import KIB, MIB, NS_PER_S, SECTOR_BYTES
from drivelab.targets import Target
from drivelab.workload import BlockSize, Job

DEPTHS = (1, 2, 4, 8, 16, 32)
DURATION_S = 30.0
"""Time of each depth."""
FILE_SIZES: Mapping[int, float] = {
    512: 10,
    1 * KIB: 5,
    2 * KIB: 5,
    4 * KIB: 60,
    8 * KIB: 2,
    16 * KIB: 4,
    32 * KIB: 4,
    64 * KIB: 10,
}
"""Bytes of a request and percent of the requests, of a file server and of a web server."""
KEYS = ("iops", "mib_per_s", "mean_ms", "max_ms")


@dataclass(frozen=True, kw_only=True)
class Profile(Procedure):
    """One profile at every depth."""

    has_fixed_length = True

    read_percent: float
    random_percent: float = 100.0
    sizes: Mapping[int, float] = field(hash=False)

    def fits(self, capacity_bytes: int) -> bool:
        """Whether a drive of this size has room for requests of every size."""
        return capacity_bytes >= MIB

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes."""
        return len(DEPTHS) * (QUICK_DURATION_S if quick else DURATION_S) / 180

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Runs every depth on a copy of a drive that is in the wanted state."""
        rows: list[dict[str, Any]] = []
        for depth in DEPTHS:
            job = self._job(target.capacity_bytes, depth, seed, quick)
            report = target.clone().run([job], progress, 1 / len(DEPTHS))
            numbers = flow(report)
            rows.append(
                {
                    "queue_depth": depth,
                    **{key: numbers[key] for key in KEYS},
                    "write_amplification": write_amplification(spent_in(report)),
                }
            )
        columns = (
            Column("queue_depth", "Queue depth"),
            *(COLUMNS[key] for key in KEYS),
            Column("write_amplification", "Write amplification"),
        )
        title = "Requests per second by queue depth"
        return Measured(
            target.capacity_bytes,
            values=_values(rows),
            tables=(Table("depths", title, columns, tuple(rows)),),
            charts=(Chart("depths", title, "lines", "queue_depth", "iops", log_x=True),),
        )

    def _job(self, capacity_bytes: int, depth: int, seed: int, quick: bool) -> Job:
        return Job(
            name=f"{self.id}-{depth}",
            rw="randrw",
            read_percent=self.read_percent,
            random_percent=self.random_percent,
            block_sizes=tuple(
                BlockSize(bytes=size, weight=percent) for size, percent in self.sizes.items()
            ),
            align_bytes=SECTOR_BYTES,
            span_bytes=capacity_bytes,
            queue_depth=depth,
            runtime_ns=round((QUICK_DURATION_S if quick else DURATION_S) * NS_PER_S),
            time_based=True,
            data=parse_data_pattern(REPEATING),
            seed=seed,
        )

    @property
    def time_text(self) -> str:
        """How long it measures."""
        return f"{DURATION_S:.0f} s a depth"

    @property
    def data_text(self) -> str:
        """What is written or read."""
        return REPEATING


def _values(rows: Sequence[dict[str, Any]]) -> tuple[Value, ...]:
    return tuple(
        Value(f"qd{depth}_iops", f"Queue depth {depth}", row["iops"], "IOPS", "higher")
        for row in rows
        if (depth := row["queue_depth"]) in (1, 8, 32)
    )


def _profile(name: str, words: str, read_percent: float, **more: Any) -> Profile:
    return Profile(
        id=f"iometer-{name}",
        title=f"Iometer, {words}, queue depths 1 to 32",
        group="presets",
        # A drive that was never written would answer reads without touching flash.
        states=("filled", "used"),
        read_percent=read_percent,
        extra_drives=1,
        **more,
    )


PROCEDURES = (
    _profile("database", "database: 8 KB, 67 % reads", 67, sizes={8 * KIB: 100}),
    _profile("file-server", "file server: 512 B to 64 KB, 80 % reads", 80, sizes=FILE_SIZES),
    _profile("web-server", "web server: 512 B to 64 KB, reads only", 100, sizes=FILE_SIZES),
    _profile(
        "workstation",
        "workstation: 8 KB, 80 % reads, 80 % random",
        80,
        sizes={8 * KIB: 100},
        random_percent=80,
    ),
)
