"""Bursts of requests that are issued together, and the times between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from drivelab.quantities import NS_PER_S, NS_PER_US
from drivelab.storage_bench.counts import root, rounded
from drivelab.storage_bench.specification import Specification


def burst_sizes(trace: Specification, rng: np.random.Generator) -> NDArray[np.int64]:
    """Sizes of all bursts in random order; they add up to the number of requests.

    Of B bursts among N requests, B requests have depth 1, and the mean depth is the sum of
    n (n + 1) / 2 over all bursts of n, over N. So the share at depth 1 and the mean depth give the
    first two moments of n. Bursts of more than one are taken to be geometrically distributed up to
    the longest; their parameter and their share follow from the two moments.
    """
    count, longest = trace.request_count, trace.habits.max_depth
    burst_count = round(count * trace.aim("pct_at_depth_1") / 100)
    mean = count / burst_count
    square = (2 * trace.aim("mean_queue_depth") - 1) * mean
    sizes = np.arange(2, longest + 1, dtype=np.int64)

    def shares(logarithm: float) -> NDArray[np.float64]:
        weights = np.exp(logarithm * (sizes - longest))
        return np.asarray(weights / weights.sum())

    def excess(logarithm: float) -> float:
        found = shares(logarithm)
        return float((found * (sizes**2 - 1)).sum() / (found * (sizes - 1)).sum())

    wanted = (square - 1) / (mean - 1)
    longer = shares(root(lambda logarithm: excess(logarithm) - wanted, -20.0, 20.0))
    several = (mean - 1) / float((longer * (sizes - 1)).sum())
    counts = rounded(np.concatenate(([1 - several], several * longer)), burst_count)
    bursts = np.repeat(np.arange(1, longest + 1), counts)
    # Rounding leaves a few requests too many or too few: bursts near the mean take them.
    left = count - int(bursts.sum())
    room = np.flatnonzero((bursts > 1 - min(left, 0)) & (bursts < longest))
    bursts[room[: abs(left)]] += np.sign(left)
    return np.asarray(bursts[np.argsort(rng.random(len(bursts)), kind="stable")])


def burst_times_ns(
    trace: Specification, burst_count: int, rng: np.random.Generator
) -> NDArray[np.uint64]:
    """When each burst is issued, from 0 to the trace's duration, in whole us.

    Times between bursts are Weibull distributed (`Habits.gap_shape`), at least 1 us.
    """
    duration_us = round(trace.aim("duration_min") * 60 * NS_PER_S / NS_PER_US)
    draws = -np.log1p(-rng.random(burst_count - 1))
    gaps = draws ** (1 / trace.habits.gap_shape)
    spare_us = duration_us - (burst_count - 1)
    # Rounding the running sum, not each gap, keeps the total exact.
    passed_us = np.rint(np.cumsum(gaps) / gaps.sum() * spare_us).astype(np.uint64)
    times_us = passed_us + np.arange(1, burst_count, dtype=np.uint64)
    zero = np.zeros(1, dtype=np.uint64)
    return np.concatenate((zero, times_us)) * np.uint64(NS_PER_US)
