"""Consistency: random writes on a full drive, second by second.

4 KiB at queue depth 32 all over the drive, for half an hour or until the drive was written over one
and a half times, as reviews look at how a drive keeps its pace [AT]. The first part is what
follows a fill: full speed until the spare area is used up, a trough where cleaning begins on blocks
that are all nearly full, a rise as they all empty together. The last third says how even the pace
is that remains, where the drive was written once over (a note says where not): seconds, not means,
are what somebody waits for.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.counters import program_bytes
from drivelab.data_patterns import parse_data_pattern
from drivelab.procedures import outstanding, small_version
from drivelab.procedures.flow import flow, longest_of_buckets
from drivelab.procedures.measured import Chart, Column, Measured, Table, Value
from drivelab.procedures.pace import FALLEN, FULL_SPEED, TOGETHER, held_seconds
from drivelab.procedures.procedure import Procedure
from drivelab.procedures.stream import RANDOM
from drivelab.progress import TaskProgress
from drivelab.quantities import GIB, KIB, NS_PER_MS, NS_PER_S, derive_seed
from drivelab.targets import Target
from drivelab.workload import BlockSize, Job

BLOCK_BYTES = 4 * KIB
QUEUE_DEPTH = 32
LENGTH_S, QUICK_LENGTH_S = 1800, 60
WRITTEN_MAX = 1.5
"""User capacities that are written at most."""
LAST_SHARE = 1 / 3
"""The part at the end whose evenness is judged."""
WRITTEN_OVER = 1.0
"""User capacities after which the last third is taken for what remains. Cleaning has gone once
through all blocks by then; e^-1 of the fill's pages are valid still, but in blocks with others."""
SMALL = "what lasts minutes on the drive lasts seconds on it, and a second is coarse"


@dataclass(frozen=True, kw_only=True)
class Consistency(Procedure):
    """Random writes, and what each second of them brought."""

    def fits(self, capacity_bytes: int) -> bool:
        """Whether a drive of this size has places to choose from."""
        return capacity_bytes >= 256 * BLOCK_BYTES

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes."""
        return (QUICK_LENGTH_S if quick else LENGTH_S) / 180

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Writes on a drive that is in the wanted state."""
        capacity = target.capacity_bytes
        job = Job(
            name=self.id,
            rw="randwrite",
            block_sizes=(BlockSize(bytes=BLOCK_BYTES),),
            span_bytes=capacity - capacity % BLOCK_BYTES,
            io_bytes=int(WRITTEN_MAX * capacity) // BLOCK_BYTES * BLOCK_BYTES,
            runtime_ns=(QUICK_LENGTH_S if quick else LENGTH_S) * NS_PER_S,
            queue_depth=min(QUEUE_DEPTH, target.queue_depth),
            data=parse_data_pattern(RANDOM),
            seed=derive_seed(seed, "writes"),
            series_interval_ns=NS_PER_S,
        )
        report = target.run([job], progress)
        rows = seconds_of(report["jobs"][0]["write"]["series"])
        longest = flow(report, "write")["max_ms"]
        written = report["jobs"][0]["write"]["bytes"]
        unfinished = _not_written_over(rows, written / capacity, target)
        columns = (
            Column("second", "Time", "s"),
            Column("iops", "Random write", "IOPS"),
            Column("mean_ms", "Mean latency", "ms"),
            Column("p99_ms", "99 % latency", "ms"),
            Column("max_ms", "Longest latency", "ms"),
        )
        return Measured(
            capacity,
            values=(*_after_fill(rows), *_even(rows, longest)),
            notes=(
                *unfinished,
                *_without_trough(rows, said=bool(unfinished)),
                *_ended_early(rows, written >= job.io_bytes, quick),
                *outstanding.fewer(target, QUEUE_DEPTH),
                *small_version.notes(target, SMALL),
            ),
            tables=(Table("seconds", "Random writes by the second", columns, tuple(rows)),),
            charts=(
                Chart("seconds", "Random writes by the second", "lines", "second", "iops"),
                Chart("seconds", "99 % latency by the second", "lines", "second", "p99_ms"),
            ),
        )

    @property
    def time_text(self) -> str:
        """How long it measures."""
        return f"{LENGTH_S // 60} min, or {WRITTEN_MAX:g} times over"

    @property
    def data_text(self) -> str:
        """What is written."""
        return RANDOM


def seconds_of(series: Any) -> list[dict[str, Any]]:
    """A row for every whole second; what comes after the last one is left out."""
    longest = longest_of_buckets(series)
    rows = [
        {
            "second": index + 1,
            "iops": ios * NS_PER_S / series["interval_ns"],
            "mean_ms": series["latency_mean_ns"][index] / NS_PER_MS if ios else None,
            "p99_ms": series["latency_p99_ns"][index] / NS_PER_MS if ios else None,
            "max_ms": None if (ns := longest[index]) is None else ns / NS_PER_MS,
        }
        for index, ios in enumerate(series["ios"])
    ]
    return rows[:-1] if len(rows) > 1 else rows


def _fall(rows: Sequence[dict[str, Any]]) -> tuple[list[float], int | None]:
    """Requests of every second, and the seconds before the speed fell; None: it didn't."""
    iops = [float(row["iops"]) for row in rows]
    return iops, held_seconds(iops)


def _trough(iops: Sequence[float]) -> tuple[float | None, float | None]:
    """The slowest of so many seconds together, and the fastest that follow them; None: too few."""
    means = [
        statistics.fmean(iops[first : first + TOGETHER])
        for first in range(len(iops) - TOGETHER + 1)
    ]
    if not means:
        return None, None
    lowest = means.index(min(means))
    return means[lowest], max(means[lowest + TOGETHER :], default=None)


def _after_fill(rows: Sequence[dict[str, Any]]) -> tuple[Value, ...]:
    """What the spare area lasts for, the trough behind it, and what follows that."""
    iops, held = _fall(rows)
    first = statistics.fmean(iops[:held][:TOGETHER])
    written = trough = overshoot = None
    if held is not None:
        written = sum(iops[:held]) * BLOCK_BYTES / GIB
        trough, overshoot = _trough(iops[held:])
    return (
        Value("first_iops", "At first", first, "IOPS", "higher"),
        Value("full_speed_gib", "Written in seconds of that speed", written, "GiB", "higher"),
        Value("trough_iops", f"Trough: slowest {TOGETHER} s", trough, "IOPS", "higher"),
        Value("overshoot_iops", f"Fastest {TOGETHER} s after it", overshoot, "IOPS", "higher"),
    )


def _not_written_over(
    rows: Sequence[dict[str, Any]], written: float, target: Target
) -> tuple[str, ...]:
    """Why the last third of flash is not the pace that remains; `written` in capacities."""
    if program_bytes(target.counters()) is None or written >= WRITTEN_OVER:
        return ()
    _, held = _fall(rows)
    told = f"the time was over when {100 * written:.1f} % of the drive were written"
    if held is None:
        return (f"{told}: the speed has not fallen yet, and the last third is not what remains",)
    if held > len(rows) - _last(rows):
        return (f"{told}: the speed fell within the last third, which is partly what was before",)
    return (f"{told}: cleaning still meets what the fill has left, and the pace may change",)


def _without_trough(rows: Sequence[dict[str, Any]], said: bool) -> tuple[str, ...]:
    """Why values of the first part are missing; `said`: a note on the last third is there, which
    says so where the speed never fell."""
    iops, held = _fall(rows)
    if held is None:
        never = (
            f"no {FALLEN} s together were slower than {FULL_SPEED:g} of the first seconds' speed"
        )
        return () if said else (f"{never}: there is no trough",)
    trough, overshoot = _trough(iops[held:])
    if trough is None:
        left = len(rows) - held
        return (f"the speed fell {left} s before the end: too late for a trough of {TOGETHER} s",)
    if overshoot is None:
        return (f"fewer than {TOGETHER} s follow the trough: too few for what comes after it",)
    return ()


def _ended_early(rows: Sequence[dict[str, Any]], is_written: bool, quick: bool) -> tuple[str, ...]:
    """That not time ended the test: another drive was looked at for longer, or more seldom over."""
    if not is_written:
        return ()
    length_s = QUICK_LENGTH_S if quick else LENGTH_S
    return (
        f"the drive was written {WRITTEN_MAX:g} times over in {len(rows)} of {length_s} s, which "
        f"ended the test: its last third is {_last(rows)} s",
    )


def _last(rows: Sequence[dict[str, Any]]) -> int:
    """Seconds of the last third."""
    return max(2, int(len(rows) * LAST_SHARE))


def _even(rows: Sequence[dict[str, Any]], longest_ms: float | int | None) -> tuple[Value, ...]:
    """The pace of the last third."""
    last = [float(row["iops"]) for row in rows[-_last(rows) :]]
    mean = statistics.fmean(last)
    least = 100 * min(last) / mean if mean else None
    spread = 100 * statistics.pstdev(last) / mean if mean else None
    return (
        Value("last_iops", "Last third", mean, "IOPS", "higher"),
        Value("least_percent", "Its slowest second, of its mean", least, "%", "higher"),
        Value("spread_percent", "Standard deviation of its seconds", spread, "%", "lower"),
        Value("longest_ms", "Longest latency of all", longest_ms, "ms", "lower"),
    )


PROCEDURES = (
    Consistency(
        id="consistency",
        title="Consistency: 4 KiB random write, QD32, by the second",
        group="sweeps",
        states=("filled",),
    ),
)
