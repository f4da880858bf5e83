"""Plots of the library: matplotlib figures, which notebooks show and scripts save."""

from __future__ import annotations

import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from drivelab.quantities import number

COLOURS = ("#1d4ed8", "#c2410c", "#0f766e", "#7c3aed", "#b45309", "#be185d", "#0e7490", "#475569")
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")


def lines(means: pl.DataFrame, x: str, y: str, hue: str | None) -> Figure:
    """`y` over `x`, a line for each value of `hue`; bars are 95 % intervals."""
    figure = Figure(figsize=(7.0, 4.3), layout="constrained")
    axes = figure.subplots()
    names = means[hue].unique(maintain_order=True).to_list() if hue is not None else [None]
    for index, name in enumerate(names):
        part = means if hue is None else means.filter(pl.col(hue) == name)
        known = part.filter(pl.col(y).is_not_null())
        places = known[x].to_list()
        centre = known[y].to_list()
        bars = None
        if known["low"].null_count() < known.height:
            low = [m - (m if a is None else a) for m, a in zip(centre, known["low"], strict=True)]
            high = [(m if b is None else b) - m for m, b in zip(centre, known["high"], strict=True)]
            bars = [low, high]
        axes.errorbar(
            places,
            centre,
            yerr=bars,
            label=None if name is None else str(name),
            color=COLOURS[index % len(COLOURS)],
            marker=MARKERS[index % len(MARKERS)],
            markersize=5,
            linewidth=1.6,
            capsize=3,
        )
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    axes.grid(visible=True, color="#e2e8f0", linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    if hue is not None:
        axes.legend(title=hue, frameon=False)
    return figure
