"""The report's charts of streams: over time, over position, latencies, modelled on published."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from drivelab.charts import Chart, Curve, Line, Scale, Text, diagonal, latencies, lines
from drivelab.records.figure import Figure
from drivelab.records.test import Stream
from drivelab.report import quantities as q
from drivelab.report import streams
from drivelab.report.agreement import BOUNDS, error_ratio, is_judged
from drivelab.report.bars import figure_quantity
from drivelab.report.reading import Reviewed
from drivelab.verdicts import TOLERANCE_RATIO

NINES = (50.0, 90.0, 99.0, 99.9, 99.99)
"""Shares that are said in words, in percent."""
COURSE_PX, AGREEMENT_PX = 170, 320


def colour(review: Reviewed, test: Stream) -> str:
    """The colour token of a test's state."""
    return f"${review.state(test.state).colour}"


@dataclass(frozen=True)
class Course:
    """What throughput is drawn along (time, position), and how."""

    preposition: str
    x: Scale
    y: Scale
    rates: Callable[[Stream], Sequence[float | None]]
    step: Callable[[Stream], float]
    """Length of a rate's stretch, in the unit of `x`."""
    span: Callable[[float, float], str]
    """The least and the highest rate in words."""
    height_px: int


OVER_TIME = Course(
    preposition="over time: throughput",
    x=Scale("Time", "s"),
    y=Scale("Throughput", "MiB/s"),
    rates=lambda test: test.series.mib_per_s,
    step=lambda test: test.series.interval_s,
    span=lambda low, high: f"{q.throughput(low)} to {q.throughput(high)}",
    height_px=COURSE_PX,
)
AMPLIFICATION = Course(
    preposition="over time: write amplification",
    x=Scale("Time", "s"),
    y=Scale("Write amplification"),
    rates=lambda test: (test.writes and test.series.write_amplification) or (),
    step=lambda test: test.series.interval_s,
    span=lambda low, high: f"{q.times(low)} to {q.times(high)}",
    height_px=COURSE_PX,
)
SLOW = Course(
    preposition="over time: what 99 % of latencies are below",
    x=Scale("Time", "s"),
    y=Scale("99 % of latencies below", "µs", "log"),
    rates=lambda test: test.series.latency_p99_us or (),
    step=lambda test: test.series.interval_s,
    span=lambda low, high: f"{q.latency(low)} to {q.latency(high)}",
    height_px=COURSE_PX,
)
OVER_POSITION = Course(
    preposition="against position: throughput",
    x=Scale("Position", "GB"),
    y=Scale("Throughput", "MB/s"),
    rates=lambda test: test.pass_.mb_per_s if test.pass_ else (),
    step=lambda test: test.pass_.zone_bytes / 1e9 if test.pass_ else 0.0,
    span=lambda low, high: f"{low:.3g} to {high:.3g} MB/s",
    height_px=220,
)


def _course_chart(
    review: Reviewed, tests: list[Stream], course: Course, chart_id: str
) -> Chart | None:
    shown = [
        test
        for test in tests
        if course.step(test) and any(rate is not None for rate in course.rates(test))
    ]
    if not shown:
        return None
    parts, words = [], []
    for test in shown:
        rates, step = course.rates(test), course.step(test)
        known = [rate for rate in rates if rate is not None]
        words.append(f"{test.state}: {course.span(min(known), max(known))}")
        places = [(index + 0.5) * step for index in range(len(rates))]
        parts.append(Line(test.state, colour(review, test), places, rates))
    title = shown[0].title
    description = f"{title} {course.preposition}; " + "; ".join(words)
    text = Text(title, description=description, id=chart_id)
    return lines(text, parts, course.x, course.y, height_px=course.height_px, from_zero=True)


def courses(review: Reviewed, model: str, course: Course, prefix: str) -> list[Chart]:
    """One plot per test of a model that has such a course, all states in it."""
    charts = (
        _course_chart(review, review.of(test_id, model), course, f"{prefix}-{index}")
        for index, test_id in enumerate(review.test_ids(model))
    )
    return [chart for chart in charts if chart is not None]


def _latency_chart(review: Reviewed, tests: list[Stream], chart_id: str) -> Chart | None:
    points = [(test, streams.percentiles(test)) for test in tests]
    shown = [(test, of) for test, of in points if any(value > 0 for _, value in of)]
    if not shown:
        return None
    curves = [
        Curve(test.state, colour(review, test), of, test.latency_us.max) for test, of in shown
    ]
    words = [
        f"{test.state}: "
        + ", ".join(f"{at:g} % under {q.latency(us)}" for at, us in of if at in NINES)
        for test, of in shown
    ]
    title = shown[0][0].title
    description = f"Latency percentiles of {title}; " + "; ".join(words)
    text = Text(title, description=description, id=chart_id)
    return latencies(text, curves)


def latency_percentiles(review: Reviewed, model: str, prefix: str) -> list[Chart]:
    """One small plot per test of a model on an axis of nines, all states in it."""
    charts = (
        _latency_chart(review, review.of(test_id, model), f"{prefix}-{index}")
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


def _agreement_chart(family: str, found: list[tuple[Figure, float, float]], chart_id: str) -> Chart:
    logs = [math.log10(value) for _, *pair in found for value in pair]
    low, high = min(logs), max(logs)
    # A value alone has no room of its own.
    room = max(0.15, (1 - (high - low)) / 2)
    ends = (10 ** (low - room), 10 ** (high + room))
    signed = partial(q.percent, signed=True)
    parts = []
    for name, token in (("predicted", "$new"), ("bound", "$ink")):
        chosen = [p for p in found if (p[0].role == "predicted") == (name == "predicted")]
        words = [
            f"{f.id} {f.metric}, {f.state}, {f.role} ({signed(error_ratio(f))})"
            for f, _, _ in chosen
        ]
        parts.append(
            Line(name, token, [x for _, x, _ in chosen], [y for _, _, y in chosen], words=words)
        )
    description = f"{family}, modelled against published: " + "; ".join(
        f"{f.id}: {x:.4g} published, {y:.4g} modelled" for f, x, y in found
    )
    text = Text(family, "both axes logarithmic; the band is ±10 %", description, chart_id)
    return diagonal(
        text, parts, Scale("Published", kind="log"), Scale("Modelled", kind="log"), ends,
        tolerance_ratio=TOLERANCE_RATIO, hollow=["bound"], height_px=AGREEMENT_PX,
    )  # fmt: skip


def agreement(review: Reviewed) -> list[Chart]:
    """Modelled against published, one plot per unit, on log axes."""
    families: dict[str, list[tuple[Figure, float, float]]] = {}
    for figure in review.figures:
        point = _canonical(figure)
        # Bounds and ranges have no place on a diagonal.
        if point is not None and is_judged(figure) and figure.relation not in BOUNDS:
            family, published, modelled = point
            families.setdefault(family, []).append((figure, published, modelled))
    return [
        _agreement_chart(family, points, f"agreement-{index}")
        for index, (family, points) in enumerate(families.items())
    ]
