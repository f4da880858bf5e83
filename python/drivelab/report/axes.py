"""Axes of plots, the nines axis, and labels at the ends of lines that don't overlap."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

NINES = (50.0, 90.0, 99.0, 99.9, 99.99)
MAX_AT = 4.9  # where the longest latency stands on the nines axis
LINE_HEIGHT_SHARE = 0.085  # of a small plot's height; labels closer than this are spread


def nines(percent: float) -> float:
    """Position on the nines axis: 90 % is 1, 99 % is 2, 99.9 % is 3."""
    return -math.log10(1 - percent / 100)


def spread(values: list[float], gap: float) -> list[float]:
    """The values moved apart as little as needed for each to be `gap` from the next."""
    order = sorted(range(len(values)), key=lambda index: values[index])
    groups: list[list[int]] = []
    for index in order:
        groups.append([index])
        while (
            len(groups) > 1 and _low(groups[-1], values, gap) < _high(groups[-2], values, gap) + gap
        ):
            tail = groups.pop()
            groups[-1] += tail
    placed = list(values)
    for group in groups:
        for rank, index in enumerate(group):
            placed[index] = _low(group, values, gap) + rank * gap
    return placed


def below(values: list[float], limit: float, gap: float) -> list[float]:
    """Spread values moved down as far as needed for none to stand above the limit."""
    placed = list(values)
    order = sorted(range(len(values)), key=lambda index: values[index], reverse=True)
    for rank, index in enumerate(order):
        placed[index] = min(placed[index], limit - rank * gap)
    return placed


def _low(group: list[int], values: list[float], gap: float) -> float:
    return sum(values[index] for index in group) / len(group) - gap * (len(group) - 1) / 2


def _high(group: list[int], values: list[float], gap: float) -> float:
    return _low(group, values, gap) + gap * (len(group) - 1)


def axis(**settings: Any) -> dict[str, Any]:
    """An axis in the colours of style.css that can't be zoomed, unless the settings differ."""
    return {
        "showgrid": True, "gridcolor": "$grid", "zeroline": False, "linecolor": "$axis",
        "tickcolor": "$axis", "fixedrange": True, "automargin": True, **settings,
    }  # fmt: skip


def label(text: str, y: float, token: str, x: float = 1.0, xref: str = "paper") -> dict[str, Any]:
    """A label right of a place, by default of the end of a line."""
    return {
        "text": f"<b>{text}</b>", "x": x, "xref": xref, "y": y, "xanchor": "left", "xshift": 5,
        "yanchor": "middle", "showarrow": False, "font": {"color": token, "size": 12},
    }  # fmt: skip


def log_axis(low: float, high: float, text: Callable[[float], str], **more: Any) -> dict[str, Any]:
    """A log axis between two exponents, at least a decade long, with ticks at 1, 2, 5 or at 1."""
    if high - low < 1:
        low, high = (high + low) / 2 - 0.5, (high + low) / 2 + 0.5
    ticks = [
        step * 10.0**decade
        for decade in range(math.floor(low), math.ceil(high) + 1)
        for step in ((1, 2, 5) if high - low < 2.7 else (1,))
        if low <= math.log10(step * 10.0**decade) <= high
    ]
    return axis(
        type="log", range=[low, high], tickvals=ticks, ticktext=[text(t) for t in ticks], **more
    )
