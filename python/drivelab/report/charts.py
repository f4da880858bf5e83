"""Plots as plotly.js specifications; a colour "$name" is the CSS property --name of style.css."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from drivelab.report import quantities as q
from drivelab.report.axes import (
    LINE_HEIGHT_SHARE,
    MAX_AT,
    NINES,
    axis,
    below,
    label,
    log_axis,
    nines,
    spread,
)
from drivelab.report.bars import figure_quantity
from drivelab.report.measurements import BOUNDS, Figure, Measurement, Review
from drivelab.verdicts import TOLERANCE_RATIO


@dataclass(frozen=True)
class Chart:
    """One plot: what plotly.js draws, and the same in words for those who can't see it."""

    id: str
    title: str
    subtitle: str
    description: str
    height_px: int
    spec: dict[str, Any]


def colour(test: Measurement) -> str:
    """The colour token of a test's state."""
    return f"${test.standing.colour}"


def _margin(shown: list[Measurement]) -> int:
    """Room in px for the longest label at the right end of a line."""
    return max(62, 16 + 7 * max(len(test.state) for test in shown))


@dataclass(frozen=True)
class Course:
    """What throughput is drawn along (time, position), and how; rates in the subtitle's unit."""

    subtitle: str
    preposition: str
    suffix: str
    rates: Callable[[Measurement], Sequence[float | None]]
    step: Callable[[Measurement], float]
    """Length of a rate's stretch, in the unit of `suffix`."""
    span: Callable[[float, float], str]
    """The least and the highest rate in words."""
    hover: str
    digits: tuple[int, int]
    """Decimals of places and of rates."""
    line_px: float
    tick_count: int
    hovermode: str
    height_px: int


OVER_TIME = Course(
    subtitle="MiB/s against time",
    preposition="over time",
    suffix=" s",
    rates=lambda test: test.series_mib_per_s,
    step=lambda test: test.series_interval_s,
    span=lambda low, high: f"{q.throughput(low)} to {q.throughput(high)}",
    hover="%{y:.1f} MiB/s at %{x:.0f} s",
    digits=(6, 4),
    line_px=1.6,
    tick_count=5,
    hovermode="x unified",
    height_px=190,
)
OVER_POSITION = Course(
    subtitle="MB/s (10⁶) against position",
    preposition="against position",
    suffix=" GB",
    rates=lambda test: test.zones_mb_per_s,
    step=lambda test: (test.zone_bytes or 0.0) / 1e9,
    span=lambda low, high: f"{low:.3g} to {high:.3g} MB/s",
    hover="%{y:.1f} MB/s at %{x:.1f} GB",
    digits=(4, 2),
    line_px=1.2,
    tick_count=6,
    hovermode="closest",
    height_px=240,
)


def _course_chart(tests: list[Measurement], course: Course, chart_id: str) -> Chart | None:
    shown = [
        test
        for test in tests
        if course.step(test) and any(rate is not None for rate in course.rates(test))
    ]
    if not shown:
        return None
    data, ends, words = [], [], []
    top = 0.0
    places_at, rates_at = course.digits
    for test in shown:
        rates, step = course.rates(test), course.step(test)
        known = [rate for rate in rates if rate is not None]
        top = max(top, *known)
        tail = known[-max(1, len(known) // 10) :]
        ends.append(sum(tail) / len(tail))
        words.append(f"{test.state}: {course.span(min(known), max(known))}")
        data.append(
            {
                "type": "scatter", "mode": "lines", "name": test.state,
                "x": [round((i + 0.5) * step, places_at) for i in range(len(rates))],
                "y": [None if rate is None else round(rate, rates_at) for rate in rates],
                "line": {"color": colour(test), "width": course.line_px},
                "connectgaps": False, "hovertemplate": course.hover,
            }
        )  # fmt: skip
    limit = (top or 1.0) * 1.08
    places = below(spread(ends, limit * LINE_HEIGHT_SHARE), limit, limit * LINE_HEIGHT_SHARE)
    layout = {
        "xaxis": axis(
            ticksuffix=course.suffix, showgrid=False, rangemode="tozero", nticks=course.tick_count
        ),
        "yaxis": axis(range=[0, limit], nticks=5),
        "annotations": [
            label(test.state, place, colour(test))
            for test, place in zip(shown, places, strict=True)
        ],
        "margin": {"l": 40, "r": _margin(shown), "t": 8, "b": 28},
        "hovermode": course.hovermode,
    }
    title = shown[0].title
    description = f"Throughput {course.preposition} of {title}; " + "; ".join(words)
    spec = {"data": data, "layout": layout}
    return Chart(chart_id, title, course.subtitle, description, course.height_px, spec)


def throughput(review: Review, model: str, course: Course, prefix: str) -> list[Chart]:
    """One plot per test of a model that has such a course, all states in it."""
    charts = (
        _course_chart(review.of(test_id, model), course, f"{prefix}-{index}")
        for index, test_id in enumerate(review.test_ids(model))
    )
    return [chart for chart in charts if chart is not None]


def _latency_chart(tests: list[Measurement], chart_id: str) -> Chart | None:
    shown = [t for t in tests if any(value > 0 for _, value in t.percentiles)]
    if not shown:
        return None
    data: list[dict[str, Any]] = []
    values, ends, words = [], [], []
    for test in shown:
        points = [(at, value) for at, value in test.percentiles if value > 0]
        longest = test.latency_us.get("max")
        token = colour(test)
        values += [value for _, value in points]
        last = points[-1][1]
        data.append(
            {
                "type": "scatter", "mode": "lines", "name": test.state,
                "x": [round(nines(at), 4) for at, _ in points], "y": [v for _, v in points],
                "line": {"color": token, "width": 2},
                "customdata": [[f"{at:g} % under {q.latency(v)}"] for at, v in points],
                "hovertemplate": "%{customdata[0]}",
            }
        )  # fmt: skip
        if longest is not None and longest > 0:
            values.append(longest)
            last = longest
            data.append(
                {
                    "type": "scatter", "mode": "markers", "name": test.state, "x": [MAX_AT],
                    "y": [longest], "customdata": [[f"longest {q.latency(longest)}"]],
                    "hovertemplate": "%{customdata[0]}",
                    "marker": {"color": token, "size": 8, "symbol": "diamond"},
                }
            )  # fmt: skip
        ends.append(math.log10(last))
        words.append(
            f"{test.state}: "
            + ", ".join(f"{at:g} % under {q.latency(v)}" for at, v in points if at in NINES)
        )
    levels = log_axis(
        math.log10(min(values)) - 0.08, math.log10(max(values)) + 0.08, lambda us: q.latency(us, 1)
    )
    low, high = levels["range"]
    places = spread(ends, (high - low) * LINE_HEIGHT_SHARE)
    layout = {
        "xaxis": axis(
            range=[0, MAX_AT + 0.1],
            tickvals=[*map(nines, NINES), MAX_AT],
            ticktext=[*(f"{at:g}%" for at in NINES), "max"],
            tickfont={"size": 10},
            tickangle=0,
        ),
        "yaxis": levels,
        "annotations": [
            label(test.state, place, colour(test))
            for test, place in zip(shown, places, strict=True)
        ],
        "margin": {"l": 52, "r": _margin(shown), "t": 8, "b": 28},
        "hovermode": "closest",
    }
    description = f"Latency percentiles of {shown[0].title}; " + "; ".join(words)
    return Chart(
        chart_id, shown[0].title, "latency against the share of commands that stay below it",
        description, 210, {"data": data, "layout": layout},
    )  # fmt: skip


def latency_percentiles(review: Review, model: str, prefix: str) -> list[Chart]:
    """One small plot per test of a model on an axis of nines, all states in it."""
    charts = (
        _latency_chart(review.of(test_id, model), f"{prefix}-{index}")
        for index, test_id in enumerate(review.test_ids(model))
    )
    return [chart for chart in charts if chart is not None]


_FAMILIES = {
    "throughput": "Throughput, MiB/s",
    "latency": "Latency, ms",
    "latency_max": "Latency, ms",
}


def _canonical(figure: Figure) -> tuple[str, float, float] | None:
    """Panel and (published, modelled) of a figure in the panel's unit."""
    published, modelled = figure.published, figure.modelled
    if not published or not modelled or published < 0 or modelled < 0:
        return None
    quantity = figure_quantity(figure)
    if figure.unit == "IOPS" or quantity == "":
        return f"{figure.unit or 'no unit'}", published, modelled
    factor = 1e6 / q.MIB if figure.unit == "MB/s" else 1.0
    factor = (q.microseconds(1, figure.unit) or 0) / 1e3 if "latency" in quantity else factor
    if quantity in ("pass", "power"):
        return f"{figure.unit}{' of a pass' if quantity == 'pass' else ''}", published, modelled
    return _FAMILIES[quantity], published * factor, modelled * factor


def _agreement_chart(
    family: str, points: list[tuple[Figure, float, float]], chart_id: str
) -> Chart:
    logs = [math.log10(value) for _, *pair in points for value in pair]
    levels = log_axis(min(logs) - 0.15, max(logs) + 0.15, lambda value: q.significant(value, 1))
    low, high = levels["range"]
    ends = [10**low, 10**high]
    data: list[dict[str, Any]] = [
        {
            "type": "scatter", "mode": "lines", "hoverinfo": "skip", "x": [*ends, *ends[::-1]],
            "y": [
                *(end * (1 - TOLERANCE_RATIO) for end in ends),
                *(end * (1 + TOLERANCE_RATIO) for end in ends[::-1]),
            ],
            "fill": "toself", "fillcolor": "$band", "line": {"width": 0},
        },
        {
            "type": "scatter", "mode": "lines", "hoverinfo": "skip", "x": ends, "y": ends,
            "line": {"color": "$axis", "width": 1},
        },
    ]  # fmt: skip
    signed = partial(q.percent, signed=True)
    for name, symbol, token in (("predicted", "circle", "$new"), ("bound", "circle-open", "$ink")):
        chosen = [p for p in points if (p[0].role == "predicted") == (name == "predicted")]
        data.append(
            {
                "type": "scatter", "mode": "markers", "name": name,
                "x": [x for _, x, _ in chosen], "y": [y for _, _, y in chosen],
                "customdata": [
                    [f"{f.id} {f.metric}, {f.state}, {f.role}", signed(f.error_ratio)]
                    for f, _, _ in chosen
                ],
                "hovertemplate": "%{customdata[0]}<br>published %{x:.4g}, modelled %{y:.4g}"
                " (%{customdata[1]})",
                "marker": {"color": token, "size": 9, "symbol": symbol, "line": {"width": 1.5}},
            }
        )  # fmt: skip
    layout = {
        "xaxis": {**levels, "title": {"text": "published"}},
        "yaxis": {**levels, "title": {"text": "modelled"}},
        "margin": {"l": 50, "r": 12, "t": 8, "b": 44},
        "hovermode": "closest",
    }
    description = f"{family}, modelled against published: " + "; ".join(
        f"{f.id}: {x:.4g} published, {y:.4g} modelled" for f, x, y in points
    )
    return Chart(
        chart_id, family, "both axes logarithmic; the band is ±10 %", description, 320,
        {"data": data, "layout": layout},
    )  # fmt: skip


def agreement(review: Review) -> list[Chart]:
    """Modelled against published, one plot per unit, on log axes."""
    families: dict[str, list[tuple[Figure, float, float]]] = {}
    for figure in review.figures:
        point = _canonical(figure)
        # Bounds and ranges have no place on a diagonal.
        if point is not None and figure.is_judged and figure.relation not in BOUNDS:
            family, published, modelled = point
            families.setdefault(family, []).append((figure, published, modelled))
    return [
        _agreement_chart(family, points, f"agreement-{index}")
        for index, (family, points) in enumerate(families.items())
    ]
