"""The plot of modelled against published values: log axes, and the ratio of the two beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from drivelab.charts import Chart, Mark, Text, judged
from drivelab.charts.judged import HEIGHT_PX, RATIOS_PX
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
KINDS = ("throughput", "latency", "power", "ratio")
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
LABEL_PX = (74.0, 10.0)
"""Room that a name takes."""
LABEL_OFFSETS = ((6, -4), (6, 9), (-46, -4), (-46, 9), (6, -16), (6, 20), (-46, -16), (-46, 20))
"""Where a name may begin beside its point, in pixels; the first free place counts."""


VALUES = "modelled values drawn: "


def write(records: Sequence[Record], path: Path) -> None:
    """Writes the plot as SVG; the same records give the same bytes.

    What it draws is in its description as text, so that it can be held against the page.
    """
    drawn = " ".join(f"{r['id']}={number(r['modelled'])}" for r in records if _drawn(r))
    head, end, body = chart(records).svg().partition(">")
    path.write_text(f"{head}{end}<desc>{escape(VALUES + drawn)}</desc>{body}", encoding="utf-8")


def chart(records: Sequence[Record]) -> Chart:
    """The drawing: on the left values, on the right their ratio."""
    points = [r for r in records if _drawn(r)]
    values = [float(r[key]) for r in points for key in ("published", "modelled") if r[key] > 0]
    ends = (min(values) / 2, max(values) * 2) if values else (0.1, 10.0)
    farthest = max((max(_shown_ratio(r), 1 / _shown_ratio(r)) for r in points), default=1.0)
    reach = 1.06 * max(farthest, RATIO_MAX_LEAST)
    names = _names(points, ends, reach)
    counts = {role: sum(r["role"] == role for r in points) for role in ROLES}
    words = {role: f"{role} ({count})" for role, count in counts.items()}
    marks = [
        Mark(
            float(r["published"]), float(r["modelled"]), _shown_ratio(r), words[r["role"]],
            _kind(r), *names.get(index, ("", 0.0, 0.0)),
        )
        for index, r in enumerate(points)
    ]  # fmt: skip
    return judged(
        Text("", "", f"{len(points)} values, modelled against published"),
        marks,
        {words[role]: colour for role, colour in ROLES.items() if counts[role]},
        [kind for kind in KINDS if any(_kind(r) == kind for r in points)],
        bands=BANDS, ends=ends, reach=reach, solid=words["predicted"],
    )  # fmt: skip


def _drawn(record: Record) -> bool:
    """Values that are judged; bounds have no place on a diagonal."""
    error = record["error_ratio"]
    return record["role"] in ROLES and record["satisfied"] is None and error is not None


def _ratio(record: Record) -> float:
    return float(record["error_ratio"]) + 1


def _shown_ratio(record: Record) -> float:
    return min(max(_ratio(record), 1 / RATIO_MAX), RATIO_MAX)


def _names(
    points: Sequence[Record], ends: tuple[float, float], reach: float
) -> dict[int, tuple[str, float, float]]:
    """Names of the points farthest off, by their places, each where it covers no other name."""
    far = sorted(range(len(points)), key=lambda i: -abs(float(points[i]["error_ratio"])))
    shown = [i for i in far[:LABEL_MAX] if abs(float(points[i]["error_ratio"])) > BANDS[0][0]]
    taken: list[tuple[float, float]] = []
    found = {}
    for index in sorted(shown, key=lambda i: float(points[i]["published"])):
        record = points[index]
        ratio, drawn = _ratio(record), _shown_ratio(record)
        beyond = f" (×{ratio:.2g})" if drawn != ratio else ""
        x = RATIOS_PX * _along(float(record["published"]), *ends)
        y = HEIGHT_PX * (1 - _along(drawn, 1 / reach, reach))
        spots = [((x + dx, y + dy), (dx, dy)) for dx, dy in LABEL_OFFSETS]
        free = (s for s in spots if not any(_covers(s[0], other) for other in taken))
        place, (dx, dy) = next(free, spots[0])
        taken.append(place)
        found[index] = (f"{record['id']}{beyond}", float(dx), float(dy))
    return found


def _along(value: float, low: float, high: float) -> float:
    """How far along a log axis a value lies, 0 to 1."""
    return math.log(value / low) / math.log(high / low)


def _covers(spot: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether two names that begin here (in pixels) run into each other."""
    width, height = LABEL_PX
    return abs(spot[0] - other[0]) < width and abs(spot[1] - other[1]) < height


def _kind(record: Record) -> str:
    return UNITS.get(record["unit"], "ratio")
