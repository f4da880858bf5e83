"""Alignment: writes of 4 KiB at random and of 64 KiB in a row, shifted against the map's units.

Every request begins at a multiple of its size plus the offset of the point, as in a partition that
begins there. A block that lies across two map units changes both in part, which costs reading
and writing back the rest of them. Every point starts from a copy of the drive as it was prepared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.counters import spent_in, write_amplification
from drivelab.data_patterns import parse_data_pattern
from drivelab.procedures.flow import COLUMNS, flow
from drivelab.procedures.measured import Chart, Column, Measured, Table, Value
from drivelab.procedures.procedure import Procedure
from drivelab.procedures.stream import QUICK_DURATION_S, REPEATING
from drivelab.progress import TaskProgress
from drivelab.quantities import GIB, KIB, NS_PER_S, derive_seed
from drivelab.targets import Target
from drivelab.traits import TestTraits
from drivelab.workload import BlockSize, Job, Rw

OFFSETS = (0, 512, 1 * KIB, 2 * KIB, 4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB)
"""Bytes by which requests are shifted; every other alignment of 4 KiB lies between two of these."""
SPAN_BYTES = 8 * GIB
DURATION_S = 30.0


@dataclass(frozen=True)
class Form:
    """One of the two workloads."""

    name: str
    title: str
    rw: Rw
    block_bytes: int
    queue_depth: int


RANDOM_4K = Form("random-4k", "4 KB random write", "randwrite", 4 * KIB, 3)
SEQUENTIAL_64K = Form("sequential-64k", "64 KB sequential write", "write", 64 * KIB, 1)
FORMS = (RANDOM_4K, SEQUENTIAL_64K)
KEYS = ("mib_per_s", "iops", "mean_ms", "max_ms")


@dataclass(frozen=True, kw_only=True)
class Alignment(Procedure):
    """Writes at every offset."""

    has_fixed_length = True

    def fits(self, capacity_bytes: int) -> bool:
        """Whether a drive of this size has room for a shifted block."""
        return capacity_bytes >= 2 * max(OFFSETS) + SEQUENTIAL_64K.block_bytes

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes."""
        points = len(FORMS) * len(OFFSETS)
        return points * (QUICK_DURATION_S if quick else DURATION_S) / 180

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Runs every point on a copy of a drive that is in the wanted state."""
        share = 1 / (len(FORMS) * len(OFFSETS))
        rows = [
            self._point(target.clone(), form, offset, seed, quick, progress, share)
            for form in FORMS
            for offset in OFFSETS
        ]
        columns = (
            Column("offset_kib", "Offset", "KiB"),
            Column("workload", "Workload"),
            *(COLUMNS[key] for key in KEYS),
            Column("write_amplification", "Write amplification"),
        )
        lines = ("offset_kib", "mib_per_s", "workload")
        return Measured(
            _span_bytes(target.capacity_bytes),
            values=_values(rows),
            tables=(Table("offsets", "Writes by offset", columns, tuple(rows)),),
            charts=(
                Chart("offsets", "Throughput by offset", "bars", *lines),
                Chart(
                    *("offsets", "Write amplification by offset", "bars"),
                    *("offset_kib", "write_amplification", "workload"),
                ),
            ),
        )

    def _point(
        self,
        target: Target,
        form: Form,
        offset: int,
        seed: int,
        quick: bool,
        progress: TaskProgress,
        share: float,
    ) -> dict[str, Any]:
        span_bytes = _span_bytes(target.capacity_bytes)
        duration_s = min(DURATION_S, QUICK_DURATION_S) if quick else DURATION_S
        job = Job(
            name=f"{self.id}-{form.name}-{offset}",
            rw=form.rw,
            block_sizes=(BlockSize(bytes=form.block_bytes),),
            offset_bytes=offset,
            span_bytes=span_bytes - span_bytes % form.block_bytes,
            queue_depth=form.queue_depth,
            runtime_ns=round(duration_s * NS_PER_S),
            time_based=True,
            data=parse_data_pattern(REPEATING),
            # The same places at every offset: what differs is the offset alone.
            seed=derive_seed(seed, form.name),
        )
        report = target.run([job], progress, share)
        numbers = flow(report, "write")
        return {
            "offset_kib": offset / KIB,
            "workload": form.title,
            **{key: numbers[key] for key in KEYS},
            "write_amplification": write_amplification(spent_in(report)),
        }

    @property
    def span_text(self) -> str:
        """Part of the drive that it uses."""
        return f"{SPAN_BYTES // GIB} GiB"

    @property
    def time_text(self) -> str:
        """How long it measures."""
        return f"{DURATION_S:.0f} s a point"

    @property
    def data_text(self) -> str:
        """What is written or read."""
        return REPEATING


def _span_bytes(capacity_bytes: int) -> int:
    """Size of the region, which every offset leaves room for."""
    return min(SPAN_BYTES, capacity_bytes - max(OFFSETS))


def _values(rows: Sequence[dict[str, Any]]) -> tuple[Value, ...]:
    values: list[Value] = []
    for form in FORMS:
        own = [row for row in rows if row["workload"] == form.title]
        aligned, slowest = own[0]["mib_per_s"], min(row["mib_per_s"] for row in own)
        name = form.name.replace("-", "_")
        values += [
            Value(f"{name}_mib_per_s", f"{form.title}, aligned", aligned, "MiB/s", "higher"),
            Value(
                f"{name}_shifted_percent",
                f"{form.title}, worst offset",
                100 * slowest / aligned if aligned else None,
                "% of aligned",
                "higher",
            ),
        ]
    return tuple(values)


PROCEDURES = (
    Alignment(
        id="alignment",
        title="Alignment: 4 KB random and 64 KB sequential writes at offsets of 0 to 32 KB",
        group="sweeps",
        states=("filled",),
        kinds=("flash",),
        extra_drives=1,
        traits=TestTraits(story="alignment"),
    ),
)
