"""Runs of job files and replays of traces as documents of a review, so that they can be compared.

Each job and direction becomes a test, and so do the flushes of a job: what was run is compared only
with what has the same name, in the same state, with the same options.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from drivelab.database import REPLAY, REVIEW, RUN, Recorded, Row
from drivelab.database.job_rows import job_tests, repeated_job, replay_options
from drivelab.fio.flushes import FLUSHES
from drivelab.records import SCHEMA
from drivelab.records.review import Review
from drivelab.records.series import Series
from drivelab.records.upgrade import with_nulls
from drivelab.results import COMPOUND

Record = dict[str, Any]

VALUES = (
    ("mib_per_s", "throughput", "MiB/s", "higher"),
    ("iops", "requests per second", "IOPS", "higher"),
    ("latency_mean_us", "mean latency", "us", "lower"),
    ("latency_max_us", "longest latency", "us", "lower"),
)


def as_review(run: Recorded) -> Record:
    """The document of a review; of another run one with its numbers as tests, and little else."""
    if run.kind == REVIEW:
        return dict(run.document)
    rows = run.rows()
    [whole] = rows["tests"]
    own = run.document["drivelab"]
    settings = rows.get("job_options", [])
    return completed({
        "drivelab": {"quick": False, **own},
        "models": list(run.models),
        "tests": [
            {
                "id": f"{run.kind} {row['job']} {row['direction']}",
                "title": f"{row['job']}, {row['direction']}",
                "group": run.kind,
                "model": whole["model"],
                "state": whole["state"],
                "kind": COMPOUND,
                "values": _values(
                    row, row if run.kind == RUN else whole, repeats := _repeats(run.document, row)
                ),
                "repeats": {f"value:{name}": item for name, item in (repeats or {}).items()},
                "tables": _percentiles(row, rows.get("percentiles", [])),
                "charts": [],
                "data": _data(own),
                "options": _options(run, row, settings),
                "ios": row["ios"],
                "longest_us": row["latency_max_us"],
                "series": _series(run, row),
                "percentiles": [
                    (item["percentile"], item["latency_us"])
                    for item in _of_row(row, rows.get("percentiles", []))
                ],
            }
            for row in rows.get("measurements", [])
        ],
        "states": [{"model": whole["model"], "state": whole["state"], **own.get("state_from", {})}],
        "figures": [],
    })  # fmt: skip


def completed(document: Mapping[str, Any]) -> Record:
    """A document with all keys of a review, null or empty: one of jobs says what is compared."""
    own = document["drivelab"]
    if "schema" in own:
        return dict(document)
    state = {"description": "", "host_write_bytes": 0, "wall_s": 0.0}
    test = {"counters": {}, "deviations": [], "notes": [], "wall_s": 0.0}
    whole = {
        **document,
        "drivelab": {"schema": SCHEMA, "unabridged": False, **own},
        "tests": [test | record for record in document["tests"]],
        "states": [state | record for record in document["states"]],
        "wall_s": 0.0,
    }
    found: Record = with_nulls(whole, Review)
    return found


def _repeats(document: Mapping[str, Any], row: Row) -> Record | None:
    """What repeats of a run gave of a job's direction, with its interval, by name; None without."""
    repeats = document["drivelab"].get("repeats")
    if not repeats:
        return None
    names = job_tests(document["jobs"])
    of_row = (
        item["numbers"]
        for item in repeats["jobs"]
        if (repeated_job(item, names), item["direction"]) == (row["job"], row["direction"])
    )
    return dict(next(of_row, {}))


def _values(row: Row, flash: Row, repeats: Record | None) -> list[Record]:
    """Numbers of a direction of a job; `flash` knows what was programmed for it.

    What was repeated is a mean; a number that a repeat hasn't got is none.
    """
    found = [
        (name, title, unit, better, row.get(name))
        for name, title, unit, better in VALUES
        # Flushes move no bytes.
        if row["direction"] != FLUSHES or name != "mib_per_s"
    ]
    if row["direction"] == "write":
        amplification = flash.get("write_amplification")
        found.append(("write_amplification", "write amplification", "", "lower", amplification))
    return [
        {"name": name, "title": title, "unit": unit, "better": better}
        | {"value": value if repeats is None else repeats.get(name, {}).get("mean")}
        for name, title, unit, better, value in found
    ]


def _percentiles(row: Row, rows: Iterable[Row]) -> list[Record]:
    of_row = [
        {"percentile": f"{item['percentile']:g} %", "latency_us": item["latency_us"]}
        for item in _of_row(row, rows)
    ]
    columns = [
        {"key": "percentile", "title": "Percentile", "unit": ""},
        {"key": "latency_us", "title": "Latency under", "unit": "us"},
    ]
    table = {"name": "percentiles", "title": "Latency percentiles", "columns": columns}
    return [{**table, "rows": of_row}] if of_row else []


def _of_row(row: Row, rows: Iterable[Row]) -> Iterable[Row]:
    """The rows that are of the same direction of the same job."""
    key = (row["job"], row["direction"])
    return (item for item in rows if (item["job"], item["direction"]) == key)


def _series(run: Recorded, row: Row) -> Record | None:
    """A direction of a job over time; None in databases that don't know it, and of flushes."""
    if row["direction"] == FLUSHES:
        return None
    if run.kind == REPLAY:
        found = run.document["replay"][row["direction"]].get("series")
    else:
        jobs = run.document["jobs"]
        job = jobs[job_tests(jobs).index(row["job"])]
        found = job[row["direction"]]["drivelab"].get("series")
    if not found:
        return None
    return {key: found.get(key) for key in Series.model_fields}


def _data(own: Record) -> str | None:
    data = own.get("data")
    return None if data is None else str(data)


def _options(run: Recorded, row: Row, settings: Iterable[Row]) -> str:
    """What decides what was run, in words: options of the job, or how a trace was replayed."""
    if run.kind == REPLAY:
        return _words(replay_options(run.document["drivelab"], run.document["trace"]).items())
    found = {item["option"]: item["value"] for item in settings if item["job"] == row["job"]}
    if span_bytes := run.document["drivelab"].get("span_bytes"):
        found["span_bytes"] = span_bytes
    return _words(sorted(found.items()))


def _words(options: Iterable[tuple[str, Any]]) -> str:
    return " ".join(f"{option}={value}" for option, value in options)
