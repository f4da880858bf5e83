"""A comparison as JSON: compare.json, and what --json prints."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from drivelab.comparison import Comparison
from drivelab.comparison.checks import result_class
from drivelab.comparison.pairing import Metric, Pair

SCHEMA = 1

Record = dict[str, Any]


def document(found: Comparison) -> Record:
    """The whole comparison; what doesn't exist is null."""
    return {
        "drivelab": {"schema": SCHEMA, "command_line": found.command_line, "forced": found.forced},
        "sides": [
            {
                "letter": side.letter,
                "label": side.label,
                "source": side.source,
                "model": side.model.name,
                "hash": side.model.hash,
                "user_capacity_bytes": side.model.user_capacity_bytes,
                **{
                    key: getattr(side.run, key)
                    for key in ("engine_version", "seed", "quick", "command_line")
                },
            }
            for side in found.sides
        ],
        "problems": [
            {
                "refused": problem.refused,
                "kind": problem.kind,
                "sentence": problem.sentence,
                "tests": [asdict(test) for test in problem.tests],
            }
            for problem in found.problems
        ],
        "findings": [
            {"figure": item.figure, "sentence": item.sentence, "detail": item.detail}
            for item in found.findings
        ],
        "tests": [_pair(found, pair) for pair in found.pairs],
        "left_out": [asdict(item) | {"letters": list(item.letters)} for item in found.left_out],
        "specifications": {
            "same": found.shared_parameters,
            "different": [
                {"key": item.key, "unit": item.unit, "values": list(item.values)}
                for item in found.differences
            ],
        },
    }


def _pair(found: Comparison, pair: Pair) -> Record:
    return {
        "id": pair.id,
        "title": pair.title,
        "group": pair.group,
        "states": list(pair.states),
        "classes": [
            None if record is None else result_class(record, side)
            for side, record in zip(found.sides, pair.records, strict=True)
        ],
        "headline": pair.headline.name if pair.headline is not None else None,
        "metrics": [metric_record(metric) for metric in pair.metrics],
        "notes": list(pair.notes(found.sides)),
    }


def metric_record(metric: Metric) -> Record:
    """Ratios are to the first side's value."""
    return {
        "name": metric.name,
        "title": metric.title,
        "unit": metric.unit,
        "better": metric.better,
        "values": list(metric.values),
        "ratios": [metric.ratio(index) for index in range(len(metric.values))],
        "differs": [index > 0 and metric.told_apart(index) for index in range(len(metric.values))],
        "repeats": [list(values) for values in metric.repeats] or None,
        "plus_minus": list(metric.plus_minus) or None,
    }
