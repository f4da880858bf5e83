"""Plots of a study: lines over one parameter, and what its page shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from drivelab import charts
from drivelab.charts import Chart, Coordinate, Line, Scale, Text, steady_colours
from drivelab.lab.sensitivity import is_number, levels
from drivelab.quantities import number

PANELS_MAX = 12
LABELS_MAX = 6
"""Most numbers that are all marked on an axis."""
LOG_FROM = 16
"""Numbers that differ by so many times are drawn on a log axis."""
UNITS = {"_us": "µs", "_bytes": "B"}
POINTS, MEANS = "points", "mean"


def lines(
    means: pl.DataFrame, x: str, y: str, hue: str | None, panels: Sequence[str], title: str
) -> Chart:
    """`y` over `x`, a line for each value of `hue`, a panel for each of `panels`' values; bars are
    95 % intervals."""
    groups = means.group_by(panels, maintain_order=True) if panels else [((), means)]
    hues = means[hue].unique(maintain_order=True).to_list() if hue is not None else [None]
    found = {
        ", ".join(f"{key} {name}" for key, name in zip(panels, names, strict=True)): _lines(
            part, x, y, hue, hues
        )
        for names, part in groups
    }
    subtitle = f"a line for each {hue}" if hue is not None and len(hues) > 1 else ""
    text = Text(title, subtitle, f"{title}: {y} over {x}")
    return charts.panels(text, found, scale(x, means[x].to_list()), _scale_of(y))


def of_rows(rows: Sequence[dict[str, Any]], keys: Sequence[str], metric: str, title: str) -> Chart:
    """The same of rows of a study's `frame` that somebody has kept: one seed, so no intervals.

    The key with the most values is what it is drawn over, the other one the lines; numbers before
    names.
    """
    frame = pl.DataFrame(rows, infer_schema_length=None).filter(pl.col(metric).is_not_null())
    bounds = [pl.lit(None, dtype=pl.Float64).alias(name) for name in ("low", "high")]
    means = frame.select(*keys, "direction", metric, *bounds)

    def rank(key: str) -> tuple[bool, int]:
        return is_number(means[key].to_list()), means[key].n_unique()

    x, *others = sorted(keys, key=rank, reverse=True)
    panels = ["direction"] if means["direction"].n_unique() > 1 else []
    return lines(means, x, metric, others[0] if others else None, panels, title)


def _lines(
    means: pl.DataFrame, x: str, y: str, hue: str | None, names: Sequence[Any]
) -> list[Line]:
    found = []
    for name, token in zip(names, steady_colours([str(name) for name in names]), strict=True):
        part = means if hue is None else means.filter(pl.col(hue) == name)
        known = part.filter(pl.col(y).is_not_null())
        found.append(
            Line(
                "" if name is None else str(name),
                token,
                _places(known[x].to_list()),
                known[y].to_list(),
                low=known["low"].to_list(),
                high=known["high"].to_list(),
            )
        )
    return found


def effect(frame: pl.DataFrame, key: str, metric: str, chart_id: str = "") -> Chart:
    """Small: a metric of all points over one parameter, and the mean of each level."""
    known = frame.filter(pl.col(metric).is_not_null())
    places, values = _places(known[key].to_list()), known[metric].to_list()
    groups: dict[int, list[tuple[Any, float]]] = {}
    for level, place, value in zip(levels(known[key].to_list()), places, values, strict=True):
        groups.setdefault(level, []).append((place, value))
    means = [(_mean([at for at, _ in own]), _mean([v for _, v in own])) for own in groups.values()]
    if is_number(places):
        means.sort()
    return charts.effect(
        Text(f"{metric} over {key}", id=chart_id),
        Line(POINTS, "$other", places, values),
        Line(MEANS, "$new", [at for at, _ in means], [value for _, value in means]),
        scale(key, known[key].to_list()),
        _scale_of(metric),
    )


def _mean(values: Sequence[Any]) -> Any:
    """The mean of numbers; a name is that of all."""
    return math.fsum(values) / len(values) if is_number(values) else values[0]


def scale(title: str, values: Sequence[Any]) -> Scale:
    """The axis of a parameter: of names, or of numbers, log if they differ much."""
    distinct = sorted(set(values)) if is_number(values) else []
    if not distinct:
        return Scale(title, kind="names")
    is_log = distinct[0] > 0 and distinct[-1] >= LOG_FROM * distinct[0]
    marks = tuple(distinct) if len(distinct) <= LABELS_MAX else ()
    return replace(_scale_of(title), kind="log" if is_log else "linear", marks=marks)


def _scale_of(name: str) -> Scale:
    """The axis of a column: its marks are written with their unit, as 4 ms of latency_mean_us, so
    that its title leaves out what the name says of it."""
    for end, unit in UNITS.items():
        if name.endswith(end):
            return Scale(name.removesuffix(end), unit)
    return Scale(name)


def _places(values: Sequence[Any]) -> list[Any]:
    """Where values lie on their axis: numbers by size, all else by name."""
    return list(values) if is_number(values) else [str(value) for value in values]


def parallel(
    frame: pl.DataFrame, keys: Sequence[str], metrics: Sequence[str], hue: str, chart_id: str = ""
) -> Chart:
    """Parallel coordinates: a line for each point across all that was varied and measured, its
    colour by a metric."""
    known = frame.filter(pl.col(hue).is_not_null())
    coordinates = [_coordinate(name, known[name].to_list()) for name in (*keys, *metrics)]
    words = f"A line for each point across {', '.join((*keys, *metrics))}; its colour is {hue}"
    text = Text("A line for each point", f"its colour is {hue}", words, chart_id)
    return charts.parallel(text, coordinates, known[hue].to_list(), hue)


def _coordinate(name: str, values: Sequence[Any]) -> Coordinate:
    """One axis: where each value lies on it, 0 to 1, and what is marked."""
    known = [value for value in dict.fromkeys(values) if value is not None]
    if is_number(known):
        low, high = min(known, default=0), max(known, default=1)
        is_log = low > 0 and high >= LOG_FROM * low
        span = math.log(high / low) if is_log else high - low
        found = {v: (math.log(v / low) if is_log else v - low) / (span or 1) for v in known}
        marks = sorted(known) if len(known) <= 5 else [low, high]
    else:
        found = {v: place / max(1, len(known) - 1) for place, v in enumerate(known)}
        marks = known
    names = {(number(m) if isinstance(m, int | float) else str(m)): found[m] for m in marks}
    return Coordinate(name, [found.get(value) for value in values], names)
