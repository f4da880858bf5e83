"""Random reads over a growing span: how much of its map a drive has at hand.

A drive without memory for its whole map looks entries up in its host's memory, or reads them from
flash first. Reads of 4 KiB at random, one at a time, are measured over spans from 16 MiB to the
whole drive, each four times the one before. Of a drive whose map is in memory the line is flat;
otherwise it rises where the span is larger than what is mapped, by the share that is not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.procedures.flow import COLUMNS, flow
from drivelab.procedures.measured import Chart, Column, Measured, Table, Value
from drivelab.procedures.procedure import Procedure
from drivelab.procedures.stream import WRITTEN_STATES
from drivelab.progress import TaskProgress
from drivelab.quantities import GIB, KIB, MIB, derive_seed
from drivelab.targets import Target
from drivelab.workload import BlockSize, Job

BLOCK_BYTES = 4 * KIB
FIRST_BYTES = 16 * MIB
FACTOR = 4
READS = 20_000
"""Reads that are measured over each span, after as many at least that bring its map."""
QUICK_READS = 2_000
READS_A_LINE = 3
"""Reads for each line of the map that memory holds: of so many a twentieth is left cold (e^-3)."""
MEMORY_KEYS = ("ftl.map_cache_bytes", "ftl.host_memory_bytes")
KEYS = ("iops", "mean_ms", "p50_ms", "p99_ms", "max_ms")


def spans_on(capacity_bytes: int) -> list[int]:
    """Bytes of the spans on a drive of this size; the last is the whole drive."""
    found = []
    span = FIRST_BYTES
    while span < capacity_bytes:
        found.append(span)
        span *= FACTOR
    return [*found, capacity_bytes]


def reads_before(target: Target) -> int:
    """Reads that bring what a drive keeps of its map, of a quick review, too: what isn't there yet
    would look like what doesn't fit. An array's members aren't asked for theirs."""
    memory_bytes = sum(target.parameter(key) or 0 for key in MEMORY_KEYS)
    line_bytes = target.parameter("ftl.map_fetch_bytes") or target.parameter("flash.page_bytes")
    return max(READS, math.ceil(READS_A_LINE * memory_bytes / line_bytes) if line_bytes else 0)


@dataclass(frozen=True, kw_only=True)
class ReadSpan(Procedure):
    """Random reads over every span, in ascending order."""

    has_fixed_length = True

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes."""
        return len(spans_on(capacity_bytes)) * (0.011 if quick else 0.02)

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Runs the sweep on a drive that is in the wanted state."""
        spans = spans_on(target.capacity_bytes)
        reads = QUICK_READS if quick else READS
        before = reads_before(target)
        rows: list[dict[str, Any]] = []
        each = 1 / (before + reads) / len(spans)
        for span in spans:
            target.run([_job(self.id, span, before, seed, "before")], progress, before * each)
            job = _job(self.id, span, reads, seed, "measured")
            report = target.run([job], progress, reads * each)
            numbers = flow(report, "read")
            rows.append({"span_gib": span / GIB} | {key: numbers[key] for key in KEYS})
        columns = (Column("span_gib", "Span", "GiB"), *(COLUMNS[key] for key in KEYS))
        chart = Chart("spans", "Latency by span", "lines", "span_gib", "mean_ms", log_x=True)
        return Measured(
            target.capacity_bytes,
            values=_values(rows),
            tables=(Table("spans", "Random reads by span", columns, tuple(rows)),),
            charts=(chart,),
        )

    @property
    def span_text(self) -> str:
        """Part of the drive that it uses."""
        return f"{FIRST_BYTES // MIB} MiB to all"

    @property
    def time_text(self) -> str:
        """How long it measures."""
        return f"{READS} reads each"


def _job(name: str, span: int, reads: int, seed: int, part: str) -> Job:
    return Job(
        name=name,
        rw="randread",
        block_sizes=(BlockSize(bytes=BLOCK_BYTES),),
        span_bytes=span - span % BLOCK_BYTES,
        io_bytes=reads * BLOCK_BYTES,
        seed=derive_seed(seed, str(span), part),
    )


def _values(rows: Sequence[dict[str, Any]]) -> tuple[Value, ...]:
    first, last = float(rows[0]["mean_ms"]), float(rows[-1]["mean_ms"])
    more = 100 * (last / first - 1)
    return (
        Value("smallest_span_ms", "Mean latency over the smallest span", first, "ms", "lower"),
        Value("whole_drive_ms", "Mean latency over the whole drive", last, "ms", "lower"),
        Value("more_percent", "More over the whole drive", more, "%", "lower"),
    )


PROCEDURES = (
    ReadSpan(
        id="read-span",
        title="4 KiB random read over a growing span, QD1",
        group="sweeps",
        states=WRITTEN_STATES[:1],
        kinds=("flash",),
    ),
)
