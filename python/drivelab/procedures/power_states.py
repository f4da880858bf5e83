"""Power by what a drive does: idle, eight kinds of work, and idle again while it is still busy.

From the drive's own energy counter, each kind on a copy of a drive that has rested: sequential and
random reads and writes, one and 32 at a time. Then time passes after the writes: what a drive folds
and cleans in the background draws power while nothing is asked of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from drivelab.counters import energy_j, mean_w, spent
from drivelab.data_patterns import parse_data_pattern
from drivelab.procedures import outstanding, small_version
from drivelab.procedures.flow import flow
from drivelab.procedures.measured import Chart, Column, Measured, Table, Value
from drivelab.procedures.procedure import Procedure
from drivelab.procedures.stream import RANDOM
from drivelab.progress import TaskProgress
from drivelab.quantities import GB, KIB, MB, NS_PER_S, derive_seed
from drivelab.targets import Target
from drivelab.workload import BlockSize, Job

REST_S = 2 * 3600
"""Before anything: what the fill has left in a cache is folded."""
IDLE_S = 10
WORK_S, QUICK_WORK_S = 10, 2
"""Of each kind of work, the first quarter of which isn't measured."""
AFTER_S = (1, 2, 5, 10, 30, 60, 120)
"""Ends of the stretches of time that are measured after work."""
SAME = 0.01
"""Power within this part of the idle power is the idle power."""
SEQUENTIAL_BYTES, RANDOM_BYTES = 128 * KIB, 4 * KIB
Kind = Literal["read", "write", "randread", "randwrite"]
WORDS: dict[Kind, str] = {
    "read": "sequential read",
    "write": "sequential write",
    "randread": "random read",
    "randwrite": "random write",
}
QUEUE_DEPTHS = (1, 32)
SMALL = "it folds and cleans as much less after work, and is done with it sooner"


def idle_w(target: Target, duration_s: float) -> float | None:
    """Mean power while time passes; None where no power is known."""
    before = target.counters()
    target.idle(round(duration_s * NS_PER_S))
    joules = energy_j(spent(before, target.counters()))
    return None if joules is None else joules / duration_s


@dataclass(frozen=True, kw_only=True)
class PowerStates(Procedure):
    """Copies of a drive at work and afterwards."""

    def fits(self, capacity_bytes: int) -> bool:
        """Whether a drive of this size has places to choose from."""
        return capacity_bytes >= 256 * SEQUENTIAL_BYTES

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes."""
        return 8 * (QUICK_WORK_S if quick else WORK_S) / 180

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Lets a drive in the wanted state rest, and works on copies of it."""
        target.idle(REST_S * NS_PER_S)
        at_rest_w = idle_w(target, IDLE_S)
        rows: list[dict[str, Any]] = [_row("idle", 0, None, at_rest_w)]
        after: dict[str, list[float | None]] = {}
        for kind, words in WORDS.items():
            for depth in QUEUE_DEPTHS:
                copy = target.clone()
                rows.append(self._work(copy, (kind, depth), seed, quick, progress))
                if kind.endswith("write") and depth == QUEUE_DEPTHS[-1]:
                    after[words] = [idle_w(copy, end - begin) for begin, end in _stretches_s()]
        return _found(target, at_rest_w, rows, after)

    def _work(
        self,
        copy: Target,
        work: tuple[Kind, int],
        seed: int,
        quick: bool,
        progress: TaskProgress,
    ) -> dict[str, Any]:
        kind, depth = work
        seconds = QUICK_WORK_S if quick else WORK_S
        size = RANDOM_BYTES if kind.startswith("rand") else SEQUENTIAL_BYTES
        job = Job(
            name=f"{kind}-{depth}",
            rw=kind,
            block_sizes=(BlockSize(bytes=size),),
            span_bytes=copy.capacity_bytes // size * size,
            runtime_ns=seconds * NS_PER_S * 3 // 4,
            ramp_ns=seconds * NS_PER_S // 4,
            time_based=True,
            queue_depth=min(depth, copy.queue_depth),
            data=parse_data_pattern(RANDOM),
            seed=derive_seed(seed, kind, str(depth)),
        )
        report = copy.run([job], progress, 1 / (len(WORDS) * len(QUEUE_DEPTHS)))
        found = flow(report, "read" if kind.endswith("read") else "write")
        return _row(WORDS[kind], depth, found, mean_w(report))

    @property
    def time_text(self) -> str:
        """How long it measures."""
        return f"{WORK_S} s each, {AFTER_S[-1]} s after writes"

    @property
    def data_text(self) -> str:
        """What is written."""
        return RANDOM


def _stretches_s() -> Iterator[tuple[int, int]]:
    """Begins and ends of the stretches of time after work."""
    return pairwise((0, *AFTER_S))


def _row(
    state: str, depth: int, found: dict[str, Any] | None, watts: float | None
) -> dict[str, Any]:
    """What a drive does, how fast, at what power."""
    iops, mb_per_s = (found["iops"], found["mb_per_s"]) if found else (None, None)
    per_gb = watts * GB / (mb_per_s * MB) if watts is not None and mb_per_s else None
    return {
        "state": f"{state}, QD{depth}" if depth else state,
        "iops": iops,
        "mb_per_s": mb_per_s,
        "power_w": watts,
        "j_per_gb": per_gb,
    }


def _background(
    at_rest_w: float | None, watts: list[float | None]
) -> tuple[float | None, float | None]:
    """Energy beyond that of idling after work, and how long until there is none; None for a time
    that was longer than what was measured."""
    if at_rest_w is None:
        return None, None
    joules, until = 0.0, 0
    for (begin, end), found in zip(_stretches_s(), watts, strict=True):
        if found is not None and found > at_rest_w * (1 + SAME):
            joules, until = joules + (found - at_rest_w) * (end - begin), end
    return joules, float(until) if until < AFTER_S[-1] else None


def _found(
    target: Target,
    at_rest_w: float | None,
    rows: list[dict[str, Any]],
    after: dict[str, list[float | None]],
) -> Measured:
    """What the runs say."""
    watts = [row["power_w"] for row in rows if row["power_w"] is not None]
    beyond = "Beyond idling, in two minutes after random writes"
    joules, seconds = _background(at_rest_w, after[WORDS["randwrite"]])
    columns = (
        Column("state", "What the drive does"),
        Column("iops", "Requests per second", "IOPS"),
        Column("mb_per_s", "Throughput", "MB/s"),
        Column("power_w", "Mean power", "W"),
        Column("j_per_gb", "Energy of 10^9 bytes", "J/GB"),
    )
    later = (
        Column("work", "After"),
        Column("until_s", "Up to", "s"),
        Column("power_w", "Mean power since the last row", "W"),
    )
    later_rows = [
        {"work": words, "until_s": end, "power_w": found}
        for words, each in after.items()
        for end, found in zip(AFTER_S, each, strict=True)
    ]
    unknown = (
        "the model says nothing of what its parts draw (`power.*`): no watts, which is not none"
    )
    busy = (
        f"in the last stretch of the {AFTER_S[-1]} s after random writes the drive was still busy: "
        "when it idles is unknown"
    )
    return Measured(
        target.capacity_bytes,
        values=(
            Value("idle_w", "Idle", at_rest_w, "W", "lower"),
            Value("most_w", "Most of all kinds of work", max(watts, default=None), "W", "lower"),
            Value("background_j", beyond, joules, "J", "lower"),
            Value("background_s", "Until it idles after random writes", seconds, "s", "lower"),
        ),
        tables=(
            Table("states", "Power by what the drive does", columns, tuple(rows)),
            Table("after", "Power after work", later, tuple(later_rows)),
        ),
        notes=(
            *([unknown] if joules is None else [busy] if seconds is None else []),
            *outstanding.fewer(target, QUEUE_DEPTHS[-1]),
            *small_version.notes(target, SMALL),
        ),
        charts=(
            Chart("states", "Power by what the drive does", "bars", "state", "power_w"),
            Chart("after", "Power after work", "lines", "until_s", "power_w", "work", log_x=True),
        ),
    )


PROCEDURES = (
    PowerStates(
        id="power-states",
        title="Power states: idle, sequential and random reads and writes, QD1 and QD32, and after",
        group="power",
        states=("filled",),
        extra_drives=1,
    ),
)
