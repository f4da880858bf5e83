"""Work at a desk: a round of tasks for a benchmark of programs, and hours of use in bursts.

How programs write is measured of others of their kind [T8]; a number is fitted to AN-202; all else
is assumed. docs/tests/applications.md says why each is what it is.
"""

from __future__ import annotations

import numpy as np

from drivelab.applications.pcmark import PROGRAM_READS, SCATTERED_BYTES, STREAM
from drivelab.applications.scenario import (
    CLUSTER_BYTES,
    ONE_AFTER_ANOTHER_NS,
    Phase,
    Place,
    Sizes,
    joined,
    phase_requests,
)
from drivelab.quantities import (
    GIB,
    KIB,
    MIB,
    NS_PER_MS,
    NS_PER_S,
    SECTOR_BYTES,
    derive_seed,
)
from drivelab.workload import READ, WRITE, Requests

SCATTERED_SHARE = 0.28
"""Share of an office program's writes that go to random places: 399 of 1413 in traces of a word
processor, a spreadsheet and a program for slides [T8]. In clusters of 4 KiB they make, with the
others in the longest transfers of the disk driver, 93 KiB a write; the traces have 91."""
DOCUMENTS: Sizes = ((128 * KIB, 1.0),)
"""The other writes: documents that are saved."""
DOCUMENT_BYTES = MIB
"""How far such a write goes on. Assumed."""
FILES_BYTES = 4 * GIB
"""Programs and documents that are in use."""
ROUNDS, QUICK_ROUNDS = 10, 2
"""How often the tasks are gone through."""


def _task(
    name: str,
    total_bytes: int,
    read_percent: float,
    processor_ns: int,
    *,
    reads: Sizes = PROGRAM_READS,
    writes: Sizes = DOCUMENTS,
    read_run_bytes: int = SCATTERED_BYTES,
    write_run_bytes: int = DOCUMENT_BYTES,
    scattered_writes: float = SCATTERED_SHARE,
    together: int = 1,
) -> Phase:
    return Phase(
        name=name,
        total_bytes=total_bytes,
        read_percent=read_percent,
        read_sizes=reads,
        write_sizes=writes,
        read_run_bytes=read_run_bytes,
        write_run_bytes=write_run_bytes,
        span_bytes=FILES_BYTES,
        together=together,
        processor_ns=processor_ns,
        lazy_writes=True,
        scattered_writes=scattered_writes,
    )


TASKS = (
    _task("start a program", 24 * MIB, 95, NS_PER_MS, together=2),
    _task("edit", 6 * MIB, 30, 300 * NS_PER_MS),
    _task("save", 4 * MIB, 0, 20 * NS_PER_MS, together=4),
    _task(
        *("work on video", 64 * MIB, 60, 10 * NS_PER_MS),
        reads=STREAM,
        writes=STREAM,
        read_run_bytes=8 * MIB,
        write_run_bytes=8 * MIB,
        scattered_writes=0.0,
    ),
)
"""What a round consists of."""


def rounds(count: int, place: Place, seed: int) -> Requests:
    """Requests of so many rounds of the tasks."""
    return joined(
        [
            phase_requests(task, place, derive_seed(seed, f"round {index}"))
            for index in range(count)
            for task in TASKS
        ]
    )


def processor_s(requests: Requests) -> float:
    """How long a program would take on a drive that takes no time."""
    assert requests.think_ns is not None
    return float(requests.think_ns.sum(dtype=np.uint64)) / NS_PER_S


BURST_PERIOD_S = 10
"""Time between bursts of writes: a page opened, a message fetched, a document saved."""
BURST_LEAST, BURST_SHAPE, BURST_MOST = 13, 1.2, 20_000
"""Writes of a burst are Pareto-distributed: at least so many (fitted to AN-202), with this exponent
(assumed: traffic of file systems and of the Web has such tails), at most an installation's."""
STUTTER_NS = NS_PER_S // 2
"""A request that takes longer is noticed: the article calls pauses of half a second so."""


def hours_of_use(duration_s: int, place: Place, seed: int) -> Requests:
    """Use of a desktop for a time: every 10 s a burst of small writes at random places, which
    nobody waits for, and then a read that somebody waits for."""
    rng = np.random.Generator(np.random.PCG64(derive_seed(seed, "use")))
    bursts = duration_s // BURST_PERIOD_S
    pareto = BURST_LEAST * (1 - rng.random(bursts)) ** (-1 / BURST_SHAPE)
    lengths = np.minimum(pareto, BURST_MOST).astype(np.int64)
    count = int(lengths.sum()) + bursts
    last = np.cumsum(lengths + 1) - 1
    first = np.concatenate([[0], last[:-1] + 1])
    read = np.zeros(count, dtype=np.bool_)
    read[last] = True
    think = np.zeros(count, dtype=np.uint64)
    think[first] = BURST_PERIOD_S * NS_PER_S
    think[last] = ONE_AFTER_ANOTHER_NS
    clusters = min(place.size_bytes, FILES_BYTES) // CLUSTER_BYTES
    sectors = CLUSTER_BYTES // SECTOR_BYTES
    places = np.floor(rng.random(count) * clusters).astype(np.uint64) * np.uint64(sectors)
    return Requests(
        op=np.where(read, READ, WRITE).astype(np.uint8),
        lba=places + np.uint64(place.first_byte // SECTOR_BYTES),
        sector_count=np.full(count, sectors, dtype=np.uint32),
        think_ns=think,
        background=(~read).astype(np.uint8),
    )
