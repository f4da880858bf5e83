"""Requests made from a specification and a seed.

```text
counts by direction and size -> runs of requests that follow each other -> their order and places
bursts of requests issued together -> their times                     -> arrival of every request
```

The counts are the same for every seed; the seed draws lengths of runs, their order, their places,
and the order and times of bursts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from drivelab.quantities import KIB, SECTOR_BYTES, derive_seed
from drivelab.storage_bench.bursts import burst_sizes, burst_times_ns
from drivelab.storage_bench.counts import sequential_counts, size_counts, write_counts
from drivelab.storage_bench.specification import Specification
from drivelab.workload import READ, WRITE, Requests

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Runs:
    """Columns of runs: requests of one direction and size, each starting where the last ended."""

    op: Integers
    request_bytes: Integers
    length: Integers
    """Requests of each run."""

    def __len__(self) -> int:
        return len(self.op)

    def ordered(self, order: Integers) -> Runs:
        """The same runs in another order."""
        return Runs(self.op[order], self.request_bytes[order], self.length[order])


def synthesise(trace: Specification, seed: int) -> Requests:
    """The requests of a trace with their arrival times; the same for the same seed, to the bit."""

    # Only uniform doubles are drawn: their stream is the part of numpy that doesn't change.
    def stream(part: str) -> np.random.Generator:
        return np.random.Generator(np.random.PCG64(derive_seed(seed, trace.name, part)))

    runs = _in_phases(trace, _runs(trace, stream("runs")), stream("order"))
    starts = _starts(trace, runs, stream("places"))
    index = np.repeat(np.arange(len(runs)), runs.length)
    first = np.repeat(np.cumsum(runs.length) - runs.length, runs.length)
    request_bytes = runs.request_bytes[index]
    offset_bytes = starts[index] + (np.arange(len(index)) - first) * request_bytes
    bursts = burst_sizes(trace, stream("bursts"))
    times_ns = burst_times_ns(trace, len(bursts), stream("times"))
    return Requests(
        runs.op[index].astype(np.uint8),
        (offset_bytes // SECTOR_BYTES).astype(np.uint64),
        (request_bytes // SECTOR_BYTES).astype(np.uint32),
        np.repeat(times_ns, bursts),
    )


def _runs(trace: Specification, rng: np.random.Generator) -> Runs:
    """All runs, by direction and size: every class is cut at places drawn evenly from it."""
    sizes_kib, counts = size_counts(trace)
    writes = write_counts(trace, sizes_kib, counts)
    ops = np.repeat([READ, WRITE], len(sizes_kib))
    sizes_kib, counts = np.tile(sizes_kib, 2), np.concatenate((counts - writes, writes))
    cuts = counts - sequential_counts(trace, sizes_kib, counts)
    lengths = [_pieces(*pair, rng) for pair in zip(counts.tolist(), cuts.tolist(), strict=True)]
    run_counts = [len(part) for part in lengths]
    return Runs(
        np.repeat(ops, run_counts),
        np.repeat(sizes_kib * KIB, run_counts),
        np.concatenate(lengths),
    )


def _pieces(count: int, piece_count: int, rng: np.random.Generator) -> Integers:
    """Lengths of so many pieces, each at least 1, that `count` is cut into at random."""
    if piece_count == 0:
        return np.zeros(0, dtype=np.int64)
    cuts = np.sort(np.argsort(rng.random(count - 1), kind="stable")[: piece_count - 1]) + 1
    return np.diff(np.concatenate(([0], cuts, [count])))


def _in_phases(trace: Specification, runs: Runs, rng: np.random.Generator) -> Runs:
    """Runs in the order in which they are issued: phases of reading and of writing in turn."""
    shuffled = runs.ordered(np.argsort(rng.random(len(runs)), kind="stable"))
    reads, writes = np.flatnonzero(shuffled.op == READ), np.flatnonzero(shuffled.op == WRITE)
    phases = round(len(runs) / 2 / trace.habits.direction_runs)
    phases = max(1, min(phases, len(reads), len(writes)))
    parts = [_pieces(len(part), phases, rng) for part in (reads, writes)]
    ends = [np.cumsum(part)[:-1] for part in parts]
    pairs = zip(np.split(reads, ends[0]), np.split(writes, ends[1]), strict=True)
    return shuffled.ordered(np.concatenate([part for pair in pairs for part in pair]))


def _starts(trace: Specification, runs: Runs, rng: np.random.Generator) -> Integers:
    """First byte of every run: a stretch, hot or not, and a place within it.

    It ends within the image, and doesn't start where the run before it ended.
    """
    habits = trace.habits
    stretches = np.argsort(rng.random(habits.stretch_count), kind="stable")
    hot_count = round(habits.stretch_count * habits.hot_size_share)
    hot = rng.random(len(runs)) < habits.hot_access_share
    count = np.where(hot, hot_count, habits.stretch_count - hot_count)
    chosen = (rng.random(len(runs)) * count).astype(np.int64) + np.where(hot, 0, hot_count)
    units = trace.image_bytes // habits.align_bytes
    within = rng.random(len(runs))
    start = (stretches[chosen] + within) * (units / habits.stretch_count)
    run_bytes = runs.length * runs.request_bytes
    run_units = -(-run_bytes // habits.align_bytes)
    start_units = np.minimum(start.astype(np.int64), units - run_units)
    ends = start_units + run_units
    meets = np.concatenate(([False], start_units[1:] == ends[:-1]))
    # One cluster back is another place, and there is one: what meets an end doesn't start at 0.
    start_units = np.where(meets, np.maximum(start_units - 1, 0), start_units)
    return np.asarray(start_units * habits.align_bytes)
