"""One pass over all logical blocks, as HD Tach draws it: throughput against position.

Blocks of 64 KiB, queue depth 1, from the first logical block to the last. The drive is cut into
zones of equal size; each zone's throughput is measured from its first command to its last. HD
Tach's average is the mean over positions, not bytes over time; its MB are 10^6 bytes. A quick
review measures a sample from the start of every zone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median
from typing import Any, Literal

from drivelab.data_patterns import parse_data_pattern
from drivelab.moments import pooled
from drivelab.procedures.flow import EMPTY_SERIES
from drivelab.procedures.measured import Measured
from drivelab.procedures.pieces import buffer_bytes
from drivelab.procedures.stream import RANDOM, REPEATING, Stream
from drivelab.progress import TaskProgress
from drivelab.quantities import KIB, MB, MIB, NS_PER_S
from drivelab.targets import Report, Target
from drivelab.traits import TestTraits
from drivelab.workload import BlockSize, Job

ZONES_MAX = 1024
ZONE_BYTES_MIN = 8 * MIB
"""Smaller zones would fit into the buffers of a drive."""
QUICK_SHARE = 1 / 16
"""Share of each zone that a quick review measures."""
QUICK_BUFFERS = 2
"""Write buffers that a quick sample is, at least: a smaller one is as fast as there is room."""
SAMPLED = (
    f"passes are samples of 1/{1 / QUICK_SHARE:.0f}, and skip the rest: where caches or merges "
    "matter, these aren't the speeds of whole passes"
)
"""Of a quick review."""
DIP_RATIO = 0.5
"""A zone slower than this share of the median is a dip."""

TORTURED_STATES = ("new", "tortured", "tortured-trimmed", "tortured-trimmed-twice", "tortured-pass")


def zones(
    capacity_bytes: int, block_bytes: int, least_bytes: int = ZONE_BYTES_MIN
) -> list[tuple[int, int]]:
    """First byte and size of every zone: whole blocks, together the whole drive."""
    blocks = capacity_bytes // block_bytes
    count = min(ZONES_MAX, max(1, capacity_bytes // least_bytes), blocks)
    bounds = [index * blocks // count * block_bytes for index in range(count + 1)]
    return [(start, end - start) for start, end in pairwise(bounds)]


def pass_record(zone_bytes: int, mb_per_s: Sequence[float]) -> dict[str, Any]:
    """What a pass says of itself; MB are 10^6 bytes."""
    middle = median(mb_per_s)
    slow = [rate < DIP_RATIO * middle for rate in mb_per_s]
    # A run of slow zones is one dip.
    dips = sum(now and not before for before, now in zip([False, *slow], slow, strict=False))
    return {
        "zone_bytes": zone_bytes,
        "mb_per_s": list(mb_per_s),
        "mean_mb_per_s": fmean(mb_per_s),
        "median_mb_per_s": middle,
        "floor_mb_per_s": min(mb_per_s),
        "dips": dips,
    }


@dataclass(frozen=True, kw_only=True)
class Pass(Stream):
    """A pass over all logical blocks, zone by zone."""

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Runs the pass on a drive that is in the wanted state."""
        least_bytes = ZONE_BYTES_MIN
        if quick:
            least_bytes = max(least_bytes, int(QUICK_BUFFERS * buffer_bytes(target) / QUICK_SHARE))
        parts = zones(target.capacity_bytes, self.block_bytes, least_bytes)
        reports = [
            target.run([self._zone(start, size, seed, quick)], progress, 1 / len(parts))
            for start, size in parts
        ]
        whole = _merged(reports, self.direction)
        rates = [r["jobs"][0][self.direction]["bytes_per_s"] / MB for r in reports]
        span_bytes = sum(size for _, size in parts)
        return Measured(span_bytes, whole, {"pass": pass_record(parts[0][1], rates)})

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a test of 3 minutes."""
        return capacity_bytes / 100e9 * (QUICK_SHARE if quick else 1.0)

    def _zone(self, start: int, size: int, seed: int, quick: bool) -> Job:
        blocks = size // self.block_bytes
        moved = max(1, math.ceil(blocks * QUICK_SHARE)) if quick else blocks
        return Job(
            name=self.id,
            rw=self.direction,
            block_sizes=(BlockSize(bytes=self.block_bytes),),
            offset_bytes=start,
            span_bytes=moved * self.block_bytes,
            queue_depth=self.queue_depth,
            data=parse_data_pattern(self.data),
            seed=seed,
            series_interval_ns=3600 * NS_PER_S,
        )


def _merged(reports: Sequence[Report], direction: str) -> Report:
    """One report of a row of them; percentiles of parts don't add up and are left out, bins do."""
    parts = [report["jobs"][0][direction] for report in reports]
    counts = [part["ios"] for part in parts]
    ios, moved = sum(counts), sum(part["bytes"] for part in parts)
    runtime_ns = sum(part["runtime_ns"] for part in parts)
    latencies = [part["latency_ns"] for part in parts]
    mean, stddev = pooled(
        counts, [item["mean"] for item in latencies], [item["stddev"] for item in latencies]
    )
    return {
        "measure_start_ns": reports[0]["measure_start_ns"],
        "end_ns": reports[-1]["end_ns"],
        "counters_before": reports[0]["counters_before"],
        "counters_after": reports[-1]["counters_after"],
        "jobs": [
            {
                direction: {
                    "ios": ios,
                    "bytes": moved,
                    "runtime_ns": runtime_ns,
                    "iops": ios / runtime_ns * NS_PER_S,
                    "bytes_per_s": moved / runtime_ns * NS_PER_S,
                    "latency_ns": {
                        "min": min(latency["min"] for latency in latencies),
                        "mean": mean,
                        "stddev": stddev,
                        "max": max(latency["max"] for latency in latencies),
                        "percentiles": {},
                        "bins": _added([latency["bins"] for latency in latencies]),
                    },
                    "split_mean_ns": _mean_split([part["split_mean_ns"] for part in parts], counts),
                    "series": EMPTY_SERIES,
                }
            }
        ],
    }


def _added(histograms: Sequence[Sequence[Sequence[int]]]) -> list[list[int]]:
    """Bins of several histograms as those of one: pairs of a time and a count."""
    counts: dict[int, int] = {}
    for time_ns, count in (pair for bins in histograms for pair in bins):
        counts[time_ns] = counts.get(time_ns, 0) + count
    return [[time_ns, counts[time_ns]] for time_ns in sorted(counts)]


def _mean_split(
    splits: Sequence[dict[str, float] | None], counts: Sequence[int]
) -> dict[str, float] | None:
    """Where the time of a request went; None on drives that don't say."""
    known = [split for split in splits if split is not None]
    if len(known) < len(splits):
        return None
    return {
        key: math.fsum(split[key] * n for split, n in zip(known, counts, strict=True)) / sum(counts)
        for key in known[0]
    }


def _procedure(
    direction: Literal["read", "write"], data: str, states: tuple[str, ...], variant: str = ""
) -> Pass:
    words = ", random data" if variant else ""
    return Pass(
        id=f"hdtach-{direction}{variant}",
        title=f"Pass over all logical blocks, 64 KB {direction}{words}",
        group="pass",
        direction=direction,
        order="sequential",
        block_bytes=64 * KIB,
        queue_depth=1,
        align_bytes=64 * KIB,
        duration_s=0,
        data=data,
        states=states,
        default_for=(),
        quick_text=SAMPLED,
        traits=TestTraits(pattern="pass", open=not variant),
    )


PROCEDURES = (
    # A pass of reads over an unwritten drive would read its map.
    _procedure("read", REPEATING, ("filled", *TORTURED_STATES[1:])),
    _procedure("write", REPEATING, TORTURED_STATES),
    _procedure(
        "write",
        RANDOM,
        ("new", "tortured-random-20min", "tortured-random-20min-trimmed"),
        "-random-data",
    ),
)
