"""Statistics of a trace, as the reviews print them: measured on requests, whoever made them.

What the words mean on a list of requests, which knows when each was issued and nothing of its end:

- *Sequential* is a request that starts where the request before it, in the same direction, ended.
- *Queue depth* of a request is the number of requests outstanding when it was issued, itself
  included. Requests recorded at the same moment are a burst: the n-th of it was issued while n - 1
  others were outstanding, and all of a burst are done before the next.
- *Duration* is the time from the first request's arrival to the last's.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from drivelab.errors import RequestError
from drivelab.quantities import GB, KIB, NS_PER_S, SECTOR_BYTES
from drivelab.workload import READ, WRITE, Requests


@dataclass(frozen=True)
class Statistics:
    """What the reviews say about a trace. Percentages are of all requests."""

    reads: int
    writes: int
    gb_read: float
    """10^9 bytes."""
    gb_written: float
    pct_4kb: float
    """Requests of exactly 4 KiB; the others alike."""
    pct_16kb: float
    pct_32kb: float
    pct_64kb: float
    pct_sequential: float
    mean_queue_depth: float
    pct_at_depth_1: float
    max_queue_depth: int
    duration_min: float
    span_gb: float
    """Where the last byte ends that is touched, in 10^9 bytes from LBA 0."""

    def as_dict(self) -> dict[str, float]:
        """Every statistic by its name."""
        return asdict(self)


def statistics(requests: Requests) -> Statistics:
    """Measures reads and writes of a trace; raises RequestError if there are none, or no times."""
    if requests.arrival_ns is None:
        raise RequestError("trace: has no arrival times, so no queue depth and no duration")
    moved = (requests.op == READ) | (requests.op == WRITE)
    count = int(moved.sum())
    if count == 0:
        raise RequestError("trace: has no reads and no writes")
    op, lba = requests.op[moved], requests.lba[moved].astype(np.int64)
    sectors = requests.sector_count[moved].astype(np.int64)
    arrival_ns = requests.arrival_ns[moved]
    size_bytes, depth = sectors * SECTOR_BYTES, queue_depths(arrival_ns)

    def percent(chosen: NDArray[np.bool_]) -> float:
        return 100 * int(chosen.sum()) / count

    carries_on = (lba[1:] == (lba + sectors)[:-1]) & (op[1:] == op[:-1])
    return Statistics(
        reads=int((op == READ).sum()),
        writes=int((op == WRITE).sum()),
        gb_read=int(size_bytes[op == READ].sum()) / GB,
        gb_written=int(size_bytes[op == WRITE].sum()) / GB,
        pct_4kb=percent(size_bytes == 4 * KIB),
        pct_16kb=percent(size_bytes == 16 * KIB),
        pct_32kb=percent(size_bytes == 32 * KIB),
        pct_64kb=percent(size_bytes == 64 * KIB),
        pct_sequential=percent(carries_on),
        mean_queue_depth=float(depth.mean()),
        pct_at_depth_1=percent(depth == 1),
        max_queue_depth=int(depth.max()),
        duration_min=int(arrival_ns[-1] - arrival_ns[0]) / NS_PER_S / 60,
        span_gb=int((lba + sectors).max()) * SECTOR_BYTES / GB,
    )


def queue_depths(arrival_ns: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Queue depth of every request: its place among those of the same arrival, from 1."""
    first = burst_starts(arrival_ns)
    index = np.arange(len(arrival_ns))
    return index - np.maximum.accumulate(np.where(first, index, 0)) + 1


def burst_starts(arrival_ns: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which requests arrive later than the one before."""
    return np.concatenate(([True], arrival_ns[1:] != arrival_ns[:-1]))
