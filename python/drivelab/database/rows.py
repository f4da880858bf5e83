"""The document of a run (review, run or replay) as rows of the database's tables."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from drivelab.names import told_apart
from drivelab.quantities import MIB, NS_PER_US

Record = Mapping[str, Any]
Row = dict[str, Any]
"""By column name, without `run_id`; columns that it doesn't name are null."""

REVIEW, RUN, REPLAY = "review", "run", "replay"
"""Kinds of runs, by the command that makes them."""

DIRECTIONS = ("read", "write", "trim")


def rows(kind: str, document: Record, models: Sequence[Record]) -> dict[str, list[Row]]:
    """Rows of every table but `documents`, by table name; tables without rows are left out.

    `models` are records of the models that were measured (a review's document has them itself).
    """
    found: dict[str, Iterable[Row]] = {
        "runs": [_run(kind, document)],
        "models": [_renamed(model, name="model") for model in models],
        "parameters": _parameters(models),
    }
    found |= {REVIEW: _review, RUN: _fio_run, REPLAY: _replay}[kind](document)
    listed = {name: list(items) for name, items in found.items()}
    return {name: items for name, items in listed.items() if items}


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
                "value_json": json.dumps(parameter.get("value")),
                "unit": parameter.get("unit"),
                "source": parameter.get("source"),
                "is_default": parameter.get("default"),
            }


def _review(document: Record) -> dict[str, Iterable[Row]]:
    tests = document["tests"]
    seeds = (document["drivelab"].get("repeats") or {}).get("seeds", ())

    def of_each(make: Callable[[Record], Iterable[Row]]) -> Iterator[Row]:
        """Rows of every test, each with the test's keys."""
        for test in tests:
            keys = {"model": test["model"], "state": test["state"], "test": test["id"]}
            for row in make(test):
                yield {**keys, **row}

    return {
        "states": document["states"],
        "tests": of_each(_test),
        "series": of_each(_series),
        "zones": of_each(_zones),
        "percentiles": of_each(_percentiles),
        "counters": of_each(_counters),
        "test_values": of_each(lambda test: test.get("values") or ()),
        "test_cells": of_each(_cells),
        "test_charts": of_each(
            lambda test: (
                _renamed(chart, table="table_name", by="series")
                for chart in test.get("charts") or ()
            )
        ),
        "repeats": of_each(lambda test: _repeats(test.get("repeats"), seeds)),
        "intervals": of_each(lambda test: _intervals(test.get("repeats"))),
        "test_remarks": of_each(_remarks),
        "steady_states": of_each(
            lambda test: (
                {"key": key, "value_json": json.dumps(value)}
                for key, value in (test.get("steady_state") or {}).items()
            )
        ),
        "figures": (_renamed(figure, test_id="test") for figure in document["figures"]),
    }


def _test(test: Record) -> Iterator[Row]:
    latency = test.get("latency_us") or {}
    split = test.get("split_mean_us") or {}
    yield {
        **test,
        "test_group": test.get("group"),
        "latency_mean_us": latency.get("mean"),
        "latency_max_us": latency.get("max"),
        **{f"{part}_us": value for part, value in split.items()},
    }


def _series(test: Record) -> Iterator[Row]:
    series = test.get("series")
    if not series:
        return
    points = zip(series["mib_per_s"], series["latency_max_us"], strict=True)
    for index, (mib_per_s, latency_max_us) in enumerate(points):
        yield {
            "time_s": index * series["interval_s"],
            "mib_per_s": mib_per_s,
            "latency_max_us": latency_max_us,
        }


def _zones(test: Record) -> Iterator[Row]:
    whole = test.get("pass") or {"mb_per_s": ()}
    for index, mb_per_s in enumerate(whole["mb_per_s"]):
        yield {"position_bytes": index * whole["zone_bytes"], "mb_per_s": mb_per_s}


def _percentiles(test: Record) -> Iterator[Row]:
    latency = test.get("latency_us") or {}
    for percentile, latency_us in latency.get("percentiles") or ():
        yield {
            "direction": test.get("direction"),
            "percentile": percentile,
            "latency_us": latency_us,
        }


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


def _repeats(numbers: Record | None, seeds: Sequence[int]) -> Iterator[Row]:
    for name, found in (numbers or {}).items():
        for index, (seed, value) in enumerate(zip(seeds, found["values"], strict=True)):
            yield {"number": name, "repeat_index": index, "seed": seed, "value": value}


def _intervals(numbers: Record | None) -> Iterator[Row]:
    for name, found in (numbers or {}).items():
        yield {"number": name, **{k: found[k] for k in ("mean", "low", "high", "method")}}


def _remarks(test: Record) -> Iterator[Row]:
    for kind in ("deviation", "note"):
        for remark in test.get(f"{kind}s") or ():
            yield {"kind": kind, "remark": remark}


def job_tests(jobs: Sequence[Record]) -> list[str]:
    """What each job of a run is called as a test: its name, of clones and namesakes with a number.

    Their numbers are their own, and so are the rows of the tables.
    """
    return told_apart([job["jobname"] for job in jobs])


def _fio_run(document: Record) -> dict[str, Iterable[Row]]:
    own = document["drivelab"]
    keys = {"model": own.get("model"), "state": own.get("state")}
    jobs = document["jobs"]
    names = job_tests(jobs)

    def of_each(make: Callable[[Record], Iterable[Row]]) -> Iterator[Row]:
        for name, job in zip(names, jobs, strict=True):
            for row in make(job):
                yield {**keys, "test": name, "job": job["jobname"], **row}

    whole = _flash_traffic(own) | {
        "test": " ".join(dict.fromkeys(job["jobname"] for job in jobs)),
        "kind": RUN,
        "drive_count": 1,
        "duration_s": math.fsum(group["duration_s"] for group in own["groups"]),
        "ios": sum(job[direction]["total_ios"] for job in jobs for direction in DIRECTIONS),
        "bytes": sum(job[direction]["io_bytes"] for job in jobs for direction in DIRECTIONS),
    }
    return {
        "tests": [keys | whole],
        "jobs": of_each(_fio_directions),
        "job_groups": (
            keys
            | _flash_traffic(group)
            | {
                "test": " ".join(dict.fromkeys(group["jobs"])),
                "group_index": group["groupid"],
                "jobs": " ".join(group["jobs"]),
                "duration_s": group["duration_s"],
            }
            for group in own["groups"]
        ),
        "job_options": of_each(
            lambda job: (
                {"option": option, "value": str(value)}
                for option, value in job["job options"].items()
            )
        ),
        "percentiles": of_each(_fio_percentiles),
        **_fio_repeats(own, keys, names, str(whole["test"])),
    }


def repeated_test(row: Record, names: Sequence[str]) -> str:
    """The test that a row of a run's repeats is of; runs of old have jobs by name alone."""
    return names[row["index"]] if "index" in row else str(row["job"])


def _fio_repeats(
    own: Record, keys: Row, names: Sequence[str], whole: str
) -> dict[str, Iterable[Row]]:
    """Repeats of each direction of each job, and of the whole run."""
    found = own.get("repeats") or {"jobs": (), "numbers": {}, "seeds": ()}
    parts = [
        (
            {**keys, "test": repeated_test(row, names), "direction": row["direction"]},
            row["numbers"],
        )
        for row in found["jobs"]
    ]
    parts.append(({**keys, "test": whole}, found["numbers"]))
    return {
        "repeats": [of | row for of, n in parts for row in _repeats(n, found["seeds"])],
        "intervals": [of | row for of, n in parts for row in _intervals(n)],
    }


def _flash_traffic(measured: Record) -> Row:
    """Of a run's own object, or of a replay."""
    keys = (
        *("host_read_bytes", "unmapped_read_share", "host_write_bytes"),
        *("write_amplification", "erases", "energy_j"),
    )
    found = {key: measured.get(key) for key in keys}
    return found | {"flash_program_bytes": measured.get("flash_write_bytes")}


def _us(latency_ns: float | None) -> float | None:
    return None if latency_ns is None else latency_ns / NS_PER_US


def _fio_directions(job: Record) -> Iterator[Row]:
    for direction in DIRECTIONS:
        part = job[direction]
        if part["total_ios"]:
            latency = part["lat_ns"]
            yield {
                "direction": direction,
                "ios": part["total_ios"],
                "bytes": part["io_bytes"],
                "iops": part["iops"],
                "mib_per_s": part["bw_bytes"] / MIB,
                "latency_mean_us": _us(latency["mean"]),
                "latency_max_us": _us(latency["max"]),
                "write_amplification": part["drivelab"]["write_amplification"],
                "flash_program_bytes": part["drivelab"]["flash_write_bytes"],
                "erases": part["drivelab"]["erases"],
            }


def _fio_percentiles(job: Record) -> Iterator[Row]:
    for direction in DIRECTIONS:
        for percentile, latency_ns in (job[direction]["clat_ns"].get("percentile") or {}).items():
            if latency_ns is not None and job[direction]["total_ios"]:
                yield {
                    "direction": direction,
                    "percentile": float(percentile),
                    "latency_us": _us(latency_ns),
                }


def _replay(document: Record) -> dict[str, Iterable[Row]]:
    own, measured = document["drivelab"], document["replay"]
    name = document["trace"]["file"]
    keys = {"model": own.get("model"), "state": own.get("state"), "test": name}
    parts = {direction: measured[direction] for direction in DIRECTIONS}
    whole = {
        **_flash_traffic(measured),
        "kind": REPLAY,
        "drive_count": 1,
        "title": f"{name} ({document['trace']['format']}, {own.get('pacing')})",
        "ios": sum(part["ios"] for part in parts.values()),
        "bytes": sum(part["bytes"] for part in parts.values()),
        **{key: measured.get(key) for key in ("duration_s", "iops", "mib_per_s")},
    }
    return {
        "tests": [keys | whole],
        "jobs": (
            keys | _replay_direction(direction, part)
            for direction, part in parts.items()
            if part["ios"]
        ),
        "percentiles": (
            keys
            | {
                "job": name,
                "direction": direction,
                "percentile": percentile,
                "latency_us": latency_us,
            }
            for direction, part in parts.items()
            for percentile, latency_us in part["latency_us"]["percentiles"]
        ),
    }


def _replay_direction(direction: str, part: Record) -> Row:
    return {
        **part,
        "job": None,
        "direction": direction,
        "latency_mean_us": part["latency_us"]["mean"],
        "latency_max_us": part["latency_us"]["max"],
    }
