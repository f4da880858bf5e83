"""The report's fields of latency over time: when requests were done, and how long they took."""

from __future__ import annotations

from drivelab.charts import Chart, Text, counted
from drivelab.records.test import Stream
from drivelab.report import quantities as q
from drivelab.report import streams
from drivelab.report.reading import Reviewed

STRETCHES_MIN = 8
"""Fewer say nothing of a course."""
SPREAD_MIN = 4.0
"""A slowest request that took less than so many times the median has no story."""


def fields(review: Reviewed, model: str, prefix: str) -> list[Chart]:
    """A field for each test of random requests: of the state in which they spread most."""
    found = []
    for index, test_id in enumerate(review.test_ids(model)):
        told = [test for test in review.of(test_id, model) if _has_course(test)]
        if told:
            found.append(_field(max(told, key=_spread), f"{prefix}-{index}"))
    return found


def _has_course(test: Stream) -> bool:
    field = test.latency_field
    if streams.declared(test).pattern != "random" or field is None:
        return False
    return len(field.requests) >= STRETCHES_MIN and _spread(test) >= SPREAD_MIN


def _spread(test: Stream) -> float:
    middle = test.latency_us.p50
    return (test.latency_us.max or 0.0) / middle if middle else 0.0


def _field(test: Stream, chart_id: str) -> Chart:
    field = test.latency_field
    assert field is not None
    count = sum(map(sum, field.requests))
    middle, longest = map(q.latency, (test.latency_us.p50, test.latency_us.max))
    title = f"{test.title}, {test.state}"
    words = f"{title}: {count:.0f} requests over time, median {middle}, longest {longest}"
    times = [index * field.interval_s for index in range(len(field.requests) + 1)]
    return counted(
        Text(title, "darker: more requests", words, chart_id), times, field.edges_us, field.requests
    )
