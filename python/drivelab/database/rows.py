"""The document of a run (review, run or replay) as rows of the database's tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from drivelab import counters
from drivelab.database import job_rows
from drivelab.database.job_rows import REPLAY, RUN, Record, Row
from drivelab.database.layout import Table
from drivelab.database.tables import TABLES
from drivelab.records import ROUNDS_TABLE

REVIEW = "review"
"""The kind of runs that `review` and `compare` make; those of others are in `job_rows`."""


def rows(kind: str, document: Record, models: Sequence[Record]) -> dict[str, list[Row]]:
    """Rows of every table but `documents`, by table name; tables without rows are left out.

    `models` are records of the models that were measured (a review's document has them itself).
    """
    found: dict[str, Iterable[Row]] = {
        "runs": [_run(kind, document)],
        "models": [_renamed(model, name="model") for model in models],
        "parameters": _parameters(models),
        "smart": _smart(document, models),
    }
    found |= {REVIEW: _review, RUN: job_rows.of_run, REPLAY: job_rows.of_replay}[kind](document)
    listed = {name: _of_table(TABLES[name], items) for name, items in found.items()}
    return {name: items for name, items in listed.items() if items}


def _of_table(table: Table, items: Iterable[Row]) -> list[Row]:
    """Rows without what is no column of their table: records have more than tables tell."""
    names = {column.name for column in table.columns}
    return [
        row if row.keys() <= names else {key: row[key] for key in row if key in names}
        for row in items
    ]


def _renamed(record: Record, **names: str) -> Row:
    return {names.get(key, key): value for key, value in record.items()}


def _run(kind: str, document: Record) -> Row:
    own = document["drivelab"]
    wall_s = document.get("wall_s", own.get("wall_s"))
    return {**own, "kind": kind, "wall_s": wall_s, "quick": own.get("quick", False)}


def _parameters(models: Sequence[Record]) -> Iterator[Row]:
    for model in models:
        for parameter in model["parameters"]:
            yield {
                "model": model["name"],
                "key": parameter["key"],
                **_typed(parameter.get("value")),
                "unit": parameter.get("unit"),
                "source": parameter.get("source"),
                "role": parameter.get("role"),
                "is_default": parameter.get("default"),
            }


def _smart(document: Record, models: Sequence[Record]) -> Iterator[Row]:
    """Readings of real drives: of whole runs, and around each test of a review."""
    tests = document.get("tests", ())
    for model in models:
        mine = [test for test in tests if test["model"] == model["name"]]
        found = [({}, model), *(({"state": t["state"], "test": t["id"]}, t) for t in mine)]
        for keys, record in found:
            readings = record.get("smart") or {}
            for moment in ("before", "after"):
                if readings.get(moment) is not None:
                    yield {"model": model["name"], **keys, "moment": moment, **readings[moment]}


def _typed(value: Any) -> Row:
    """A value in the column of its type."""
    if isinstance(value, list):
        return {"text": ", ".join(map(str, value))}
    column = {bool: "boolean", int: "number", float: "number", str: "text"}.get(type(value))
    return {} if column is None else {column: value}


def _review(document: Record) -> dict[str, Iterable[Row]]:
    tests = document["tests"]
    seeds = (document["drivelab"].get("repeats") or {}).get("seeds", ())

    def of_each(make: Callable[[Record], Iterable[Row]]) -> Iterator[Row]:
        """Rows of every test, each with the test's keys."""
        for test in tests:
            keys = {"model": test["model"], "state": test["state"], "test": test["id"]}
            for row in make(test):
                yield {**keys, **row}

    def of_each_stream(make: Callable[[Record], Iterable[Row]]) -> Iterator[Row]:
        """Rows of every stream of requests, each with the keys of its measurement."""

        def of_stream(test: Record) -> Iterator[Row]:
            if test.get("direction") is not None:
                for row in make(test):
                    yield {"job": test["id"], "direction": test["direction"], **row}

        return of_each(of_stream)

    return {
        "states": document["states"],
        "tests": of_each(_test),
        "measurements": of_each_stream(_measurement),
        "percentiles": of_each_stream(lambda test: job_rows.percentiles(test["latency_us"])),
        "histogram_bins": of_each_stream(lambda test: job_rows.histogram(test["latency_us"])),
        "latency_parts": of_each_stream(_latency_parts),
        "series": of_each_stream(lambda test: job_rows.series(test.get("series"))),
        "zones": of_each(_zones),
        "counters": of_each(_counters),
        "test_values": of_each(lambda test: test.get("values") or ()),
        "test_cells": of_each(_cells),
        "test_charts": of_each(_charts),
        "test_remarks": of_each(_remarks),
        "steady_states": of_each(_steady_states),
        "steady_windows": of_each(_steady_windows),
        "steady_rounds": of_each(_steady_rounds),
        "repeats": of_each(lambda test: job_rows.repeats(test.get("repeats"), seeds)),
        "intervals": of_each(lambda test: job_rows.intervals(test.get("repeats"))),
        "figures": (_renamed(figure, test_id="test") for figure in document["figures"]),
    }


def _test(test: Record) -> Iterator[Row]:
    failed = {key: test["counters"].get(key) for key in counters.FAILED}
    yield {**test, **failed, "test_group": test.get("group")}


def _measurement(test: Record) -> Iterator[Row]:
    yield {
        **{key: test.get(key) for key in ("block_bytes", "queue_depth", "align_bytes")},
        **{key: test[key] for key in ("ios", "bytes", "iops", "mib_per_s")},
        **job_rows.latencies(test["latency_us"]),
        "job_name": test["id"],
    }


def _latency_parts(test: Record) -> Iterator[Row]:
    yield from job_rows.parts(test.get("split_mean_us"), test["ios"])
    yield from job_rows.tails(test.get("tails"))


def _zones(test: Record) -> Iterator[Row]:
    whole = test.get("pass") or {"mb_per_s": ()}
    for index, mb_per_s in enumerate(whole["mb_per_s"]):
        yield {"position_bytes": index * whole["zone_bytes"], "mb_per_s": mb_per_s}


def _counters(test: Record) -> Iterator[Row]:
    for counter, value in (test.get("counters") or {}).items():
        yield {"counter": counter, "value": value}


def _cells(test: Record) -> Iterator[Row]:
    for table in test.get("tables") or ():
        for index, cells in enumerate(table["rows"]):
            for column in table["columns"]:
                cell = cells[column["key"]]
                words = isinstance(cell, str)
                yield {
                    "table_name": table["name"],
                    "row_index": index,
                    "column_key": column["key"],
                    "column_title": column["title"],
                    "unit": column["unit"],
                    "number": None if words else cell,
                    "text": cell if words else None,
                }


def _charts(test: Record) -> Iterator[Row]:
    for index, chart in enumerate(test.get("charts") or ()):
        yield _renamed(chart, table="table_name", by="series") | {"chart_index": index}


def _remarks(test: Record) -> Iterator[Row]:
    for kind in ("deviation", "note"):
        for index, remark in enumerate(test.get(f"{kind}s") or ()):
            yield {"kind": kind, "remark_index": index, "remark": remark}


def _steady_states(test: Record) -> Iterator[Row]:
    found = test.get("steady_state")
    if found:
        yield {**found, "round_text": found["round"]}


def _steady_windows(test: Record) -> Iterator[Row]:
    for window in (test.get("steady_state") or {}).get("variables", ()):
        yield {**window, "steady": window["verdict"] == "steady"}


def _steady_rounds(test: Record) -> Iterator[Row]:
    found = test.get("steady_state")
    if not found:
        return
    windows = {window["variable"]: window for window in found["variables"]}
    for table in test["tables"]:
        for row in table["rows"] if table["name"] == ROUNDS_TABLE else ():
            window = windows.get(row["variable"])
            inside = window is not None and (
                window["first_round"] <= row["round"] <= window["last_round"]
            )
            yield {**row, "in_window": inside}
