"""What studies of zones share: where commands write, and what a stretch of them costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drivelab.counters import spent_in, write_amplification
from drivelab.data_patterns import parse_data_pattern
from drivelab.procedures import small_version
from drivelab.procedures.flow import COLUMNS, flow
from drivelab.procedures.measured import Chart, Column, Measured, Table, Value
from drivelab.procedures.stream import RANDOM
from drivelab.procedures.study import Study
from drivelab.progress import TaskProgress
from drivelab.quantities import KIB, SECTOR_BYTES, derive_seed
from drivelab.targets import Target
from drivelab.workload import WRITE, Job, Recorded, Requests

BLOCK_BYTES = 512 * KIB
"""Of a write command; zones are written one command after the other."""
SETTLING, MEASURED = 1.5, 1.0
"""User capacities that are written before anything is measured, and then."""
QUICK_SETTLING, QUICK_MEASURED = 0.5, 0.25
SMALL = "its zones are as much smaller, its blocks are not, so zones share more of them"
KEYS = ("mib_per_s", "mean_ms", "max_ms")
"""Columns of a row beside its write amplification."""


def parts(quick: bool) -> tuple[float, float]:
    """User capacities before anything is measured, and then."""
    return (QUICK_SETTLING, QUICK_MEASURED) if quick else (SETTLING, MEASURED)


@dataclass(frozen=True, kw_only=True)
class ZoneStudy(Study):
    """A study whose points are zones written in some order, each on a copy of a full drive."""

    def row(
        self,
        target: Target,
        point: str,
        stretches: tuple[NDArray[np.int64], NDArray[np.int64]],
        seed: int,
        progress: TaskProgress,
        share: float,
    ) -> dict[str, Any]:
        """What the second stretch of commands costs; both say where each writes, in bytes."""
        job = Job(
            name=f"{self.id}-{point}",
            source=Recorded(pacing="closed"),
            data=parse_data_pattern(RANDOM),
            seed=derive_seed(seed, "data"),
        )
        count = sum(map(len, stretches))
        for places in stretches:
            requests = requests_at(places)
            report = target.run_requests(job, requests, progress, share * len(places) / count)
        numbers = flow(report, "write")
        return {
            "write_amplification": write_amplification(spent_in(report)),
            **{key: numbers[key] for key in KEYS},
        }

    def measured(
        self,
        target: Target,
        table: tuple[str, str, Column],
        by: str,
        rows: Sequence[dict[str, Any]],
        values: tuple[Value, ...],
        quick: bool,
        notes: tuple[str, ...] = (),
    ) -> Measured:
        """What the study found: name, title and first column of its table, and in words what the
        curves are drawn over."""
        name, title, first = table
        columns = (
            first,
            Column("write_amplification", "Write amplification"),
            *(COLUMNS[key] for key in KEYS),
        )
        curves = (
            ("Write amplification", "write_amplification"),
            ("Throughput", "mib_per_s"),
        )
        return Measured(
            target.capacity_bytes,
            values=values,
            tables=(Table(name, title, columns, tuple(rows)),),
            charts=tuple(
                Chart(name, f"{what} by {by}", "lines", first.key, key, log_x=True)
                for what, key in curves
            ),
            notes=(
                *notes,
                *small_version.notes(target, SMALL),
                *self.cut_notes(target.capacity_bytes, quick),
            ),
        )

    @property
    def data_text(self) -> str:
        """What is written."""
        return RANDOM


def drawn(order: np.random.Generator, count: int, zones: int) -> NDArray[np.int64]:
    """Zones drawn at random, each of so many as often as any other. Only uniform doubles are
    drawn: their stream is the part of numpy that doesn't change."""
    return (order.random(count) * zones).astype(np.int64)


def places_of(
    zones: NDArray[np.int64], zone_bytes: int, block_bytes: int = BLOCK_BYTES
) -> NDArray[np.int64]:
    """Where the commands write that write these zones in order, in bytes."""
    starts = np.arange(0, zone_bytes, block_bytes)
    return np.asarray((zones[:, None] * zone_bytes + starts).ravel(), dtype=np.int64)


def requests_at(places: NDArray[np.int64], block_bytes: int = BLOCK_BYTES) -> Requests:
    """Writes of `block_bytes` at these places."""
    return Requests(
        op=np.full(len(places), WRITE, dtype=np.uint8),
        lba=(places // SECTOR_BYTES).astype(np.uint64),
        sector_count=np.full(len(places), block_bytes // SECTOR_BYTES, dtype=np.uint32),
        arrival_ns=np.zeros(len(places), dtype=np.uint64),
    )
