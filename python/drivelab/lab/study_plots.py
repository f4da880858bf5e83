"""Plots of a study: lines over one parameter, and what its page shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from drivelab.lab.plots import COLOURS, MARKERS, finished
from drivelab.lab.sensitivity import is_number, levels
from drivelab.quantities import number

PANELS_MAX = 12
PANELS_IN_ROW = 3
LABELS_MAX = 6
LOG_FROM = 16
"""Numbers that differ by so many times are drawn on a log axis."""


def lines(
    means: pl.DataFrame, x: str, y: str, hue: str | None, panels: Sequence[str], title: str
) -> Figure:
    """`y` over `x`, a line for each value of `hue`, a panel for each of `panels`' values; bars are
    95 % intervals."""
    parts = means.group_by(panels, maintain_order=True) if panels else [((), means)]
    found = [(names, part) for names, part in parts]
    columns = min(len(found), PANELS_IN_ROW)
    rows = math.ceil(len(found) / columns)
    size = (7.0, 4.3) if len(found) == 1 else (3.6 * columns, 3.1 * rows + 0.3)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    colours = means[hue].unique(maintain_order=True).to_list() if hue is not None else [None]
    places = list(grid.flat)
    for axes, (names, part) in zip(places, found, strict=False):
        _lines(axes, part, x, y, hue, colours)
        if is_number(means[x].to_list()):
            _number_axis(axes, means[x].unique().to_list())
        labels = [f"{key} {name}" for key, name in zip(panels, names, strict=True)]
        axes.set_title(", ".join(labels) or title, fontsize=10, loc="left")
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
        finished(axes, legend=False)
    for axes in places[len(found) :]:
        axes.set_visible(False)
    for index, axes in enumerate(places[: len(found)]):
        axes.set_ylabel(y if index % columns == 0 else "")
        # A panel without one below it has the axis.
        is_last = index + columns >= len(found)
        axes.set_xlabel(x if is_last else "")
        axes.tick_params(labelbottom=is_last)
    if panels:
        figure.suptitle(title, fontsize=10, x=0.01, ha="left")
    if hue is not None:
        places[0].legend(title=hue, frameon=False, fontsize=None if len(found) == 1 else 8)
    return figure


def _lines(
    axes: Axes, means: pl.DataFrame, x: str, y: str, hue: str | None, names: Sequence[Any]
) -> None:
    for index, name in enumerate(names):
        part = means if hue is None else means.filter(pl.col(hue) == name)
        known = part.filter(pl.col(y).is_not_null())
        centre = known[y].to_list()
        bars = None
        if known["low"].null_count() < known.height:
            low = [m - (m if a is None else a) for m, a in zip(centre, known["low"], strict=True)]
            high = [(m if b is None else b) - m for m, b in zip(centre, known["high"], strict=True)]
            bars = [low, high]
        axes.errorbar(
            known[x].to_list(),
            centre,
            yerr=bars,
            label=None if name is None else str(name),
            color=COLOURS[index % len(COLOURS)],
            marker=MARKERS[index % len(MARKERS)],
            markersize=5,
            # Between names there is nothing.
            linestyle="-" if is_number(known[x].to_list()) else "",
            linewidth=1.6,
            capsize=3,
        )


def effect(frame: pl.DataFrame, key: str, metric: str) -> Figure:
    """Small: a metric of all points over one parameter, and the mean of each level."""
    figure = Figure(figsize=(3.1, 2.3), layout="constrained")
    axes = figure.subplots()
    known = frame.filter(pl.col(metric).is_not_null())
    places = _places(axes, known[key].to_list())
    values = known[metric].to_list()
    axes.plot(places, values, ".", color="#94a3b8", markersize=4, alpha=0.6)
    groups: dict[int, list[tuple[float, float]]] = {}
    for level, place, value in zip(levels(known[key].to_list()), places, values, strict=True):
        groups.setdefault(level, []).append((place, value))
    means = [
        [math.fsum(part) / len(own) for part in zip(*own, strict=True)] for own in groups.values()
    ]
    means.sort()
    # Between names there is nothing.
    line = "-" if is_number(known[key].to_list()) else ""
    x, y = zip(*means, strict=True)
    axes.plot(x, y, line, color=COLOURS[0], marker="o", markersize=5, linewidth=1.6)
    axes.set_ylim(bottom=0)
    axes.set_xlabel(key, fontsize=9)
    axes.set_ylabel(metric, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    finished(axes, legend=False)
    return figure


def _number_axis(axes: Axes, distinct: Sequence[float]) -> None:
    """The x axis of these numbers: a log one if they differ much."""
    if min(distinct) > 0 and max(distinct) >= LOG_FROM * min(distinct):
        axes.set_xscale("log")
        axes.xaxis.set_minor_locator(NullLocator())
    else:
        axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    if len(distinct) <= LABELS_MAX:
        axes.xaxis.set_major_locator(FixedLocator(sorted(distinct)))


def _places(axes: Axes, values: Sequence[Any]) -> list[float]:
    """Where values lie on the x axis: numbers by size, names one after another."""
    distinct = list(dict.fromkeys(values))
    if is_number(distinct):
        _number_axis(axes, distinct)
        return [float(value) for value in values]
    axes.set_xticks(range(len(distinct)), [str(value) for value in distinct])
    if sum(len(str(value)) for value in distinct) > 24:
        axes.tick_params(axis="x", rotation=30)
    axes.set_xlim(-0.4, len(distinct) - 0.6)
    return [float(distinct.index(value)) for value in values]


def parallel(frame: pl.DataFrame, keys: Sequence[str], metrics: Sequence[str], hue: str) -> Figure:
    """Parallel coordinates: a line for each point across all that was varied and measured, its
    colour by a metric."""
    columns = [*keys, *metrics]
    figure = Figure(figsize=(max(6.0, 1.35 * len(columns)), 3.9), layout="constrained")
    axes = figure.subplots()
    known = frame.filter(pl.col(hue).is_not_null())
    shown = known[hue].to_list()
    low, high = min(shown, default=0.0), max(shown, default=1.0)
    scale = ScalarMappable(Normalize(low, high if high > low else low + 1), "viridis")
    heights = [_heights(axes, index, known[name].to_list()) for index, name in enumerate(columns)]
    for row, value in zip(zip(*heights, strict=True), known[hue], strict=True):
        axes.plot(range(len(columns)), row, color=scale.to_rgba(value), linewidth=1, alpha=0.7)
    axes.set_xlim(-0.15, len(columns) - 0.55)
    axes.set_ylim(-0.04, 1.04)
    axes.set_xticks(
        range(len(columns)),
        [name.replace("_", "_\n", 1) if len(name) > 14 else name for name in columns],
        fontsize=8,
    )
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.yaxis.set_visible(False)
    axes.spines[:].set_visible(False)
    figure.colorbar(scale, ax=axes, label=hue, pad=0.01, fraction=0.03)
    return figure


def _heights(axes: Axes, index: int, values: Sequence[Any]) -> list[float | None]:
    """Draws one axis; where each value lies on it, 0 to 1."""
    known = [value for value in dict.fromkeys(values) if value is not None]
    axes.axvline(index, color="#475569", linewidth=0.8, zorder=3)
    if is_number(known):
        low, high = min(known, default=0), max(known, default=1)
        is_log = low > 0 and high >= LOG_FROM * low
        span = math.log(high / low) if is_log else high - low
        found = {v: (math.log(v / low) if is_log else v - low) / (span or 1) for v in known}
        marks = sorted(known) if len(known) <= 5 else [low, high]
    else:
        found = {v: place / max(1, len(known) - 1) for place, v in enumerate(known)}
        marks = known
    for mark in marks:
        text = number(mark) if isinstance(mark, int | float) else str(mark)
        box = {"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 0.6}
        axes.text(index + 0.03, found[mark], text, fontsize=7.5, va="center", zorder=4, bbox=box)
    return [found.get(value) for value in values]
