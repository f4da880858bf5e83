"""Latencies of the engine's reports in us, as results.json and the tables have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from drivelab.quantities import NS_PER_US

SPLIT_PARTS = ("queueing", "link", "firmware", "flash", "cleaning")
QUOTED_PERCENTILES = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "p99_9": 99.9, "p99_99": 99.99}

BEYOND_MIN = 10
"""A percentile says something if at least so many requests lie beyond it: of fewer it is nearly the
longest latency."""


def tells(requests: int, percent: float) -> bool:
    """Whether these are enough requests for a percentile."""
    return requests * (100 - percent) >= 100 * BEYOND_MIN * (1 - 1e-9)


def us(ns: float) -> float:
    """A time in us."""
    return ns / NS_PER_US


def split_us(split_ns: Mapping[str, float] | None) -> dict[str, float | None]:
    """Where the mean latency went, in us; parts add up to it. None without requests."""
    if split_ns is None:
        return dict.fromkeys(SPLIT_PARTS)
    return {part: split_ns[f"{part}_ns"] / NS_PER_US for part in SPLIT_PARTS}


def latency_us(latency_ns: Mapping[str, Any] | None) -> dict[str, Any]:
    """Mean, deviation, percentiles, extremes and histogram in us; None without requests."""
    keys = ("min", "mean", "stddev", *QUOTED_PERCENTILES, "max")
    if latency_ns is None:
        return dict.fromkeys(keys) | {"percentiles": [], "histogram": None}
    points = sorted((float(key), ns / NS_PER_US) for key, ns in latency_ns["percentiles"].items())
    at = dict(points)
    quoted = {key: at.get(percent) for key, percent in QUOTED_PERCENTILES.items()}
    whole = {key: latency_ns[key] / NS_PER_US for key in ("min", "mean", "stddev", "max")}
    values = whole | quoted
    return {key: values[key] for key in keys} | {
        "percentiles": [list(point) for point in points],
        "histogram": histogram_us(latency_ns.get("bins")),
    }


HISTOGRAM_BITS = 4
"""2^4 bins from each power of two to the next: none is wider than 6.3 % of what it holds. The
engine's own bins are finer and lie within these."""


def histogram_us(bins_ns: Sequence[Sequence[int]] | None) -> dict[str, Any] | None:
    """Requests by latency, of pairs of the highest time in a bin in ns and requests in it."""
    if not bins_ns:
        return None
    top_ns, count = np.array(bins_ns, dtype=np.int64).T
    # Times of bins are below 2^53: as floating-point numbers they are exact, and have their length.
    bits = np.frexp(top_ns)[1].astype(np.int64)
    width_ns = 1 << np.maximum(bits - 1 - HISTOGRAM_BITS, 0)
    edge_ns, place = np.unique((top_ns // width_ns + 1) * width_ns, return_inverse=True)
    requests = np.zeros(len(edge_ns), dtype=np.int64)
    np.add.at(requests, place, count)
    return {
        "latency_below_us": (edge_ns / NS_PER_US).tolist(),
        "requests": requests.tolist(),
    }
