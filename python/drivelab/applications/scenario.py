"""What applications ask of a drive: phases of requests, with processor time between them.

A scenario lives in files that are written before it starts, one after another, in the free space
behind the file-system image of the used state (`Place`). Its phases run one after another. A phase
is a stream of reads and a stream of writes. Each stream moves on in sequence for a while (a run),
then jumps to a random place of the phase's files. Between them, small writes go to random places:
records of files, registry, databases. Requests are handed over in groups; the program
waits for what it reads, computes, and goes on. Everything random comes from one seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from drivelab.data_patterns import parse_data_pattern
from drivelab.progress import TaskProgress
from drivelab.quantities import KIB, MIB, NS_PER_S, SECTOR_BYTES, derive_seed
from drivelab.states import image as layout
from drivelab.states.image import ImageCopy
from drivelab.states.steps import settle
from drivelab.targets import Report, Target
from drivelab.workload import READ, WRITE, BlockSize, Job, Recorded, Requests

CLUSTER_BYTES = 4 * KIB
"""Allocation unit of the file system: requests are multiples of it, and aligned to it."""
VIEW_BYTES = 64 * KIB
"""Runs start at multiples of this: Windows reads ahead and writes behind in such pieces of a file.
Assumed: the file itself lies so, too."""
DATA = ImageCopy.data
"""What files contain: programs and documents compress to about half [A2], as in the image."""
QUEUE_DEPTH = 32
"""Requests that the operating system keeps outstanding at most: as many as the link allows."""
PROGRAM_SEED = 1
"""Seed of what programs do: a program is the same on every drive, in every state and every run."""
ONE_AFTER_ANOTHER_NS = 1
"""Shortest processor time: the request waits for those before it, and no longer."""

Sizes = tuple[tuple[int, float], ...]
"""Bytes of a request, and how often it comes, relative to the others."""


@dataclass(frozen=True)
class Phase:
    """Something that a program does for a while. Sizes in bytes."""

    name: str
    total_bytes: int
    """Bytes read and written."""
    read_percent: float
    """Share of the requests that are reads."""
    read_sizes: Sizes
    write_sizes: Sizes
    read_run_bytes: int
    """Mean length of what is read in sequence before the next jump."""
    write_run_bytes: int
    span_bytes: int
    """Size of the files that the phase reaches, from the start of the scenario's."""
    together: int = 1
    """Requests that are handed over at once, and then waited for."""
    processor_ns: int = 0
    """Processor time before each such group."""
    lazy_writes: bool = False
    """Whether the program goes on while its writes are under way: the operating system has them,
    and writes what follows each other at once."""
    scattered_writes: float = 0.0
    """Share of the writes that are a cluster at a random place, beside the stream of writes."""


@dataclass(frozen=True)
class Place:
    """Where the files of scenarios lie on a drive."""

    first_byte: int
    size_bytes: int


def place_on(capacity_bytes: int) -> Place:
    """The free space behind the image of the used state, on a drive of this size."""
    image = layout.IMAGE
    used = min(image.image_bytes, int(capacity_bytes * image.share_max)) / image.density
    first = image.first_byte + int(used)
    first += -first % MIB
    return Place(first, max(0, capacity_bytes - first))


def phase_requests(phase: Phase, place: Place, seed: int) -> Requests:
    """The requests of a phase, within the files at `place`; deterministic in the seed."""
    rng = np.random.Generator(np.random.PCG64(derive_seed(seed, phase.name)))
    count = max(1, round(phase.total_bytes / mean_bytes(phase)))
    # Only uniform doubles are drawn: their stream is the part of numpy that doesn't change.
    writes = rng.random(count) >= phase.read_percent / 100
    sizes = np.where(
        writes, _drawn(phase.write_sizes, rng, count), _drawn(phase.read_sizes, rng, count)
    )
    run_bytes = np.where(writes, phase.write_run_bytes, phase.read_run_bytes)
    jumps, targets = rng.random(count) * run_bytes < sizes, rng.random(count)
    # Of a stream of their own: a phase without such writes is what it would be if there were none.
    rng = np.random.Generator(np.random.PCG64(derive_seed(seed, phase.name, "scattered")))
    scattered = writes & (rng.random(count) < phase.scattered_writes)
    sizes = np.where(scattered, CLUSTER_BYTES, sizes)
    span = min(phase.span_bytes, place.size_bytes)
    offsets = np.floor(targets * (span // CLUSTER_BYTES)).astype(np.int64) * CLUSTER_BYTES
    in_runs = writes & ~scattered
    for mine in (~writes, in_runs):
        offsets[mine] = _walk(sizes[mine], jumps[mine], targets[mine], span)
    if phase.lazy_writes:
        order = _runs_at_once(in_runs, offsets, sizes)
        writes, offsets, sizes = writes[order], offsets[order], sizes[order]
    first_of_group = np.arange(count) % phase.together == 0
    think = np.where(first_of_group, max(phase.processor_ns, ONE_AFTER_ANOTHER_NS), 0)
    return Requests(
        op=np.where(writes, WRITE, READ).astype(np.uint8),
        lba=((offsets + place.first_byte) // SECTOR_BYTES).astype(np.uint64),
        sector_count=(sizes // SECTOR_BYTES).astype(np.uint32),
        think_ns=think.astype(np.uint64),
        background=(writes & phase.lazy_writes).astype(np.uint8),
    )


def _runs_at_once(
    in_runs: NDArray[np.bool_], offsets: NDArray[np.int64], sizes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The order in which a run of writes goes out whole, when the last of it is there: the
    operating system collects what is written, and writes it file by file."""
    index = np.flatnonzero(in_runs)
    offset, size = offsets[index], sizes[index]
    goes_on = np.concatenate(([False], offset[1:] == (offset + size)[:-1]))[: len(index)]
    run = np.cumsum(~goes_on)
    due = np.arange(len(in_runs))
    # The last write of a run is the one before the next run begins.
    due[index] = index[np.searchsorted(run, run, side="right") - 1]
    return np.argsort(due, kind="stable")


def joined(parts: Sequence[Requests]) -> Requests:
    """Requests of several phases, one after another."""

    def column(name: str) -> NDArray[np.uint64]:
        return np.concatenate([getattr(part, name) for part in parts])

    return Requests(
        op=column("op").astype(np.uint8),
        lba=column("lba"),
        sector_count=column("sector_count").astype(np.uint32),
        think_ns=column("think_ns"),
        background=column("background").astype(np.uint8),
    )


def play(
    target: Target,
    requests: Requests,
    name: str,
    seed: int,
    progress: TaskProgress,
    share: float = 1.0,
) -> Report:
    """Runs a program's requests; the report's `waited_ns` of the job is how long it took."""
    job = Job(
        name=name,
        source=Recorded(pacing="think"),
        queue_depth=QUEUE_DEPTH,
        data=parse_data_pattern(DATA),
        seed=derive_seed(seed, name),
        series_interval_ns=NS_PER_S,
    )
    return target.run_requests(job, requests, progress, share)


def waited_s(report: Report) -> float:
    """How long a program took that was played, in s."""
    return float(report["jobs"][0]["waited_ns"]) / NS_PER_S


def install(
    target: Target, size_bytes: int, seed: int, progress: TaskProgress, share: float
) -> Place:
    """Writes the files of a scenario, in sequence, and lets the drive rest as after preparation.

    Returns where they lie: at most `size_bytes` of the free space behind the image.
    """
    place = place_on(target.capacity_bytes)
    size = min(size_bytes, place.size_bytes)
    size -= size % CLUSTER_BYTES
    job = Job(
        name="install",
        rw="write",
        block_sizes=(BlockSize(bytes=min(128 * KIB, size)),),
        offset_bytes=place.first_byte,
        span_bytes=size,
        data=parse_data_pattern(DATA),
        seed=derive_seed(seed, "install"),
    )
    target.run([job], progress, share)
    settle(target, progress)
    return Place(place.first_byte, size)


def mean_bytes(phase: Phase) -> float:
    """Mean size of a request."""

    def mean(sizes: Sizes) -> float:
        return sum(size * weight for size, weight in sizes) / sum(weight for _, weight in sizes)

    read, scattered = phase.read_percent / 100, phase.scattered_writes
    written = scattered * CLUSTER_BYTES + (1 - scattered) * mean(phase.write_sizes)
    return read * mean(phase.read_sizes) + (1 - read) * written


def _drawn(sizes: Sizes, rng: np.random.Generator, count: int) -> NDArray[np.int64]:
    bounds = np.cumsum([weight for _, weight in sizes])
    chosen = np.searchsorted(bounds, rng.random(count) * bounds[-1], side="right")
    values = np.array([size for size, _ in sizes], dtype=np.int64)
    return np.asarray(values[np.minimum(chosen, len(sizes) - 1)], dtype=np.int64)


def _walk(
    sizes: NDArray[np.int64], jumps: NDArray[np.bool_], targets: NDArray[np.float64], span: int
) -> NDArray[np.int64]:
    """Offsets of requests that follow each other but for jumps to uniformly distributed places."""
    if not len(sizes):
        return np.zeros(0, dtype=np.int64)
    jumps = jumps.copy()
    jumps[0] = True
    moved = np.cumsum(sizes) - sizes
    run = np.cumsum(jumps) - 1
    starts = np.floor(targets[jumps] * (span // VIEW_BYTES)).astype(np.int64) * VIEW_BYTES
    offsets = (starts - moved[jumps])[run] + moved
    # What would leave the files goes on at their start.
    offsets %= span
    return np.asarray(np.minimum(offsets, span - sizes), dtype=np.int64)
