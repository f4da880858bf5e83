"""A test that is one stream of requests in one direction, for a time."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal, Self

from drivelab.data_patterns import parse_data_pattern
from drivelab.procedures.measured import Measured
from drivelab.procedures.pace import FULL_SPEED, held_seconds
from drivelab.procedures.procedure import Procedure
from drivelab.progress import TaskProgress
from drivelab.quantities import GIB, KIB, MIB, NS_PER_S, SECTOR_BYTES, derive_seed
from drivelab.targets import Report, Target
from drivelab.workload import BlockSize, Job, Rw

QUICK_DURATION_S = 10.0
"""Longest test of a quick review, in s of the drive's time."""

WRITTEN_STATES = ("filled", "used")
"""States of tests that read what is there: of a drive that nothing was written to, only the map
would be read."""

REPEATING, RANDOM = "repeating", "random"
"""Data patterns: what Iometer sent in the reviews, and what it sends on request."""

LINK_BYTES_PER_S = 16 * 10**9
"""What a link carries that nothing is known of: four lanes of PCI Express 5.0 give less."""


@dataclass(frozen=True, kw_only=True)
class Stream(Procedure):
    """One stream of requests in one direction, for a time, on a drive in a known state."""

    direction: Literal["read", "write"]
    order: Literal["sequential", "random"]
    block_bytes: int
    queue_depth: int
    align_bytes: int
    duration_s: float
    """Longest time that it measures, in s of the drive's time."""
    data: str = REPEATING
    """Pattern of what is written. A read's pattern is that of `written_first`."""
    span_bytes: int | None = None
    """Size of the region from LBA 0; None is the whole drive. A smaller drive is used whole."""
    end_share: float | None = None
    """Instead: the region is this share of the drive, at its end."""
    written_first: bool = False
    """Whether the region of a read is written with `data` before, so that this is what it reads."""
    once: bool = False
    """Whether it ends when it has moved the region's bytes, if `duration_s` hasn't ended it."""
    default_for: tuple[Literal["flash", "disk"], ...] = ("flash", "disk")
    series_interval_s: float = 1.0

    def named(self, test_id: str, title: str) -> Self:
        """The same test under another name."""
        return replace(self, id=test_id, title=title)

    def region_on(self, capacity_bytes: int) -> tuple[int, int]:
        """First byte and size of the region on a drive of this size, in whole blocks."""
        size = capacity_bytes if self.span_bytes is None else min(self.span_bytes, capacity_bytes)
        if self.end_share is not None:
            size = max(int(capacity_bytes * self.end_share), self.block_bytes)
        # Sequential passes end with the last whole block; random ones reach every sector.
        if self.order == "sequential" and self.block_bytes:
            size -= size % self.block_bytes
        offset = 0 if self.end_share is None else capacity_bytes - size
        return offset - offset % self.align_bytes, size

    def span_bytes_on(self, capacity_bytes: int) -> int:
        """Size of the region on a drive of this size."""
        return self.region_on(capacity_bytes)[1]

    def fits(self, capacity_bytes: int) -> bool:
        """Whether a drive of this size has room for one block."""
        return capacity_bytes >= self.block_bytes

    def duration_on(self, quick: bool) -> float:
        """Length in s of the drive's time, at most."""
        return min(self.duration_s, QUICK_DURATION_S) if quick else self.duration_s

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a test of 3 minutes; for the progress bar."""
        return self.duration_on(quick) / 180 * (1.5 if self.written_first else 1.0)

    def job(self, capacity_bytes: int, seed: int, quick: bool = False) -> Job:
        """The engine's job for a drive of this size; deterministic in the seed."""
        rw: Rw = self.direction
        if self.order == "random":
            rw = "randread" if self.direction == "read" else "randwrite"
        offset_bytes, span_bytes = self.region_on(capacity_bytes)
        return Job(
            name=self.id,
            rw=rw,
            block_sizes=(BlockSize(bytes=self.block_bytes),),
            align_bytes=max(self.align_bytes, SECTOR_BYTES) if self.order == "random" else None,
            offset_bytes=offset_bytes,
            span_bytes=span_bytes,
            queue_depth=self.queue_depth,
            runtime_ns=round(self.duration_on(quick) * NS_PER_S),
            time_based=not self.once,
            data=parse_data_pattern(self.data),
            seed=seed,
            series_interval_ns=round(self.series_interval_s * NS_PER_S),
        )

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Runs the test on a drive that is in the wanted state."""
        share = 1.0
        if self.written_first:
            share = 0.7
            target.run([self._writing(target, seed, quick)], progress, 1 - share)
        report = target.run([self.job(target.capacity_bytes, seed, quick)], progress, share)
        notes = _of_two_speeds(report, self.block_bytes) if self.direction == "write" else ()
        return Measured(self.span_bytes_on(target.capacity_bytes), report, notes=notes)

    def _writing(self, target: Target, seed: int, quick: bool) -> Job:
        """One sequential pass over what a read comes to: its region, or what its link carries."""
        offset_bytes, span_bytes = self.region_on(target.capacity_bytes)
        block_bytes = 128 * KIB
        if self.order == "sequential":
            block_bytes = self.block_bytes
            rate = target.parameter("link.bytes_per_s")
            rate = LINK_BYTES_PER_S if rate is None else rate
            if rate > 0:  # 0 is a link that takes no time: nothing bounds what it carries.
                blocks = math.ceil(self.duration_on(quick) * rate / self.block_bytes)
                span_bytes = min(span_bytes, blocks * self.block_bytes)
        return Job(
            name=f"{self.id}-writing",
            rw="write",
            block_sizes=(BlockSize(bytes=min(block_bytes, span_bytes)),),
            offset_bytes=offset_bytes,
            span_bytes=span_bytes,
            data=parse_data_pattern(self.data),
            seed=derive_seed(seed, "writing"),
        )

    @property
    def has_fixed_length(self) -> bool:
        """Whether it has requests, and a time."""
        return self.duration_s > 0 and self.block_bytes > 0

    @property
    def span_text(self) -> str:
        """Part of the drive that it uses."""
        if self.end_share is not None:
            return f"last {self.end_share * 100:.0f} %"
        if not self.block_bytes:
            return "-"
        return "whole drive" if self.span_bytes is None else f"{self.span_bytes // GIB} GiB"

    @property
    def time_text(self) -> str:
        """How long it measures."""
        return "once over" if self.once or not self.duration_s else f"{self.duration_s:.0f} s"

    @property
    def data_text(self) -> str:
        """What is written or read."""
        if not self.block_bytes:
            return "-"
        if self.direction == "write":
            return self.data
        return f"{self.data}, written first" if self.written_first else "what is there"


def _of_two_speeds(report: Report, block_bytes: int) -> tuple[str, ...]:
    """That writes went beyond what an SLC cache takes, where they did."""
    if "slc_cache_bytes" not in report["counters_after"]:
        return ()
    series = report["jobs"][0]["write"]["series"]
    # The last interval is cut off by the end of the time.
    iops = [ios * NS_PER_S / series["interval_ns"] for ios in series["ios"][:-1]]
    held = held_seconds(iops)
    if held is None:
        return ()
    before, after = (fmean(part) * block_bytes / MIB for part in (iops[:held], iops[held:]))
    if after > FULL_SPEED * before:
        return ()  # A dip, and no more.
    seconds = held * series["interval_ns"] / NS_PER_S
    return (
        f"the drive has an SLC cache: after {seconds:g} s its writes fell from {before:.1f} to "
        f"{after:.1f} MiB/s, and what is said of them is of both",
    )
