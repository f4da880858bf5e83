"""The plot of modelled against published values: log axes, and the ratio of the two below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from drivelab.quantities import number

Record = Mapping[str, Any]

BANDS = ((0.20, "#dfe6ee"), (0.05, "#b9c9dc"))
"""Relative errors that are shaded, and their colours."""
ROLES = {
    "predicted": "#c2410c",
    "transferred": "#b45309",
    "informed": "#0f766e",
    "restated": "#7c3aed",
    "fitted": "#1d4ed8",
    "not varied": "#64748b",
}
MARKERS = {"throughput": "o", "latency": "s", "power": "D", "ratio": "^"}
UNITS = {
    **dict.fromkeys(("MiB/s", "MB/s", "IOPS"), "throughput"),
    **dict.fromkeys(("ms", "s"), "latency"),
    "W": "power",
}
RATIO_MAX = 2.0
"""Errors beyond this factor are drawn at the edge, with their ratio."""
RATIO_MAX_LEAST = 1.4
"""The axis of ratios reaches at least so far, however good the models are."""
LABEL_MAX = 12
"""Most figures that are named in the plot: the farthest off."""
LABEL_POINTS = (44.0, 8.0)
"""Room that a name takes, in points."""
LABEL_OFFSETS = ((5, 3), (5, -9), (-36, 3), (-36, -9), (5, 12), (5, -18), (-36, 12), (-36, -18))
"""Where a name may begin beside its point, in points; the first free place counts."""


VALUES = "modelled values drawn: "


def write(records: Sequence[Record], path: Path) -> None:
    """Writes the plot as SVG; the same records give the same bytes.

    What it draws is in its description as text, so that it can be held against the page.
    """
    drawn = " ".join(f"{r['id']}={number(r['modelled'])}" for r in records if _drawn(r))
    metadata = {"Date": None, "Description": f"{VALUES}{drawn}"}
    with mpl.rc_context({"svg.hashsalt": "drivelab", "font.size": 9}):
        canvas(records).savefig(path, format="svg", metadata=metadata)


def canvas(records: Sequence[Record]) -> Canvas:
    """The drawing: on the left values, on the right their ratio."""
    points = [r for r in records if _drawn(r)]
    drawing = Canvas(figsize=(11, 5.4), layout="constrained")
    values, ratios = drawing.subplots(1, 2, width_ratios=(1, 1.15))
    _draw_values(values, points)
    _draw_ratios(ratios, points)
    drawing.legend(handles=_legend(points), loc="outside lower center", ncols=8, frameon=False)
    return drawing


def _drawn(record: Record) -> bool:
    """Values that are judged; bounds have no place on a diagonal."""
    error = record["error_ratio"]
    return record["role"] in ROLES and record["satisfied"] is None and error is not None


def _draw_values(axes: Axes, points: Sequence[Record]) -> None:
    values = [float(r[key]) for r in points for key in ("published", "modelled") if r[key] > 0]
    low, high = (min(values) / 2, max(values) * 2) if values else (0.1, 10.0)
    for limit, colour in BANDS:
        axes.fill_between(
            (low, high),
            (low * (1 - limit), high * (1 - limit)),
            (low * (1 + limit), high * (1 + limit)),
            color=colour,
            linewidth=0,
        )
    axes.plot((low, high), (low, high), color="#475569", linewidth=0.8)
    for record in points:
        _mark(axes, record, float(record["modelled"]))
    axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high), box_aspect=1)
    axes.set(xlabel="published, in the figure's unit", ylabel="modelled, in the same unit")
    axes.set_title("Every compared value", loc="left", fontsize=10)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_locator(NullLocator())
    axes.grid(color="#e2e8f0", linewidth=0.6)
    axes.set_axisbelow(True)


def _draw_ratios(axes: Axes, points: Sequence[Record]) -> None:
    for limit, colour in BANDS:
        axes.axhspan(1 - limit, 1 + limit, color=colour, linewidth=0)
    axes.axhline(1, color="#475569", linewidth=0.8)
    for record in points:
        _mark(axes, record, _shown_ratio(record))
    farthest = max((max(_shown_ratio(r), 1 / _shown_ratio(r)) for r in points), default=1.0)
    reach = 1.06 * max(farthest, RATIO_MAX_LEAST)
    axes.set(xscale="log", yscale="log", ylim=(1 / reach, reach))
    far = sorted(points, key=lambda r: -abs(float(r["error_ratio"])))[:LABEL_MAX]
    _label(axes, [r for r in far if abs(float(r["error_ratio"])) > BANDS[0][0]])
    axes.set(xlabel="published, in the figure's unit")
    axes.set_title("Modelled / published, bands of ±5 % and ±20 %", loc="left", fontsize=10)
    axes.yaxis.set_major_locator(FixedLocator([0.5, 1 / 1.5, 0.8, 0.95, 1.05, 1.2, 1.5, 2.0]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda ratio, _: f"{(ratio - 1) * 100:+.0f} %"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(axis="x", color="#e2e8f0", linewidth=0.6)
    axes.set_axisbelow(True)


def _ratio(record: Record) -> float:
    return float(record["error_ratio"]) + 1


def _shown_ratio(record: Record) -> float:
    return min(max(_ratio(record), 1 / RATIO_MAX), RATIO_MAX)


def _label(axes: Axes, records: Sequence[Record]) -> None:
    """Names points, each where it covers no other name."""
    canvas = axes.get_figure()
    assert canvas is not None
    points_per_dot = 72 / canvas.dpi
    taken: list[tuple[float, float]] = []
    for record in sorted(records, key=lambda record: float(record["published"])):
        ratio, shown = _ratio(record), _shown_ratio(record)
        beyond = f" (×{ratio:.2g})" if shown != ratio else ""
        place = axes.transData.transform((float(record["published"]), shown)) * points_per_dot
        spots = [(place[0] + dx, place[1] + dy) for dx, dy in LABEL_OFFSETS]
        spot = next((s for s in spots if not any(_covers(s, other) for other in taken)), spots[0])
        taken.append(spot)
        axes.annotate(
            f"{record['id']}{beyond}",
            (float(record["published"]), shown),
            xytext=(spot[0] - place[0], spot[1] - place[1]),
            textcoords="offset points",
            fontsize=7,
            color="#334155",
        )


def _covers(spot: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether two names that begin here (in points) run into each other."""
    width, height = LABEL_POINTS
    return abs(spot[0] - other[0]) < width and abs(spot[1] - other[1]) < height


def _mark(axes: Axes, record: Record, height: float) -> None:
    colour = ROLES[record["role"]]
    axes.plot(
        float(record["published"]),
        height,
        marker=MARKERS[_kind(record)],
        markersize=5.5,
        markeredgecolor=colour,
        markeredgewidth=1.1,
        # Fitted ones are hollow: they say less.
        markerfacecolor=colour if record["role"] == "predicted" else "white",
        alpha=0.85,
        linestyle="none",
    )


def _kind(record: Record) -> str:
    return UNITS.get(record["unit"], "ratio")


def _legend(points: Sequence[Record]) -> list[Line2D | Patch]:
    handles: list[Line2D | Patch] = []
    for role, colour in ROLES.items():
        count = sum(record["role"] == role for record in points)
        if not count:
            continue
        face = colour if role == "predicted" else "white"
        handles.append(
            Line2D(
                [],
                [],
                marker="o",
                linestyle="none",
                color=colour,
                markerfacecolor=face,
                label=f"{role} ({count})",
            )
        )
    handles += [
        Line2D([], [], marker=marker, linestyle="none", color="#64748b", label=kind)
        for kind, marker in MARKERS.items()
        if any(_kind(record) == kind for record in points)
    ]
    return [
        *handles,
        *(Patch(color=colour, label=f"±{limit * 100:.0f} %") for limit, colour in BANDS),
    ]
