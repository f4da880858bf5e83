"""Latencies on an axis of nines: how many requests take how long, of reports and of single runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from drivelab.charts.chart import Chart
from drivelab.charts.drawing import HEIGHT_PX, Line, Text, lines
from drivelab.charts.scales import Scale, nines

LONGEST_AT = 4.9
"""Where the longest latency stands, if shares are told up to 99.99 %; else behind the last."""
BEHIND = 0.5
SHARES = "Share of requests that stay below"


@dataclass(frozen=True)
class Curve:
    """Latencies of one state, drive or job: what share of the requests (percent) is below which
    latency (µs), and the longest of all."""

    name: str
    token: str
    percentiles: Sequence[tuple[float, float]]
    longest_us: float | None


def latencies(text: Text, curves: Sequence[Curve], *, height_px: int = HEIGHT_PX) -> Chart:
    """Shares on an axis of nines, latencies on a log axis: each step is ten times fewer."""
    places = [[(nines(at), us) for at, us in curve.percentiles if us > 0] for curve in curves]
    last = max((at for points in places for at, _ in points), default=0.0)
    end = max(LONGEST_AT, round(last + BEHIND, 4))
    parts = []
    for curve, points in zip(curves, places, strict=True):
        longest = [(end, curve.longest_us)] if curve.longest_us and curve.longest_us > 0 else []
        known = [*points, *longest]
        parts.append(
            Line(curve.name, curve.token, [at for at, _ in known], [us for _, us in known])
        )
    shares = Scale(SHARES, kind="nines", longest=end)
    return lines(text, parts, shares, Scale("Latency", "µs", "log"), height_px=height_px)
