"""A field of colour of many requests: when they were done, and how long they took."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from drivelab.charts.chart import Chart
from drivelab.charts.drawing import Text, rounded
from drivelab.charts.scales import Scale

TIMES, BINS_PER_DECADE = 90, 20
HEIGHT_PX = 260
SHORTEST_US = 1e-3
"""What takes no time is drawn as this."""


def density(text: Text, times_s: ArrayLike, latencies_us: ArrayLike) -> Chart:
    """How many requests took how long, in every stretch of time; darker is more.

    Both are of the same length, and there is at least one.
    """
    times, latencies = np.asarray(times_s, float), np.asarray(latencies_us, float)
    latencies = np.maximum(latencies, SHORTEST_US)
    time_edges = np.linspace(min(0.0, times.min()), times.max() or 1.0, TIMES + 1)
    latency_edges = _edges(latencies)
    counts, _, _ = np.histogram2d(times, latencies, (time_edges, latency_edges))
    return counted(text, time_edges, latency_edges, counts)


def counted(text: Text, times_s: ArrayLike, latencies_us: ArrayLike, requests: ArrayLike) -> Chart:
    """The same of requests that were counted: edges of stretches of time and of latencies, each one
    more than there are stretches, and requests of shape (stretches of time, of latencies)."""
    time_edges, latency_edges = np.asarray(times_s, float), np.asarray(latencies_us, float)
    latency_edges = np.maximum(latency_edges, SHORTEST_US)
    counts = np.asarray(requests)
    across, up = np.nonzero(counts)
    columns: dict[str, Sequence[float]] = {
        "x": _told(time_edges[across]), "x2": _told(time_edges[across + 1]),
        "y": _told(latency_edges[up]), "y2": _told(latency_edges[up + 1]),
        "v": counts[across, up].astype(int).tolist(),
    }  # fmt: skip
    x, y = Scale("Time", "s"), Scale("Latency", "µs", "log")
    color = {
        "field": "v", "type": "quantitative",
        "scale": {"type": "log", "range": ["$rule", "$link", "$new"]},
        "legend": {"title": "requests", "orient": "right", "gradientLength": 140},
    }  # fmt: skip
    encoding = {
        "x": {"field": "x", **x.across(time_edges.tolist())}, "x2": {"field": "x2"},
        "y": {"field": "y", **y.upright(latency_edges.tolist())}, "y2": {"field": "y2"},
        "color": color,
    }  # fmt: skip
    spec = {"mark": {"type": "rect", "clip": True}, "encoding": encoding}
    meta = {"kind": "density", "x": x.meta, "y": y.meta}
    words = text.description or f"{text.title}, of {int(counts.sum())} requests"
    return Chart(text.id, text.title, text.subtitle, words, HEIGHT_PX, spec, columns, (), meta)


def _edges(latencies: NDArray[np.float64]) -> NDArray[np.float64]:
    """Edges of bins of even width on a log axis, around all latencies."""
    first = math.floor(math.log10(latencies.min()) * BINS_PER_DECADE)
    last = math.floor(math.log10(latencies.max()) * BINS_PER_DECADE) + 1
    found: NDArray[np.float64] = 10.0 ** (np.arange(first, last + 1) / BINS_PER_DECADE)
    return found


def _told(values: NDArray[np.float64]) -> list[float]:
    return [rounded(value) for value in values.tolist()]
