"""The eight traces of PCMark Vantage's disk suite, and what its scores make of them.

The traces are not public. The shares of reads and writes are the white paper's [PV]; how the
program replays them is known, too: into a file of its own that is new to the drive, beside the file
system and its cache [RD]. All else is assumed, in one table for all drives; docs/tests/
applications.md says how.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from drivelab.applications.scenario import Phase, Sizes
from drivelab.quantities import GIB, KIB, MIB, NS_PER_US

TRACE_BYTES = 64 * MIB
"""Length of a trace. Assumed."""
SPAN_BYTES = GIB
"""Size of the file. Assumed."""
PROGRAM_READS: Sizes = ((4 * KIB, 0.25), (16 * KIB, 0.2), (32 * KIB, 0.25), (64 * KIB, 0.3))
"""What programs read: pages, clusters of pages, and read-ahead of the cache. Assumed."""
STREAM: Sizes = ((64 * KIB, 1.0),)
"""What programs for pictures, sound and video read, and what the cache writes. Assumed."""
SCATTERED_BYTES, FILES_BYTES = 64 * KIB, 128 * KIB
"""How far reading goes on in sequence: among many parts of files; from file to file, or between
several streams of video. Assumed."""
TOGETHER = 2
"""Requests under way at a time. Assumed."""
PROCESSOR_NS = 400 * NS_PER_US
"""Time of the program between such groups: "idle time taken out" leaves 0.2 ms for each request to
be handed over and its end taken note of. Assumed."""

HDD_CONSTANT = 248.8
"""Score of the disk suite for each MB/s (10^6) of the geometric mean. Fitted to AN-083."""
OVERALL_CONSTANT = 3595.0
"""Overall score for a mean of 1 MB/s to the power of `OVERALL_WEIGHT`. Fitted to AN-082."""
OVERALL_WEIGHT = 0.25
"""Share of the overall score's tests that replay traces; in the others the disk plays no part.
Chosen with the published overall scores in view."""


def _trace(name: str, read_percent: float, reads: Sizes, run_bytes: int) -> Phase:
    return Phase(
        name=name,
        total_bytes=TRACE_BYTES,
        read_percent=read_percent,
        read_sizes=reads,
        write_sizes=STREAM,
        read_run_bytes=run_bytes,
        write_run_bytes=TRACE_BYTES,
        span_bytes=SPAN_BYTES,
        together=TOGETHER,
        processor_ns=PROCESSOR_NS,
    )


START_UP, LOADING = "Windows Vista start-up", "Application loading"
TRACES = (
    _trace("Windows Defender", 99.5, PROGRAM_READS, FILES_BYTES),
    _trace("Gaming", 99.95, STREAM, FILES_BYTES),
    _trace("Windows Photo Gallery", 84.0, STREAM, FILES_BYTES),
    _trace(START_UP, 85.0, PROGRAM_READS, SCATTERED_BYTES),
    _trace("Windows Movie Maker", 54.0, STREAM, FILES_BYTES),
    _trace("Windows Media Center", 50.0, STREAM, FILES_BYTES),
    _trace("Windows Media Player", 78.0, PROGRAM_READS, SCATTERED_BYTES),
    _trace(LOADING, 87.0, PROGRAM_READS, SCATTERED_BYTES),
)


def traces(shorter: int = 1) -> tuple[Phase, ...]:
    """The traces, each of a whole fraction of its length."""
    return tuple(replace(trace, total_bytes=trace.total_bytes // shorter) for trace in TRACES)


PRODUCTIVITY = (START_UP, LOADING)
"""Traces that the productivity suite repeats. Assumed."""


def geometric_mean(values: Sequence[float]) -> float:
    """Of values above 0."""
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def hdd_score(mb_per_s: Mapping[str, float]) -> float:
    """Score of the disk suite, from the MB/s (10^6) of all traces by name."""
    return HDD_CONSTANT * geometric_mean(list(mb_per_s.values()))


def overall_score(mb_per_s: Mapping[str, float]) -> float:
    """PCMark score: the disk counts in a part of its tests."""
    return OVERALL_CONSTANT * math.pow(geometric_mean(list(mb_per_s.values())), OVERALL_WEIGHT)


def productivity_mb_per_s(mb_per_s: Mapping[str, float]) -> float:
    """The disk's part of the productivity suite: MB/s (10^6) of its traces."""
    return geometric_mean([mb_per_s[name] for name in PRODUCTIVITY])
