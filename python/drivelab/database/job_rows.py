"""Runs of job files and replays of traces as rows of the database's tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from drivelab import counters
from drivelab.data_patterns import data_pattern_text
from drivelab.fio.flushes import FLUSHES, flushes_of
from drivelab.fio.output import DIRECTIONS
from drivelab.latencies import SPLIT_PARTS, histogram_us
from drivelab.names import told_apart
from drivelab.quantities import NS_PER_US, mib

Record = Mapping[str, Any]
Row = dict[str, Any]
"""By column name, without `run_id`; columns that it doesn't name are null."""

RUN, REPLAY = "run", "replay"
"""Kinds of runs, by the command that makes them."""

REPLAYED = ("pacing", "queue_depth", "idle_cap_ns", "span_bytes")
TRACED = ("requests", "bytes")
"""Of a replay's document, in `drivelab` and in `trace`: what decides what was asked of a drive."""
TIMES = ("min", "mean", "stddev", "max")


def latencies(latency_us: Record) -> Row:
    """Latencies as columns of a measurement."""
    return {f"latency_{key}_us": latency_us[key] for key in TIMES}


def percentiles(latency_us: Record) -> Iterator[Row]:
    """Percentiles of a latency, as in results.json."""
    for percentile, time_us in latency_us.get("percentiles") or ():
        yield {"percentile": percentile, "latency_us": time_us}


def histogram(latency_us: Record) -> Iterator[Row]:
    """Bins of a latency, as in results.json."""
    found = latency_us.get("histogram") or {"latency_below_us": (), "requests": ()}
    for edge_us, count in zip(found["latency_below_us"], found["requests"], strict=True):
        yield {"latency_below_us": edge_us, "requests": count}


def parts(split_us: Record | None, count: int) -> Iterator[Row]:
    """Parts of the mean latency of all requests."""
    for part in SPLIT_PARTS if split_us else ():
        if split_us is not None and split_us[part] is not None:
            yield {
                "share_of_requests": 1.0,
                "part": part,
                "mean_us": split_us[part],
                "requests": count,
            }


def tails(found: Sequence[Record] | None) -> Iterator[Row]:
    """Parts of the mean latency of the slowest requests, as in results.json."""
    for tail in found or ():
        more = {key: tail[key] for key in ("share_of_requests", "latency_min_us")}
        for row in parts(tail["split_mean_us"], tail["count"]):
            yield row | more


def series(found: Record | None) -> Iterator[Row]:
    """A stream over time, as in results.json."""
    if not found:
        return
    columns = {key: column for key, column in found.items() if isinstance(column, list)}
    for index, values in enumerate(zip(*columns.values(), strict=True)):
        yield {
            **dict(zip(columns, values, strict=True)),
            "interval_index": index,
            "time_s": index * found["interval_s"],
        }


def repeats(numbers: Record | None, seeds: Sequence[int]) -> Iterator[Row]:
    """Every number of every repeat."""
    for name, found in (numbers or {}).items():
        for index, (seed, value) in enumerate(zip(seeds, found["values"], strict=True)):
            yield {"number": name, "repeat_index": index, "seed": seed, "value": value}


def intervals(numbers: Record | None) -> Iterator[Row]:
    """Means of repeats with their intervals."""
    for name, found in (numbers or {}).items():
        yield {"number": name, **{k: found[k] for k in ("mean", "low", "high", "method")}}


def job_tests(jobs: Sequence[Record]) -> list[str]:
    """What each job of a run is called: its name, of clones and namesakes with a number.

    Their numbers are their own, and so are the rows of the tables.
    """
    return told_apart([job["jobname"] for job in jobs])


def of_run(document: Record) -> dict[str, Iterable[Row]]:
    """Rows of a job file's run."""
    own = document["drivelab"]
    jobs = [{**job, FLUSHES: flushes_of(job)} for job in document["jobs"]]
    names = job_tests(jobs)
    keys = {"model": own["model"], "state": own["state"]}
    keys["test"] = " ".join(dict.fromkeys(job["jobname"] for job in jobs))

    def of_each(make: Callable[[Record], Iterable[Row]]) -> Iterator[Row]:
        for name, job in zip(names, jobs, strict=True):
            for row in make(job):
                yield {**keys, "job": name, **row}

    def of_each_direction(make: Callable[[Record, str], Iterable[Row]]) -> Iterator[Row]:
        def of_job(job: Record) -> Iterator[Row]:
            for direction in (*DIRECTIONS, FLUSHES):
                for row in make(job, direction) if job[direction]["total_ios"] else ():
                    yield {"direction": direction, **row}

        return of_each(of_job)

    whole = _traffic(own, math.fsum(group["duration_s"] for group in own["groups"])) | {
        "kind": RUN,
        "drive_count": 1,
    }
    return {
        "tests": [keys | whole],
        "measurements": of_each_direction(_fio_measurement),
        "percentiles": of_each_direction(_fio_percentiles),
        "histogram_bins": of_each_direction(_fio_histogram),
        "latency_parts": [
            *_fio_parts(document, names, keys),
            *of_each_direction(lambda job, direction: tails(_own(job, direction).get("tails"))),
        ],
        "series": of_each_direction(
            lambda job, direction: series(_own(job, direction).get("series"))
        ),
        "job_groups": (keys | _job_group(group) for group in own["groups"]),
        "job_options": of_each(
            lambda job: (
                {"option": option, "value": str(value)}
                for option, value in job["job options"].items()
            )
        ),
        **_fio_repeats(own, keys, names),
    }


def repeated_job(row: Record, names: Sequence[str]) -> str:
    """The job that a row of a run's repeats is of; runs of old have jobs by name alone."""
    return names[row["index"]] if "index" in row else str(row["job"])


def _fio_repeats(own: Record, keys: Row, names: Sequence[str]) -> dict[str, Iterable[Row]]:
    """Repeats of each direction of each job, and of the whole run."""
    found = own.get("repeats") or {"jobs": (), "numbers": {}, "seeds": ()}
    of_parts = [
        (
            {**keys, "job": repeated_job(row, names), "direction": row["direction"]},
            row["numbers"],
        )
        for row in found["jobs"]
    ]
    of_parts.append((keys, found["numbers"]))
    return {
        "repeats": [of | row for of, n in of_parts for row in repeats(n, found["seeds"])],
        "intervals": [of | row for of, n in of_parts for row in intervals(n)],
    }


def _job_group(group: Record) -> Row:
    return _flash_traffic(group) | {
        "group_index": group["groupid"],
        "jobs": " ".join(group["jobs"]),
        "duration_s": group["duration_s"],
    }


def _flash_traffic(measured: Record) -> Row:
    """Of a run's own object, or of a replay."""
    keys = (
        *("host_read_bytes", "unmapped_read_share", *counters.FAILED, "host_write_bytes"),
        *("write_amplification", "erases", "energy_j"),
    )
    found = {key: measured.get(key) for key in keys}
    return found | {"flash_program_bytes": measured.get("flash_write_bytes")}


def _traffic(measured: Record, duration_s: float | None) -> Row:
    """The same of a whole run or replay, with its time and the mean power over it."""
    energy = measured.get("energy_j")
    power = energy / duration_s if duration_s and energy is not None else None
    return _flash_traffic(measured) | {"duration_s": duration_s, "mean_power_w": power}


def _us(latency_ns: float | None) -> float | None:
    return None if latency_ns is None else latency_ns / NS_PER_US


def _fio_measurement(job: Record, direction: str) -> Iterator[Row]:
    part = job[direction]
    yield {
        "job_name": job["jobname"],
        "ios": part["total_ios"],
        "bytes": part["io_bytes"],
        "iops": part["iops"],
        "mib_per_s": mib(part["bw_bytes"]),
        **latencies({key: _us(part["lat_ns"][key]) for key in TIMES}),
        "write_amplification": part["drivelab"]["write_amplification"],
        "flash_program_bytes": part["drivelab"]["flash_write_bytes"],
        "erases": part["drivelab"]["erases"],
    }


def _own(job: Record, direction: str) -> Record:
    """What fio's JSON has no place for; databases of older layouts knew less."""
    found: Record = job[direction]["drivelab"]
    return found


def _fio_percentiles(job: Record, direction: str) -> Iterator[Row]:
    for percentile, latency_ns in (job[direction]["clat_ns"].get("percentile") or {}).items():
        if latency_ns is not None:
            yield {"percentile": float(percentile), "latency_us": _us(latency_ns)}


def _fio_histogram(job: Record, direction: str) -> Iterable[Row]:
    bins = job[direction]["clat_ns"].get("bins") or {}
    found = histogram_us(sorted((int(ns), count) for ns, count in bins.items()))
    return histogram({"histogram": found})


def _fio_parts(document: Record, names: Sequence[str], keys: Row) -> Iterator[Row]:
    splits = document["drivelab"].get("latency_split_us") or ()
    for name, job, split in zip(names, document["jobs"], splits, strict=False):
        for direction in DIRECTIONS:
            for row in parts(split.get(direction), job[direction]["total_ios"]):
                yield {**keys, "job": name, "direction": direction, **row}


def replay_options(own: Record, trace: Record) -> dict[str, Any]:
    """What decides what a replay asked of its drive; `own` and `trace` are of its document."""
    found = {key: own.get(key) for key in REPLAYED} | {key: trace[key] for key in TRACED}
    return {key: value for key, value in found.items() if value is not None}


def of_replay(document: Record) -> dict[str, Iterable[Row]]:
    """Rows of a trace's replay."""
    own, measured = document["drivelab"], document["replay"]
    name = document["trace"]["file"]
    keys = {"model": own["model"], "state": own["state"], "test": name}
    done = {
        direction: measured[direction] for direction in DIRECTIONS if measured[direction]["ios"]
    }
    if count := measured["flush"]["count"]:
        seconds = measured.get("duration_s")
        rate = count / seconds if seconds else None
        done[FLUSHES] = {"ios": count, "iops": rate, "latency_us": measured["flush"]["latency_us"]}
    whole = {
        **_traffic(measured, measured.get("duration_s")),
        "kind": REPLAY,
        "drive_count": 1,
        "title": f"{name} ({document['trace']['format']}, {own.get('pacing')})",
        "data": None if own.get("data") is None else data_pattern_text(own["data"]),
    }

    def of_each(make: Callable[[Record], Iterable[Row]]) -> Iterator[Row]:
        for direction, part in done.items():
            for row in make(part):
                yield {**keys, "job": name, "direction": direction, **row}

    return {
        "tests": [keys | whole],
        "measurements": of_each(
            lambda part: [{**part, **latencies(part["latency_us"]), "job_name": name}]
        ),
        "percentiles": of_each(lambda part: percentiles(part["latency_us"])),
        "histogram_bins": of_each(lambda part: histogram(part["latency_us"])),
        "latency_parts": of_each(_replay_parts),
        "series": of_each(lambda part: series(part.get("series"))),
    }


def _replay_parts(part: Record) -> Iterator[Row]:
    yield from parts(part.get("split_mean_us"), part["ios"])
    yield from tails(part.get("tails"))
