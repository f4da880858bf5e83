"""The default tests of CrystalDiskMark and KDiskMark, by their own names.

A file of 1 GiB at the start of the drive is written with random data, as the programs do first.
Then each test reads five times for 5 s and, when all have read, writes five times for 5 s; the
result is the fastest of the five. Five seconds of rest lie between tests, MB are 10^6 bytes
[TOOLS]. SEQ1M is sequential in blocks of 1 MiB, RND4K random in 4 KiB; Q is the queue depth, T how
many threads have such a queue, each with a share of the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from drivelab.data_patterns import parse_data_pattern
from drivelab.procedures import outstanding
from drivelab.procedures.measured import Chart, Column, Measured, Table, Value
from drivelab.procedures.procedure import Procedure
from drivelab.procedures.stream import RANDOM
from drivelab.progress import TaskProgress
from drivelab.quantities import GIB, KIB, MB, MIB, NS_PER_MS, NS_PER_S, derive_seed
from drivelab.targets import Report, Target
from drivelab.workload import BlockSize, Job, Rw

FILE_BYTES = GIB
RUNS, RUN_S = 5, 5.0
QUICK_RUNS, QUICK_RUN_S = 2, 1.0
QUICK_TEXT = (
    f"the fastest of {QUICK_RUNS} runs of {QUICK_RUN_S:g} s, not of {RUNS} of {RUN_S:g} s: of "
    "less, what a write buffer takes is a larger part"
)
REST_S = 5.0

Direction = Literal["read", "write"]
DIRECTIONS: tuple[Direction, ...] = ("read", "write")

COLUMNS = (
    Column("test", "Test"),
    Column("direction", "Direction"),
    Column("mb_per_s", "Throughput", "MB/s"),
    Column("iops", "Requests per second", "IOPS"),
    Column("mean_ms", "Mean latency", "ms"),
    Column("max_ms", "Longest latency", "ms"),
)


@dataclass(frozen=True)
class Line:
    """One line of the program's window."""

    block_bytes: int
    random: bool
    queue_depth: int
    thread_count: int = 1

    @property
    def name(self) -> str:
        """As the program prints it: SEQ1M Q8T1."""
        size = (
            f"{self.block_bytes // MIB}M"
            if self.block_bytes >= MIB
            else f"{self.block_bytes // KIB}K"
        )
        order = "RND" if self.random else "SEQ"
        return f"{order}{size} Q{self.queue_depth}T{self.thread_count}"

    @property
    def key(self) -> str:
        """The same in the names of values: seq1m_q8t1."""
        return self.name.lower().replace(" ", "_")


DEFAULT = (
    Line(MIB, random=False, queue_depth=8),
    Line(MIB, random=False, queue_depth=1),
    Line(4 * KIB, random=True, queue_depth=32),
    Line(4 * KIB, random=True, queue_depth=1),
)
NVME = (
    Line(MIB, random=False, queue_depth=8),
    Line(128 * KIB, random=False, queue_depth=32),
    Line(4 * KIB, random=True, queue_depth=32, thread_count=16),
    Line(4 * KIB, random=True, queue_depth=1),
)


@dataclass(frozen=True, kw_only=True)
class DiskMark(Procedure):
    """All lines of the window, reading and writing."""

    has_fixed_length = True

    lines: tuple[Line, ...]

    def fits(self, capacity_bytes: int) -> bool:
        """Whether a drive of this size has room for a block of every thread."""
        return capacity_bytes >= 64 * MIB

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes."""
        seconds = QUICK_RUNS * QUICK_RUN_S if quick else RUNS * RUN_S
        return 2 * len(self.lines) * seconds / 180

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Runs all lines in the program's order on a drive that is in the wanted state."""
        size = min(FILE_BYTES, target.capacity_bytes)
        size -= size % MIB
        target.run([_file(size, seed)], progress, 0.1)
        share = 0.9 / (len(self.lines) * len(DIRECTIONS))
        rows = []
        for direction in DIRECTIONS:
            for line in self.lines:
                target.idle(round(REST_S * NS_PER_S))
                rows.append(_fastest(target, line, direction, size, seed, quick, progress, share))
        deepest = max(line.queue_depth * line.thread_count for line in self.lines)
        return Measured(
            size,
            values=_values(self.lines, rows),
            tables=(Table("lines", "Fastest run of each test", COLUMNS, tuple(rows)),),
            charts=(
                Chart(*("lines", "Throughput by test", "bars"), *("test", "mb_per_s", "direction")),
            ),
            notes=outstanding.waiting(target, deepest),
        )

    @property
    def span_text(self) -> str:
        """Part of the drive that it uses."""
        return f"{FILE_BYTES // GIB} GiB"

    @property
    def time_text(self) -> str:
        """How long it measures."""
        return f"{RUNS} x {RUN_S:.0f} s a line"

    @property
    def data_text(self) -> str:
        """What is written or read."""
        return f"{RANDOM}, written first"


def _file(size: int, seed: int) -> Job:
    return Job(
        name="file",
        rw="write",
        block_sizes=(BlockSize(bytes=MIB),),
        span_bytes=size,
        queue_depth=1,
        data=parse_data_pattern(RANDOM),
        seed=derive_seed(seed, "file"),
    )


def _fastest(
    target: Target,
    line: Line,
    direction: Direction,
    size: int,
    seed: int,
    quick: bool,
    progress: TaskProgress,
    share: float,
) -> dict[str, Any]:
    """The row of the run that moved most bytes a second."""
    count = QUICK_RUNS if quick else RUNS
    runs = [
        _numbers(
            target.run(_jobs(line, direction, size, seed, run, quick), progress, share / count)
        )
        for run in range(count)
    ]
    best = max(runs, key=lambda numbers: float(numbers["mb_per_s"]))
    return {"test": line.name, "direction": direction} | best


def _jobs(
    line: Line, direction: Direction, size: int, seed: int, run: int, quick: bool
) -> list[Job]:
    rw: Rw = direction
    if line.random:
        rw = "randread" if direction == "read" else "randwrite"
    part = size // line.thread_count
    part -= part % line.block_bytes
    return [
        Job(
            name=f"{line.key}-{direction}-{thread}",
            rw=rw,
            block_sizes=(BlockSize(bytes=line.block_bytes),),
            offset_bytes=thread * part,
            span_bytes=part,
            queue_depth=line.queue_depth,
            runtime_ns=round((QUICK_RUN_S if quick else RUN_S) * NS_PER_S),
            time_based=True,
            data=parse_data_pattern(RANDOM),
            seed=derive_seed(seed, line.key, direction, str(run), str(thread)),
        )
        for thread in range(line.thread_count)
    ]


def _numbers(report: Report) -> dict[str, Any]:
    """Throughput and latency of all threads together."""
    parts = [part for job in report["jobs"] for part in job.values() if _moved(part)]
    seconds = max(part["runtime_ns"] for part in parts) / NS_PER_S
    ios = sum(part["ios"] for part in parts)
    return {
        "mb_per_s": sum(part["bytes"] for part in parts) / seconds / MB,
        "iops": ios / seconds,
        "mean_ms": sum(p["latency_ns"]["mean"] * p["ios"] for p in parts) / ios / NS_PER_MS,
        "max_ms": max(part["latency_ns"]["max"] for part in parts) / NS_PER_MS,
    }


def _moved(part: Any) -> bool:
    return isinstance(part, dict) and bool(part.get("ios")) and bool(part.get("latency_ns"))


def _values(lines: Sequence[Line], rows: Sequence[dict[str, Any]]) -> tuple[Value, ...]:
    found = {(row["test"], row["direction"]): row["mb_per_s"] for row in rows}
    return tuple(
        Value(
            f"{line.key}_{direction}_mb_per_s",
            f"{line.name} {direction}",
            found[line.name, direction],
            "MB/s",
            "higher",
        )
        for line in lines
        for direction in DIRECTIONS
    )


def _preset(test_id: str, title: str, lines: tuple[Line, ...]) -> DiskMark:
    return DiskMark(id=test_id, title=title, group="presets", lines=lines, quick_text=QUICK_TEXT)


PROCEDURES = (
    _preset("kdiskmark", "KDiskMark, default: SEQ1M Q8T1 and Q1T1, RND4K Q32T1 and Q1T1", DEFAULT),
    _preset(
        "crystaldiskmark",
        "CrystalDiskMark, default: SEQ1M Q8T1 and Q1T1, RND4K Q32T1 and Q1T1",
        DEFAULT,
    ),
    _preset(
        "kdiskmark-nvme",
        "KDiskMark, NVMe: SEQ1M Q8T1, SEQ128K Q32T1, RND4K Q32T16 and Q1T1",
        NVME,
    ),
    _preset(
        "crystaldiskmark-nvme",
        "CrystalDiskMark, NVMe: SEQ1M Q8T1, SEQ128K Q32T1, RND4K Q32T16 and Q1T1",
        NVME,
    ),
)
