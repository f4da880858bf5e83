"""Reads beside paced writes: how long a read waits while the drive writes so much a second.

First the drive writes at random as fast as it can; then at 0, 10, 25, 50, 75 and 90 % of that, at
even distances, while another job reads at random, one at a time. Where every die is busy for the
share of time that the writes are of what it can do, that share of the reads meets a busy die and
waits: for the end of a program, or, where programs are suspended, for less. Every point starts from
a copy of the drive as it was prepared. A hard disk's arm does both, so its reads wait in line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.counters import program_bytes, spent_in
from drivelab.procedures import timed
from drivelab.procedures.flow import COLUMNS, flow
from drivelab.procedures.measured import Chart, Column, Measured, Table, Value
from drivelab.procedures.procedure import Procedure
from drivelab.procedures.stream import RANDOM, WRITTEN_STATES
from drivelab.progress import TaskProgress
from drivelab.quantities import NS_PER_S, derive_seed
from drivelab.targets import Report, Target
from drivelab.workload import Job

SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9)
"""Of the writes that the drive does a second when nothing holds them back."""
QUICK_SHARES = (0.0, 0.5, 0.9)
QUEUE_DEPTH = 32
"""Of the writes, at most."""
SATURATION_S, POINT_S = 30.0, 20.0
QUICK_SATURATION_S, QUICK_POINT_S = 5.0, 3.0
MOMENTS = 40
"""Of the time at saturation, by which it is seen to get slower."""
FALLEN = 0.8
"""Writes of the last third in parts of the first third's, or free blocks after in parts of those
before: below it, the writes were not what remains. Thirds of 5 s are uneven by a tenth and more."""
KEYS = ("mean_ms", "p50_ms", "p99_ms", "p99_9_ms", "max_ms")


@dataclass(frozen=True, kw_only=True)
class PacedWrites(Procedure):
    """Reads one at a time, beside writes at several rates."""

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
        moment_ns = round(saturation_s * NS_PER_S / MOMENTS)
        unpaced = unpaced.model_copy(update={"series_interval_ns": moment_ns})
        found = target.clone().run([unpaced], progress, 1 - part * len(shares))
        saturation = float(flow(found, "write")["iops"] or 0.0)
        rows: list[dict[str, Any]] = []
        left_out: list[float] = []
        for share in shares:
            rate = round(share * saturation)
            # A point without a write a second would be the first one.
            if share and not rate:
                left_out.append(share)
                continue
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
                *(_saturation_remarks(found) if not left_out else ()),
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


def _saturation_remarks(report: Report) -> tuple[str, ...]:
    """Why the writes at saturation aren't what a drive of flash can do for long."""
    used = spent_in(report)
    if not program_bytes(used):
        return ()
    rest = "saturation is not what remains (`consistency`), nor are rates shares of that"
    if not sum(used.get(f"program_bytes_{purpose}", 0) for purpose in ("cleaning", "folding")):
        return (f"nothing was cleaned or folded while the drive was saturated: {rest}",)
    # The last moment is cut off by the end of the time.
    ios = report["jobs"][0]["write"]["series"]["ios"][:-1]
    third = len(ios) // 3
    if third and sum(ios[-third:]) < FALLEN * sum(ios[:third]):
        percent = 100 * sum(ios[-third:]) / sum(ios[:third])
        return (f"the last third of the time had {percent:.0f} % of the first's writes: {rest}",)
    free = [report[key].get("free_blocks", 0) for key in ("counters_before", "counters_after")]
    if free[1] < FALLEN * free[0]:
        return (f"of {free[0]} free blocks {free[1]} were left after saturation: {rest}",)
    return ()


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
