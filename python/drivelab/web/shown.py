"""A comparison as the page draws it: numbers with their texts, and rows of plots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drivelab.charts import Chart
from drivelab.comparison import Comparison, courses, overlays, page, published
from drivelab.comparison.document import metric_record
from drivelab.comparison.notes import notes
from drivelab.comparison.pairing import Metric, Pair
from drivelab.comparison.specifications import Difference
from drivelab.errors import RequestError
from drivelab.lab.differences import Differences
from drivelab.report import quantities as q

Record = dict[str, Any]


def comparison(found: Comparison) -> Record:
    """Everything but the plots."""
    return {
        "command_line": found.command_line,
        "sides": [
            {
                "letter": side.letter,
                "label": side.label,
                "colour": side.token[1:],
                "model": side.model.name,
                "hash": side.model.hash,
                "disk": side.model.is_disk,
                "capacity": q.capacity(side.model.user_capacity_bytes),
                "source": side.source,
                "seed": side.run.seed,
                "engine": side.run.engine_version,
                "made_by": side.run.command_line,
            }
            for side in found.sides
        ],
        "problems": [
            {"refused": item.refused, "kind": item.kind, "sentence": item.sentence}
            for item in found.problems
        ],
        "forced": found.forced,
        "findings": [
            {"figure": item.figure, "sentence": item.sentence, "detail": item.detail}
            for item in found.findings
        ],
        "overview": [
            {
                "title": row.title,
                "state": row.state,
                "what": row.what,
                "marks": [
                    {"label": m.label, "colour": m.css[2:], "at": m.at, "text": m.text}
                    for m in row.marks
                ],
            }
            for row in page.overview(found.sides, found.pairs)
        ],
        "tests": [_test(found, pair, index) for index, pair in enumerate(found.pairs)],
        "notes": [
            {"text": note.text, "whose": note.whose} for note in notes(found.sides, found.pairs)
        ],
        "left_out": [
            {"title": i.title, "id": i.id, "state": i.state, "reason": i.reason}
            for i in found.left_out
        ],
        "specifications": _specifications(found.differences),
        "shared_specifications": _specifications(found.shared),
    }


def _specifications(items: Sequence[Difference]) -> list[Record]:
    return [
        {"group": group, "rows": [{"key": row.key, "texts": list(row.texts)} for row in rows]}
        for group, rows in page.by_group(items)
    ]


def _test(found: Comparison, pair: Pair, index: int) -> Record:
    headline = pair.headline
    return {
        "id": pair.id,
        "title": pair.title,
        "group": pair.group,
        "state": pair.state,
        "headline": pair.metrics.index(headline) if headline is not None else None,
        "metrics": [_metric(found, pair, metric) for metric in pair.metrics],
        "charts": [
            {"id": f"{index}-{number}", "title": chart.title}
            for number, chart in enumerate(_charts(found, index))
        ],
    }


def _metric(found: Comparison, pair: Pair, metric: Metric) -> Record:
    row = page.metric_row(metric)
    numbers = metric_record(metric)
    keys = ("name", "unit", "better", "values", "plus_minus")
    return {
        **{key: numbers[key] for key in keys},
        "title": row.title,
        "texts": list(row.cells),
        "deltas": [{"text": item.text, "mood": item.mood} for item in row.deltas],
        "published": [
            {"side": item.index, "id": item.id, "value": item.value, "text": item.text}
            for item in published.of_metric(found.sides, pair, metric)
        ],
    }


def plots(found: Comparison) -> Record:
    """By test: series in their intervals, zones over the drive, percentiles of latency."""
    sizes = [side.model.user_capacity_bytes for side in found.sides]
    return {
        "capacities_bytes": sizes,
        "tests": [_plot(pair) for pair in found.pairs if courses.have_course(pair)],
    }


def _plot(pair: Pair) -> Record:
    return {
        "id": pair.id,
        "title": pair.title,
        "state": pair.state,
        "lines": [
            None
            if course is None
            else {
                "interval_s": course.series.interval_s if course.series else None,
                "mib_per_s": course.series.mib_per_s if course.series else [],
                "latency_max_us": course.series.latency_max_us if course.series else [],
                "zones_mb_per_s": course.pass_.mb_per_s if course.pass_ is not None else [],
                # A reader points at places of the axis: without a point the nearest would answer.
                "percentiles": [list(point) for point in course.every],
                "max_us": course.longest_us,
            }
            for course in courses.of_pair(pair)
        ],
    }


def _charts(found: Comparison, index: int) -> list[Chart]:
    pair = found.pairs[index]
    if not any(record.charts for record in pair.records if record is not None):
        return []
    return overlays.of_tables(found.sides, pair, f"test-{index}")


def chart(found: Comparison, chart_id: str) -> Chart:
    """A chart of a test; raises RequestError for one that isn't there."""
    test, _, number = chart_id.partition("-")
    small = all(len(text) < 5 and text.isascii() and text.isdigit() for text in (test, number))
    if small and int(test) < len(found.pairs):
        charts = _charts(found, int(test))
        if int(number) < len(charts):
            return charts[int(number)]
    raise RequestError(f'chart "{chart_id[:20]}": there is none of this number')


def csv(found: Comparison) -> str:
    """The rows of `dl.compare(...).frame()`."""
    return Differences(found).frame().write_csv()
