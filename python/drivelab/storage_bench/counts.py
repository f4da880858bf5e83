"""How many requests of each direction and size a trace has, and how many carry on in sequence."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from drivelab.quantities import GB, KIB
from drivelab.storage_bench.specification import SIZES_KIB, Specification

_STEPS = 200
"""Halvings of an interval at most; mostly a double can't be halved any more after sixty."""


def rounded(shares: NDArray[np.float64], total: int) -> NDArray[np.int64]:
    """Whole numbers near `shares`, scaled to add up to `total` (largest remainders)."""
    exact = shares * (total / shares.sum())
    whole = np.floor(exact).astype(np.int64)
    order = np.argsort(whole - exact, kind="stable")
    whole[order[: total - int(whole.sum())]] += 1
    return np.asarray(whole)


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a rising function of a number between `low` and `high` crosses 0, or the nearer end."""
    for _ in range(_STEPS):
        ends, middle = (low, high), (low + high) / 2
        if function(middle) < 0:
            low = middle
        else:
            high = middle
        if middle in ends:
            # There is no double between the two: nothing changes any more.
            break
    return (low + high) / 2


def size_counts(trace: Specification) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sizes in KiB, ascending, and how many requests have each.

    Published shares first; what they leave goes to the other sizes by their weights. A size with a
    published share isn't among the others unless the review is silent about it.
    """
    shares: dict[int, float] = {}
    for size_kib in SIZES_KIB:
        if f"pct_{size_kib}kb" in trace.aims:
            shares[size_kib] = trace.aim(f"pct_{size_kib}kb")
    rest, weights = 100 - sum(shares.values()), sum(trace.other_sizes_kib.values())
    for size_kib, weight in trace.other_sizes_kib.items():
        shares[size_kib] = rest * weight / weights
    sizes = np.array(sorted(shares), dtype=np.int64)
    counts = rounded(np.array([shares[size] for size in sizes]), trace.request_count)
    return sizes, counts


def write_counts(
    trace: Specification, sizes_kib: NDArray[np.int64], counts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """How many requests of each size are writes.

    The odds that a request is a write go with a power of its size; factor and power follow from the
    number of writes and the bytes that they write.
    """
    writes, size_bytes = round(trace.aim("writes")), sizes_kib * float(KIB)
    logarithm = np.log2(sizes_kib)

    def split(power: float) -> NDArray[np.float64]:
        def part(factor: float) -> NDArray[np.float64]:
            return np.asarray(counts / (1 + np.exp(-(factor + power * logarithm))))

        return part(root(lambda factor: float(part(factor).sum()) - writes, -60.0, 60.0))

    wanted = trace.aim("gb_written") * GB
    power = root(lambda power: float((split(power) * size_bytes).sum()) - wanted, -6.0, 6.0)
    return np.minimum(rounded(split(power), writes), counts)


def sequential_counts(
    trace: Specification, sizes_kib: NDArray[np.int64], counts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """How many requests of each class carry on where the one before ended.

    `counts`: requests of each class, whose sizes are `sizes_kib`. The odds go with a power of the
    size (`Habits.sequential_power`); every class keeps at least one that doesn't.
    """
    wanted = round(trace.request_count * trace.aim("pct_sequential") / 100)
    power = trace.habits.sequential_power
    room = np.maximum(counts - 1, 0)

    def part(factor: float) -> NDArray[np.float64]:
        return np.asarray(room / (1 + np.exp(-(factor + power * np.log(sizes_kib)))))

    factor = root(lambda factor: float(part(factor).sum()) - wanted, -60.0, 60.0)
    return np.minimum(rounded(part(factor), wanted), room)
