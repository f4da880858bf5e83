"""What was published of the compared drives, beside what was measured of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from drivelab.comparison.pairing import Metric, Pair
from drivelab.comparison.sides import Side
from drivelab.records.figure import Figure
from drivelab.records.test import Stream
from drivelab.report import bars
from drivelab.report import quantities as q
from drivelab.report.agreement import quantity

QUANTITIES = {
    "mib_per_s": "throughput",
    "mean_mb_per_s": "pass",
    "mean_us": "latency",
    "max_us": "latency_max",
    "mean_power_w": "power",
}
"""What figures call a metric of one stream."""


@dataclass(frozen=True)
class Published:
    """A published figure of a side, in the metric's unit."""

    index: int
    """Of the side."""
    id: str
    value: float
    text: str
    """As it was published."""


def of_metric(sides: Sequence[Side], pair: Pair, metric: Metric) -> list[Published]:
    """What was published of one number of a test in this state; of bounds nothing."""
    return [
        Published(side.index, figure.id, value, bars.as_published(figure))
        for side, state in zip(sides, pair.states, strict=True)
        for figure, value in _of_side(side, pair, metric, state)
    ]


def _of_side(side: Side, pair: Pair, metric: Metric, state: str) -> Iterator[tuple[Figure, float]]:
    test = side.record(pair.id, state)
    for figure in side.review.figures:
        here = (figure.model, figure.test_id, figure.model_state)
        if here != (side.model.name, pair.id, state) or figure.relation not in ("eq", "approx"):
            continue
        if not isinstance(test, Stream):
            value = _in_unit(figure, metric) if quantity(figure) == f"value:{metric.name}" else None
        elif bars.figure_quantity(figure) == QUANTITIES.get(metric.name):
            value = bars.published_value(figure, test, QUANTITIES[metric.name])
        else:
            value = None
        if value is not None:
            yield figure, value


def _in_unit(figure: Figure, metric: Metric) -> float | None:
    if metric.unit in ("us", "µs"):
        return q.microseconds(figure.published, figure.unit)
    return figure.published if figure.unit == metric.unit else None
