"""Reads beside paced writes: how long a read waits while the drive writes so much a second.

First the drive writes at random as fast as it can; then at 0, 10, 25, 50, 75 and 90 % of that, at
even distances, while another job reads at random, one at a time. Where every die is busy for the
share of time that the writes are of what it can do, that share of the reads meets a busy die and
waits: for the end of a program, or, where programs are suspended, for less. Every point starts from
a copy of the drive as it was prepared. A hard disk's arm does both, so its reads wait in line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.procedures import timed
from drivelab.procedures.flow import COLUMNS, flow
from drivelab.procedures.measured import Chart, Column, Measured, Table, Value
from drivelab.procedures.procedure import Procedure
from drivelab.procedures.stream import RANDOM, WRITTEN_STATES
from drivelab.progress import TaskProgress
from drivelab.quantities import derive_seed
from drivelab.targets import Report, Target
from drivelab.workload import Job

SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9)
"""Of the writes that the drive does a second when nothing holds them back."""
QUICK_SHARES = (0.0, 0.5, 0.9)
QUEUE_DEPTH = 32
"""Of the writes, at most."""
SATURATION_S, POINT_S = 30.0, 20.0
QUICK_SATURATION_S, QUICK_POINT_S = 5.0, 3.0
KEPT_UP = 0.95
"""Writes of a point in parts of those asked for: below it, the drive didn't keep up."""
KEYS = ("mean_ms", "p50_ms", "p99_ms", "p99_9_ms", "max_ms")


@dataclass(frozen=True, kw_only=True)
class PacedWrites(Procedure):
    """Reads one at a time, beside writes at several rates."""

    has_fixed_length = True

    def fits(self, capacity_bytes: int) -> bool:
        """Whether a drive of this size has places to choose from."""
        return timed.fits(capacity_bytes)

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes."""
        shares, saturation_s, point_s = _lengths(quick)
        return (saturation_s + len(shares) * point_s) / 180

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Finds the rate of saturation on a copy of the drive, and runs every point on another."""
        shares, saturation_s, point_s = _lengths(quick)
        part = 1 / (len(shares) + saturation_s / point_s)
        unpaced = self._writes(target, seed, saturation_s, None)
        unpaced = timed.in_moments(unpaced, saturation_s)
        found = target.clone().run([unpaced], progress, 1 - part * len(shares))
        saturation = float(flow(found, "write")["iops"] or 0.0)
        rows: list[dict[str, Any]] = []
        left_out: list[float] = []
        asked: list[int] = []
        for share in shares:
            rate = round(share * saturation)
            # A point without a write a second would be the first one.
            if share and not rate:
                left_out.append(share)
                continue
            asked.append(rate)
            jobs = [self._reads(target, seed, point_s)]
            if rate:
                jobs.append(self._writes(target, seed, point_s, rate))
            report = target.clone().run(jobs, progress, part)
            done = flow(report, "write", 1)["iops"] if rate else 0.0
            numbers = flow(report, "read")
            rates = {"writes_per_s": done, "reads_per_s": numbers["iops"]}
            row = {"share_percent": 100 * share, **rates}
            rows.append(row | {key: numbers[key] for key in KEYS})
        columns = (
            Column("share_percent", "Writes, of saturation", "%"),
            Column("writes_per_s", "Writes per second", "IOPS"),
            Column("reads_per_s", "Reads per second", "IOPS"),
            *(COLUMNS[key] for key in KEYS),
        )
        charts = tuple(
            Chart("rates", title, "lines", "share_percent", key, log_y=True)
            for title, key in (
                ("Median read latency by write rate", "p50_ms"),
                ("99 % read latency by write rate", "p99_ms"),
            )
        )
        title = "Random reads beside paced random writes"
        return Measured(
            target.capacity_bytes,
            values=_values(rows, saturation),
            tables=(Table("rates", title, columns, tuple(rows)),),
            charts=charts,
            notes=(
                # Where a tenth of the writes is less than one a second, thirds of them say nothing.
                *(_unsettled(found) if not left_out else ()),
                *_behind(rows, asked, point_s * (1 - timed.RAMP_SHARE)),
                *(
                    f"no point at {100 * share:.0f} % of saturation: {saturation:.3g} writes a "
                    "second are too few, a rate is 1 a second at least"
                    for share in left_out
                ),
            ),
        )

    def _reads(self, target: Target, seed: int, seconds: float) -> Job:
        return timed.job(
            f"{self.id}-reads", "randread", target, derive_seed(seed, "reads"), seconds
        )

    def _writes(self, target: Target, seed: int, seconds: float, rate: int | None) -> Job:
        job = timed.job(
            f"{self.id}-writes", "randwrite", target, derive_seed(seed, "writes"), seconds
        )
        depth = max(1, min(QUEUE_DEPTH, target.queue_depth - 1))
        return job.model_copy(update={"queue_depth": depth, "rate_iops": rate})

    @property
    def time_text(self) -> str:
        """How long it measures."""
        return f"{POINT_S:.0f} s a rate"

    @property
    def data_text(self) -> str:
        """What is written or read."""
        return RANDOM


def _lengths(quick: bool) -> tuple[Sequence[float], float, float]:
    if quick:
        return QUICK_SHARES, QUICK_SATURATION_S, QUICK_POINT_S
    return SHARES, SATURATION_S, POINT_S


def _unsettled(report: Report) -> tuple[str, ...]:
    """Why the writes at saturation aren't what a drive can do for long."""
    why = timed.unsettled(report)
    rest = "saturation is not what remains (`consistency`), nor are rates shares of that"
    return (f"{why}: {rest}",) if why else ()


def _behind(
    rows: Sequence[dict[str, Any]], asked: Sequence[int], measured_s: float
) -> Iterator[str]:
    """Of the points whose writes the drive didn't keep up with, what they are; `asked` are writes a
    second. One more may be under way at the end."""
    for row, rate in zip(rows, asked, strict=True):
        done = row["writes_per_s"] or 0.0
        if done * measured_s < KEPT_UP * rate * measured_s - 1:
            yield (
                f"at {row['share_percent']:.0f} % of saturation the drive did {done:.0f} writes a "
                f"second of {rate}: latencies there are those of a drive that doesn't keep up"
            )


def _values(rows: Sequence[dict[str, Any]], saturation: float) -> tuple[Value, ...]:
    by_share = {row["share_percent"]: row for row in rows}
    nothing: dict[str, Any] = dict.fromkeys(KEYS)
    alone = by_share[0.0]
    # A drive that does hardly a write a second has no such point.
    half, last = by_share.get(50.0, nothing), by_share.get(90.0, nothing)
    times = half["mean_ms"] / alone["mean_ms"] if alone["mean_ms"] and half["mean_ms"] else None
    return (
        Value("saturation_iops", "Random writes at saturation", saturation, "IOPS", "higher"),
        Value("alone_p99_ms", "99 % latency of reads alone", alone["p99_ms"], "ms", "lower"),
        Value("half_p99_ms", "99 % latency at half saturation", half["p99_ms"], "ms", "lower"),
        Value("last_p99_ms", "99 % latency at nine tenths of it", last["p99_ms"], "ms", "lower"),
        Value("half_mean_times", "Mean at half saturation, times alone", times, "", "lower"),
    )


PROCEDURES = (
    PacedWrites(
        id="paced-writes",
        title="4 KiB random read, QD1, beside random writes at 0 to 90 % of saturation",
        group="sweeps",
        states=WRITTEN_STATES,
        extra_drives=1,
    ),
)
