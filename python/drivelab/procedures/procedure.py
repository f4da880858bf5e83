"""What every test of the laboratory has: its identity, its workload, its duration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from drivelab.quantities import NS_PER_S, SECTOR_BYTES
from drivelab.workload import BlockSize, Job, Rw

QUICK_DURATION_S = 10.0
"""Longest test of a quick review, in s of the drive's time."""


@dataclass(frozen=True)
class Procedure:
    """One test: a stream of requests in one direction, for a time, on a drive in a known state."""

    id: str
    title: str
    direction: Literal["read", "write"]
    order: Literal["sequential", "random"]
    block_bytes: int
    queue_depth: int
    align_bytes: int
    duration_s: float
    span_bytes: int | None = None
    """Size of the region from LBA 0; None is the whole drive. A smaller drive is used whole."""
    states: tuple[str, ...] = ("new", "used")
    series_interval_s: float = 1.0

    def span_bytes_on(self, capacity_bytes: int) -> int:
        """Size of the region on a drive of this size: whole blocks from LBA 0."""
        span = capacity_bytes if self.span_bytes is None else min(self.span_bytes, capacity_bytes)
        # Sequential passes end with the last whole block; random ones reach every sector.
        return span - span % self.block_bytes if self.order == "sequential" else span

    def fits(self, capacity_bytes: int) -> bool:
        """Whether a drive of this size has room for one block."""
        return capacity_bytes >= self.block_bytes

    def duration_on(self, quick: bool) -> float:
        """Length in s of the drive's time."""
        return min(self.duration_s, QUICK_DURATION_S) if quick else self.duration_s

    def job(self, capacity_bytes: int, seed: int, quick: bool = False) -> Job:
        """The engine's job for a drive of this size; deterministic in the seed."""
        rw: Rw = self.direction
        if self.order == "random":
            rw = "randread" if self.direction == "read" else "randwrite"
        return Job(
            name=self.id,
            rw=rw,
            block_sizes=(BlockSize(bytes=self.block_bytes),),
            align_bytes=max(self.align_bytes, SECTOR_BYTES) if self.order == "random" else None,
            span_bytes=self.span_bytes_on(capacity_bytes),
            queue_depth=self.queue_depth,
            runtime_ns=round(self.duration_on(quick) * NS_PER_S),
            time_based=True,
            seed=seed,
            series_interval_ns=round(self.series_interval_s * NS_PER_S),
        )
