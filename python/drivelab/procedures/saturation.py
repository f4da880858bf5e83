"""Saturation: what one light queue waits for beside queues that are full.

Up to six jobs keep 64 random writes outstanding each, as processors do that have a queue pair of
their own, while another job reads and writes one block at a time. Beside full queues a drive that
serves commands in the order of their coming lets the light one wait as long as all others; one
that goes round its queues, or puts reads in front, doesn't [SSDIQ]. With one queue there is no
choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.procedures import timed
from drivelab.procedures.flow import flow
from drivelab.procedures.measured import Chart, Column, Measured, Table, Value
from drivelab.procedures.procedure import Procedure
from drivelab.procedures.stream import RANDOM
from drivelab.progress import TaskProgress
from drivelab.quantities import derive_seed
from drivelab.targets import Target

FULL_QUEUES = (0, 1, 2, 4, 6)
QUICK_FULL_QUEUES = (0, 6)
QUEUE_DEPTH = 64
"""Of a full queue."""
POINT_S, QUICK_POINT_S = 20.0, 3.0
COLUMNS = (
    Column("full_queues", "Full queues"),
    Column("writes_per_s", "Writes of all queues", "IOPS"),
    Column("light_read_ms", "Light queue, mean read", "ms"),
    Column("light_read_p99_ms", "Light queue, 99 % of reads", "ms"),
    Column("light_write_ms", "Light queue, mean write", "ms"),
    Column("light_write_p99_ms", "Light queue, 99 % of writes", "ms"),
    Column("full_write_ms", "Full queues, mean write", "ms"),
)


@dataclass(frozen=True, kw_only=True)
class Saturation(Procedure):
    """A light queue beside full ones, each number of them on a copy of the drive."""

    has_fixed_length = True

    def fits(self, capacity_bytes: int) -> bool:
        """Whether a drive of this size has places to choose from."""
        return timed.fits(capacity_bytes)

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes."""
        numbers, point_s = _points(quick)
        return len(numbers) * point_s / 180

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Runs every point on a copy of a drive that is in the wanted state."""
        numbers, point_s = _points(quick)
        rows, reports = [], []
        for number in numbers:
            jobs = [
                timed.job(f"{self.id}-light", "randrw", target, derive_seed(seed, "light"), point_s)
            ]
            for index in range(number):
                own_seed = derive_seed(seed, "full", str(index))
                job = timed.job(
                    f"{self.id}-full-{index + 1}", "randwrite", target, own_seed, point_s
                )
                jobs.append(job.model_copy(update={"queue_depth": QUEUE_DEPTH}))
            moments = [timed.in_moments(job, point_s) for job in jobs]
            reports.append(target.clone().run(moments, progress, 1 / len(numbers)))
            rows.append(_row(reports[-1], number))
        # With the most queues: fewer write less in the same time.
        why = timed.unsettled(reports[-1])
        return Measured(
            target.capacity_bytes,
            values=_values(rows),
            notes=(
                *([f"{why}: these rates are not what remains (`consistency`)"] if why else []),
                *_starved(rows, point_s),
            ),
            tables=(Table("queues", "A light queue beside full ones", COLUMNS, tuple(rows)),),
            charts=tuple(
                Chart("queues", title, "lines", "full_queues", key, log_y=True)
                for title, key in (
                    ("Reads of the light queue", "light_read_ms"),
                    ("Writes of the light queue", "light_write_ms"),
                )
            ),
        )

    @property
    def time_text(self) -> str:
        """How long it measures."""
        return f"{POINT_S:.0f} s a number"

    @property
    def data_text(self) -> str:
        """What is written or read."""
        return RANDOM


def _points(quick: bool) -> tuple[Sequence[int], float]:
    return (QUICK_FULL_QUEUES, QUICK_POINT_S) if quick else (FULL_QUEUES, POINT_S)


def _row(report: Any, number: int) -> dict[str, Any]:
    reads, writes = flow(report, "read"), flow(report, "write")
    full = [flow(report, "write", 1 + index) for index in range(number)]
    ios = sum(float(one["ios"] or 0) for one in full)
    waited = sum(float(one["ios"] or 0) * float(one["mean_ms"] or 0.0) for one in full)
    return {
        "full_queues": number,
        "writes_per_s": sum(float(one["iops"] or 0.0) for one in (writes, *full)),
        "light_read_ms": reads["mean_ms"],
        "light_read_p99_ms": reads["p99_ms"],
        "light_write_ms": writes["mean_ms"],
        "light_write_p99_ms": writes["p99_ms"],
        "full_write_ms": waited / ios if ios else None,
    }


def _starved(rows: Sequence[dict[str, Any]], point_s: float) -> Iterator[str]:
    """What of the light queue has no numbers, as nothing of it was done while it was measured."""
    measured_s = point_s * (1 - timed.RAMP_SHARE)
    for op in ("read", "write"):
        beside = [str(row["full_queues"]) for row in rows if row[f"light_{op}_ms"] is None]
        if beside:
            yield (
                f"of the light queue no {op} was done in {measured_s:g} s where full_queues is "
                f"{', '.join(beside)}: it has no numbers there"
            )


def _values(rows: Sequence[dict[str, Any]]) -> tuple[Value, ...]:
    alone, last = rows[0], rows[-1]
    light, full = last["light_write_ms"], last["full_write_ms"]
    ratio = light / full if light is not None and full else None
    return (
        Value("alone_read_ms", "Mean read, no other queue", alone["light_read_ms"], "ms", "lower"),
        Value("read_ms", "Mean read beside six full queues", last["light_read_ms"], "ms", "lower"),
        Value("read_p99_ms", "99 % of reads there", last["light_read_p99_ms"], "ms", "lower"),
        Value("write_ms", "Mean write there", light, "ms", "lower"),
        Value("fairness", "The light queue's write, in writes of a full one", ratio, "", "lower"),
    )


PROCEDURES = (
    Saturation(
        id="saturation",
        title="Saturation: a light queue beside 0 to 6 full queues of 4 KiB random writes",
        group="sweeps",
        states=("used",),
        extra_drives=1,
    ),
)
