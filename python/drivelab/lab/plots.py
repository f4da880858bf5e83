"""Plots of the library: matplotlib figures, which notebooks show and scripts save."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from drivelab.errors import RequestError, nearest
from drivelab.quantities import number

if TYPE_CHECKING:
    from drivelab.lab.result import Result

COLOURS = ("#1d4ed8", "#c2410c", "#0f766e", "#7c3aed", "#b45309", "#be185d", "#0e7490", "#475569")
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")


PARTS = {
    "queueing": "#94a3b8",
    "link": "#0e7490",
    "firmware": "#65a30d",
    "flash": "#1d4ed8",
    "cleaning": "#c2410c",
}
"""Parts of a latency, and their colours."""
NINES_MAX = 6


class Plots:
    """Pictures of one result; each is a matplotlib figure."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def latency(self) -> Figure:
        """How many requests take how long: shares on an axis of nines, latencies on a log axis."""
        figure, axes = _empty()
        for index, (name, part) in enumerate(_streams(self._result.latency)):
            # The slowest request of all lies beyond every share that can be drawn.
            shares = part["share"].to_list()
            places = [-math.log10(max(1.0 - share, 10.0**-NINES_MAX)) for share in shares]
            axes.step(
                part["latency_us"].to_list(), places, where="post", label=name, color=_colour(index)
            )
        axes.set_xscale("log")
        axes.set_xlabel("latency, µs")
        axes.set_ylabel("share of the requests, %")
        axes.set_ylim(0, NINES_MAX)
        axes.yaxis.set_major_locator(FixedLocator([0, math.log10(2), *range(1, NINES_MAX + 1)]))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(lambda place, _: _share_text(place)))
        return _finished(figure, axes)

    def series(self, column: str = "iops") -> Figure:
        """A column of `result.series` over time; raises RequestError for one that isn't there."""
        series = self._result.series
        known = [name for name in series.columns if name not in ("job", "direction", "time_s")]
        if column not in known:
            raise RequestError(
                f'"{column}" is not in series{nearest(column, known)} There are: {", ".join(known)}'
            )
        figure, axes = _empty()
        for index, (name, whole) in enumerate(_streams(series)):
            part = _without_stub(whole)
            axes.plot(
                part["time_s"].to_list(), part[column].to_list(), label=name, color=_colour(index)
            )
        axes.set_xlabel("time, s")
        axes.set_ylabel(column)
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
        return _finished(figure, axes)

    def parts(self) -> Figure:
        """Where the mean latency of each job and direction was spent."""
        figure, axes = _empty()
        streams = _streams(self._result.parts)
        left = [0.0] * len(streams)
        for part, colour in PARTS.items():
            widths = [table.filter(part=part)["mean_us"].item() for _, table in streams]
            axes.barh([name for name, _ in streams], widths, left=left, label=part, color=colour)
            left = [begin + width for begin, width in zip(left, widths, strict=True)]
        axes.invert_yaxis()
        axes.set_xlabel("mean latency, µs")
        return _finished(figure, axes)


def _empty() -> tuple[Figure, Axes]:
    figure = Figure(figsize=(7.0, 4.3), layout="constrained")
    return figure, figure.subplots()


def _finished(figure: Figure, axes: Axes) -> Figure:
    finished(axes)
    return figure


def finished(axes: Axes, *, legend: bool = True) -> None:
    """A grid, no frame, and a legend of several lines."""
    axes.grid(visible=True, color="#e2e8f0", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if legend and len(axes.get_legend_handles_labels()[1]) > 1:
        axes.legend(frameon=False)


def _colour(index: int) -> str:
    return COLOURS[index % len(COLOURS)]


def _streams(table: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """A table for each job and direction, with their names."""
    groups = table.group_by(["job", "direction"], maintain_order=True)
    return [(f"{job}, {direction}", part) for (job, direction), part in groups]


def _without_stub(series: pl.DataFrame) -> pl.DataFrame:
    """All intervals but a last one of less than half a length: its rates are of a few requests."""
    ends = series["time_s"].to_list()
    is_stub = len(ends) > 1 and ends[-1] - ends[-2] < 0.5 * ends[0]
    return series.head(-1) if is_stub else series


def _share_text(place: float) -> str:
    """A share that is drawn at so many nines, in percent."""
    if place > 2:
        return f"99.{'9' * (round(place) - 2)}"
    return f"{100 * (1 - 10**-place):.0f}"
