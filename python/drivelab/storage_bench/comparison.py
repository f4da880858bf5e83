"""Published statistics of the traces against those of the synthesised ones."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from drivelab.figures.comparison import judge
from drivelab.figures.published import Figure, published
from drivelab.quantities import GB
from drivelab.storage_bench.specification import REVIEW_SEED, SHARED, traces
from drivelab.storage_bench.statistics import Statistics, statistics
from drivelab.storage_bench.synthesis import synthesise

Record = dict[str, Any]

NOT_COMPARED = {"GS-122": "says in other words how much is written; the trace leaves the days out"}
SHARED_YEAR = 2010


@cache
def _statistics(name: str, seed: int) -> Statistics:
    return statistics(synthesise(traces()[name], seed))


def compare_traces(seed: int = REVIEW_SEED) -> list[Record]:
    """Every figure of kind "trace", with the synthesised value or why there is none."""
    places = {
        figure.id: (trace, statistic)
        for trace in traces().values()
        for statistic, figure in trace.published().items()
    }
    shared = {figure_id: statistic for statistic, figure_id in SHARED.items()}
    records = []
    for figure in (figure for figure in published() if figure.kind == "trace"):
        value = None
        if figure.id in places:
            trace, statistic = places[figure.id]
            value = _statistics(trace.name, seed).as_dict()[statistic]
        elif figure.id in shared:
            value = together(seed=seed)[shared[figure.id]]
        records.append(_record(figure, value))
    return records


def together(seed: int = REVIEW_SEED) -> Mapping[str, float]:
    """Statistics of the traces of 2010 together; names as in `SHARED`."""
    of_year = [trace for trace in traces().values() if trace.year == SHARED_YEAR]
    found = [_statistics(trace.name, seed) for trace in of_year]
    return {
        "gb_written": sum(one.gb_written for one in found),
        "gb_moved": sum(one.gb_read + one.gb_written for one in found),
        "duration_min": sum(one.duration_min for one in found),
        "image_gb": max(trace.image_bytes for trace in of_year) / GB,
    }


def _record(figure: Figure, value: float | None) -> Record:
    error, satisfied = judge(figure, value)
    return {
        "id": figure.id,
        "trace": figure.drive.removeprefix("trace: "),
        "metric": figure.metric,
        "unit": figure.unit,
        "relation": figure.relation,
        "published": figure.value,
        "synthesised": value,
        "error_ratio": error,
        "satisfied": satisfied,
        "reason": NOT_COMPARED.get(figure.id, "") if value is None else "",
        "review": figure.review,
    }
