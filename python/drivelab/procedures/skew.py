"""Skew: write amplification and speed of random writes that don't reach all data alike.

A filled drive is written at random four times over: every block equally often, by two zipfs, with
most writes to a small part of the data, and beside a part that nobody writes. Cold blocks lie
scattered among the others. What counts is the second half: a drive that keeps data of different age
apart needs a while for it, and then pays less than for uniform writes; one that doesn't copies its
cold data again and again, and pays more [SSDIQ].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.data_patterns import parse_data_pattern
from drivelab.procedures import steady_writes
from drivelab.procedures.measured import Chart, Column, Measured, Table, Value
from drivelab.procedures.stream import RANDOM
from drivelab.procedures.study import Study
from drivelab.progress import TaskProgress
from drivelab.quantities import KIB, MIB, NS_PER_S, derive_seed, mib
from drivelab.targets import Report, Target
from drivelab.workload import (
    BlockSize,
    Distribution,
    Job,
    Uniform,
    Zipf,
    ZipfTrue,
    Zone,
    ZonedScattered,
)

BLOCK_BYTES = 4 * KIB
QUEUE_DEPTH = 32
CAPACITIES, QUICK_CAPACITIES = 4, 1
"""User capacities that are written at each point."""
MEASURED = 0.5
"""What is written before the part that is measured."""
FILL_SHARE = 0.05
UNIFORM = "uniform"


@dataclass(frozen=True)
class Skewed:
    """One point: how offsets are drawn."""

    name: str
    distribution: Distribution


def _hot(access_percent: float, size_percent: float) -> ZonedScattered:
    """So many of the writes go to so much of the data, the rest to the rest."""
    hot = Zone(access_percent=access_percent, size_percent=size_percent)
    rest = Zone(access_percent=100 - access_percent, size_percent=100 - size_percent)
    return ZonedScattered(zones=(hot, rest))


SKEWED = (
    Skewed(UNIFORM, Uniform()),
    Skewed("zipf 0.8", ZipfTrue(theta=0.8)),
    Skewed("zipf 1.2", ZipfTrue(theta=1.2)),
    Skewed("fio zipf 1.2", Zipf(theta=1.2)),
    Skewed("80/20", _hot(80, 20)),
    Skewed("50 % cold", _hot(100, 50)),
    Skewed("80 % cold", _hot(100, 20)),
)
FEWER = tuple(point for point in SKEWED if point.name in (UNIFORM, "80/20", "80 % cold"))

COLUMNS = (
    Column("writes", "Writes"),
    Column("write_amplification", "Write amplification"),
    Column("last_quarter", "Of the last quarter alone"),
    Column("mib_per_s", "Random write", "MiB/s"),
    Column("iops", "Random write", "IOPS"),
    Column("times_uniform", "Speed, times that of uniform writes"),
)


@dataclass(frozen=True, kw_only=True)
class Skew(Study):
    """Random writes of several distributions, each on a copy of a full drive."""

    def fits(self, capacity_bytes: int) -> bool:
        """Whether a drive of this size has blocks enough for a fifth to be many."""
        return capacity_bytes >= 16 * MIB

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes."""
        points = self.points(SKEWED, FEWER, capacity_bytes, quick)
        return len(points) * _capacities(quick) * capacity_bytes / 20e9

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Fills a new drive, and runs every point on a copy of it."""
        user = target.capacity_bytes
        points = self.points(SKEWED, FEWER, user, quick)
        steady_writes.fill(target, user, seed, progress, FILL_SHARE)
        share = (1 - FILL_SHARE) / len(points)
        rows: list[dict[str, Any]] = []
        for point in points:
            report = target.clone().run([self._job(user, point, seed, quick)], progress, share)
            row = {"writes": point.name} | _last_part(report)
            uniform = rows[0]["mib_per_s"] if rows else row["mib_per_s"]
            times = row["mib_per_s"] / uniform if uniform and row["mib_per_s"] else None
            rows.append(row | {"times_uniform": times})
        charts = tuple(
            Chart("skew", title, "bars", "writes", key)
            for title, key in (
                ("Write amplification by skew", "write_amplification"),
                ("Random write by skew", "mib_per_s"),
            )
        )
        return Measured(
            user,
            values=_values(rows),
            tables=(Table("skew", "Random writes by skew", COLUMNS, tuple(rows)),),
            charts=charts,
            notes=self.cut_notes(user, quick),
        )

    def _job(self, user_bytes: int, point: Skewed, seed: int, quick: bool) -> Job:
        return Job(
            name=f"{self.id}-{point.name}",
            rw="randwrite",
            block_sizes=(BlockSize(bytes=BLOCK_BYTES),),
            span_bytes=user_bytes - user_bytes % BLOCK_BYTES,
            io_bytes=_capacities(quick) * user_bytes // BLOCK_BYTES * BLOCK_BYTES,
            queue_depth=QUEUE_DEPTH,
            distribution=point.distribution,
            data=parse_data_pattern(RANDOM),
            seed=derive_seed(seed, point.name),
        )

    @property
    def time_text(self) -> str:
        """How long it measures."""
        return f"{CAPACITIES} times over at each point"

    @property
    def data_text(self) -> str:
        """What is written."""
        return RANDOM


def _capacities(quick: bool) -> int:
    return QUICK_CAPACITIES if quick else CAPACITIES


def _last_part(report: Report) -> dict[str, Any]:
    """Numbers of the last half, and the write amplification of its second half alone."""
    written = report["jobs"][0]["write"]["series"]
    host = written["bytes"][_intervals(written["bytes"], MEASURED) : -1]
    seconds = len(host) * written["interval_ns"] / NS_PER_S
    rate = sum(host) / seconds if seconds else None
    return {
        "write_amplification": _amplification(report, MEASURED),
        "last_quarter": _amplification(report, (1 + MEASURED) / 2),
        "mib_per_s": mib(rate),
        "iops": None if rate is None else rate / BLOCK_BYTES,
    }


def _amplification(report: Report, share: float) -> float | None:
    """From where so much was written to the end; None where nobody counts what flash writes."""
    series = report.get("drive_series")
    if series is None:
        return None
    host, flash = series["host_write_bytes"], series["flash_program_bytes"]
    first = _intervals(host, share)
    return sum(flash[first:]) / sum(host[first:]) if sum(host[first:]) else None


def _intervals(host_bytes: Sequence[int], share: float) -> int:
    """Intervals until so much of all was written."""
    wanted, done = share * sum(host_bytes), 0
    for index, written in enumerate(host_bytes):
        if done >= wanted:
            return index
        done += written
    return len(host_bytes)


def _values(rows: Sequence[dict[str, Any]]) -> tuple[Value, ...]:
    by_name = {row["writes"]: row for row in rows}
    hot, cold = by_name["80/20"], by_name["80 % cold"]
    title = "Write amplification"
    return (
        Value(
            "uniform_amplification", f"{title}, uniform",
            by_name[UNIFORM]["write_amplification"], "", "lower",
        ),
        Value(
            "hot_amplification", f"{title}, 80 % of the writes to 20 % of the data",
            hot["write_amplification"], "", "lower",
        ),
        Value(
            "cold_amplification", f"{title}, 80 % of the data never written",
            cold["write_amplification"], "", "lower",
        ),
        Value(
            "hot_times", "Speed of 80/20, times uniform", hot["times_uniform"], "", "higher"
        ),
        Value(
            "cold_times", "Speed beside 80 % cold, times uniform", cold["times_uniform"], "",
            "higher",
        ),
    )  # fmt: skip


PROCEDURES = (
    Skew(
        id="skew",
        title="Skew study: random writes by zipf, to hot data, beside cold data",
        group="studies",
        states=("new",),
        begins_new=True,
        kinds=("flash",),
        extra_drives=1,
    ),
)
