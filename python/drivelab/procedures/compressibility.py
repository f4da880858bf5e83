"""Compressibility: speed against how much of the data compression leaves.

For every share a file is written in a row and read back, then written at random places and read
there. Every share starts from a copy of the drive as it was prepared. Drives that don't compress
draw level lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from drivelab.counters import spent_in, write_amplification
from drivelab.data_patterns import parse_data_pattern
from drivelab.procedures.flow import COLUMNS, flow
from drivelab.procedures.measured import Chart, Column, Measured, Table, Value
from drivelab.procedures.procedure import Procedure
from drivelab.progress import TaskProgress
from drivelab.quantities import GIB, KIB, MIB, NS_PER_S, derive_seed
from drivelab.targets import Target
from drivelab.traits import TestTraits
from drivelab.workload import BlockSize, Job, Rw

PERCENTS_LEFT = (0, 10, 25, 46, 60, 75, 90, 100)
"""Size after compression over size before; 46 % is what a vendor's marketing calls typical."""
FILE_BYTES = 4 * GIB
QUICK_FILE_BYTES = 256 * MIB
RANDOM_S, QUICK_RANDOM_S = 20.0, 2.0
SEQUENTIAL_S = 120.0
"""Longest time of one sequential part: drives that write slower write less."""


@dataclass(frozen=True)
class Form:
    """One of the four workloads, in the order in which they are run."""

    name: str
    title: str
    rw: Rw
    direction: Literal["read", "write"]
    block_bytes: int
    queue_depth: int


FORMS = (
    Form("sequential_write", "128 KB sequential write", "write", "write", 128 * KIB, 1),
    Form("sequential_read", "128 KB sequential read", "read", "read", 128 * KIB, 1),
    Form("random_write", "4 KB random write", "randwrite", "write", 4 * KIB, 3),
    Form("random_read", "4 KB random read", "randread", "read", 4 * KIB, 3),
)
KEYS = ("mib_per_s", "iops", "mean_ms")


@dataclass(frozen=True, kw_only=True)
class Compressibility(Procedure):
    """Four workloads at every share."""

    has_fixed_length = True

    def fits(self, capacity_bytes: int) -> bool:
        """Whether a drive of this size has room for the file of a quick review."""
        return capacity_bytes >= QUICK_FILE_BYTES

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes."""
        return len(PERCENTS_LEFT) * (0.05 if quick else 0.3)

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Runs every share on a copy of a drive that is in the wanted state."""
        rows: list[dict[str, Any]] = []
        for percent in PERCENTS_LEFT:
            drive = target.clone()
            for form in FORMS:
                job = self._job(drive.capacity_bytes, form, percent, seed, quick)
                report = drive.run([job], progress, 1 / (len(PERCENTS_LEFT) * len(FORMS)))
                numbers = flow(report, form.direction)
                rows.append(
                    {
                        "percent_left": percent,
                        "workload": form.title,
                        **{key: numbers[key] for key in KEYS},
                        "write_amplification": write_amplification(spent_in(report)),
                    }
                )
            # Before the next copy is made, not after.
            del drive
        columns = (
            Column("percent_left", "Left by compression", "%"),
            Column("workload", "Workload"),
            *(COLUMNS[key] for key in KEYS),
            Column("write_amplification", "Write amplification"),
        )
        return Measured(
            _file_bytes(target.capacity_bytes, quick),
            values=_values(rows),
            tables=(Table("shares", "Speed by compressibility", columns, tuple(rows)),),
            charts=(
                Chart(
                    *("shares", "Throughput by compressibility", "lines"),
                    *("percent_left", "mib_per_s", "workload"),
                ),
            ),
        )

    def _job(self, capacity_bytes: int, form: Form, percent: int, seed: int, quick: bool) -> Job:
        size = _file_bytes(capacity_bytes, quick)
        random = form.rw.startswith("rand")
        seconds = (QUICK_RANDOM_S if quick else RANDOM_S) if random else SEQUENTIAL_S
        return Job(
            name=f"{self.id}-{form.name}-{percent}",
            rw=form.rw,
            block_sizes=(BlockSize(bytes=form.block_bytes),),
            span_bytes=size - size % form.block_bytes,
            queue_depth=form.queue_depth,
            runtime_ns=round(seconds * NS_PER_S),
            time_based=random,
            data=parse_data_pattern(f"compressible:{percent}"),
            seed=derive_seed(seed, form.name),
        )

    @property
    def span_text(self) -> str:
        """Part of the drive that it uses."""
        return f"{FILE_BYTES // GIB} GiB"

    @property
    def time_text(self) -> str:
        """How long it measures."""
        return f"once over and {RANDOM_S:.0f} s a share"

    @property
    def data_text(self) -> str:
        """What is written or read."""
        return "compressible:0 to 100, written first"


def _file_bytes(capacity_bytes: int, quick: bool) -> int:
    return min(QUICK_FILE_BYTES if quick else FILE_BYTES, capacity_bytes)


def _values(rows: Sequence[dict[str, Any]]) -> tuple[Value, ...]:
    rate = {(row["percent_left"], row["workload"]): row["mib_per_s"] for row in rows}
    ends = (PERCENTS_LEFT[0], PERCENTS_LEFT[-1])
    return tuple(
        Value(
            f"{form.name}_kept_percent",
            f"{form.title}, incompressible",
            100 * rate[ends[1], form.title] / rate[ends[0], form.title],
            "% of compressible",
            "higher",
        )
        for form in FORMS
    )


PROCEDURES = (
    Compressibility(
        id="compressibility",
        title="Compressibility: sequential and random transfer of data that compress to 0 to 100 %",
        group="sweeps",
        states=("new", "used"),
        kinds=("flash",),
        extra_drives=1,
        traits=TestTraits(story="compressibility"),
    ),
)
