"""Transfer-size sweep, as ATTO Disk Benchmark draws it: writing and reading from 512 B to 64 MiB.

For every transfer size, ascending, one file of 256 MiB at the start of the drive is written from
its first byte to its last and then read, with four transfers outstanding [TOOLS]. Its MB/s are
MiB/s. The drive is not restored between sizes: a size that is written late meets what the sizes
before it left behind, as it did in the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from drivelab.data_patterns import parse_data_pattern
from drivelab.procedures.flow import COLUMNS, flow
from drivelab.procedures.measured import Chart, Column, Measured, Table, Value
from drivelab.procedures.pieces import buffer_bytes
from drivelab.procedures.procedure import Procedure
from drivelab.procedures.stream import REPEATING
from drivelab.progress import TaskProgress
from drivelab.quantities import KIB, MIB, SECTOR_BYTES, derive_seed
from drivelab.targets import Target
from drivelab.workload import BlockSize, Job

TRANSFER_BYTES = tuple(SECTOR_BYTES << doubling for doubling in range(18))
"""512 B to 64 MiB, every power of two."""
LENGTH_BYTES = 256 * MIB
"""Bytes that are written and read at each size: ATTO's "total length"."""
QUICK_LENGTH_BYTES = 16 * MIB
"""The same in a quick review, at least; and at least as many transfers as are outstanding."""
QUICK_BUFFERS = 8
"""And at least so many write buffers: what fits into one is written into memory, and read from
there."""
ANOMALY_RATIO = 0.9
"""Writing at a size must fall below this share of both neighbours to count as an anomaly."""

Direction = Literal["write", "read"]
DIRECTIONS: tuple[Direction, ...] = ("write", "read")


def write_anomaly(sizes: Sequence[int], rates: Sequence[float]) -> int | None:
    """The size at which a rate falls most below the lower one of its neighbours; None if none does.

    The first and the last size have one neighbour and don't count: the smallest is always slow.
    """
    shares = {
        size: rate / min(before, after)
        for size, before, rate, after in zip(
            sizes[1:-1], rates[:-2], rates[1:-1], rates[2:], strict=True
        )
    }
    if not shares:
        return None
    size = min(shares, key=lambda item: shares[item])
    return size if shares[size] < ANOMALY_RATIO else None


@dataclass(frozen=True, kw_only=True)
class Atto(Procedure):
    """Writing and reading of one file at every transfer size."""

    has_fixed_length = True

    data: str = REPEATING
    queue_depth: int = 4

    def fits(self, capacity_bytes: int) -> bool:
        """Whether a drive of this size has room for the longest transfer."""
        return capacity_bytes >= TRANSFER_BYTES[-1]

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes."""
        return 0.2 if quick else 1.0

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Runs the sweep on a drive that is in the wanted state."""
        rows: list[dict[str, Any]] = []
        rates: list[float] = []
        for transfer_bytes in TRANSFER_BYTES:
            length_bytes = self._length_on(target, transfer_bytes, quick)
            for direction in DIRECTIONS:
                job = self._job(direction, transfer_bytes, length_bytes, seed)
                report = target.run([job], progress, 0.5 / len(TRANSFER_BYTES))
                numbers = flow(report, direction)
                keys = ("mib_per_s", "iops", "mean_ms", "max_ms")
                row = {"transfer_kib": transfer_bytes / KIB, "direction": direction}
                rows.append(row | {key: numbers[key] for key in keys})
                if direction == "write":
                    rates.append(float(numbers["mib_per_s"] or 0.0))
        return Measured(
            max(
                self._length_on(target, transfer_bytes, quick) for transfer_bytes in TRANSFER_BYTES
            ),
            values=_values(rows, rates),
            tables=(_table(rows),),
            charts=(
                Chart(
                    *("transfers", "Throughput by transfer size", "lines"),
                    *("transfer_kib", "mib_per_s", "direction"),
                    log_x=True,
                ),
            ),
        )

    def _length_on(self, target: Target, transfer_bytes: int, quick: bool) -> int:
        size = min(LENGTH_BYTES, target.capacity_bytes)
        if quick:
            buffers = QUICK_BUFFERS * buffer_bytes(target)
            size = min(size, max(QUICK_LENGTH_BYTES, self.queue_depth * transfer_bytes, buffers))
        return size - size % transfer_bytes

    def _job(self, direction: Direction, transfer_bytes: int, length: int, seed: int) -> Job:
        return Job(
            name=f"{self.id}-{direction}-{transfer_bytes}",
            rw=direction,
            block_sizes=(BlockSize(bytes=transfer_bytes),),
            span_bytes=length,
            queue_depth=self.queue_depth,
            data=parse_data_pattern(self.data),
            seed=derive_seed(seed, str(transfer_bytes)),
        )

    @property
    def span_text(self) -> str:
        """Part of the drive that it uses."""
        return f"{LENGTH_BYTES // MIB} MiB"

    @property
    def time_text(self) -> str:
        """How long it measures."""
        return "once over at each size"

    @property
    def data_text(self) -> str:
        """What is written or read."""
        return f"{self.data}, written first"


def _values(rows: Sequence[dict[str, Any]], rates: Sequence[float]) -> tuple[Value, ...]:
    reads = [row["mib_per_s"] for row in rows if row["direction"] == "read"]
    return (
        Value("write_mib_per_s", "Fastest writing", max(rates), "MiB/s", "higher"),
        Value("read_mib_per_s", "Fastest reading", max(reads), "MiB/s", "higher"),
        Value(
            *("write_anomaly_bytes", "Size at which writing dips most"),
            write_anomaly(TRANSFER_BYTES, rates),
            "B",
        ),
    )


def _table(rows: Sequence[dict[str, Any]]) -> Table:
    columns = (
        Column("transfer_kib", "Transfer size", "KiB"),
        Column("direction", "Direction"),
        *(COLUMNS[key] for key in ("mib_per_s", "iops", "mean_ms", "max_ms")),
    )
    return Table("transfers", "Throughput by transfer size", columns, tuple(rows))


PROCEDURES = (
    Atto(
        id="atto",
        title="ATTO: sequential write and read, 512 B to 64 MiB",
        group="sweeps",
        states=("new", "tortured", "tortured-trimmed"),
    ),
)
