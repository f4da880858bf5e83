"""From fio's JSON and logs to a report with the keys of the engine's.

What fio doesn't measure is None: where the time of a request went, lateness, how long the drive was
busy. A latency is fio's `lat`: from before the submission to the completion, as a program sees it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from drivelab.moments import pooled
from drivelab.quantities import KIB, NS_PER_MS, NS_PER_S
from drivelab.workload import Job

DIRECTIONS = ("read", "write", "trim")
Record = dict[str, Any]
Rows = Sequence[tuple[int, int]]
"""Rows of a log of one direction: time in ms since the job's start, value."""

SHORT_NS = NS_PER_S
"""fio states times in whole ms; shorter runs of single requests are timed by their latencies."""

WINDOW_MAX = 1.5
"""A longer time between two rows of a log, in intervals, has windows without a row."""

TAIL_SHARE = 0.1
"""A shorter rest of an interval counts with the interval before it."""


def job_report(job: Job, measured: Mapping[str, Any], logs: Mapping[str, Rows]) -> Record:
    """One job from its entry in fio's JSON; `logs` by kind and direction, such as `bw read`."""
    runtime_ns = _runtime_ns(job, measured)
    return {
        "name": job.name,
        "data": job.data.model_dump(),
        "runtime_ns": runtime_ns,
        "busy_ns": None,
        **{
            direction: direction_report(
                measured[direction]["total_ios"],
                measured[direction]["io_bytes"],
                runtime_ns,
                latency_report(measured[direction]["lat_ns"]),
                _series(job, measured[direction], runtime_ns, logs, direction),
            )
            for direction in DIRECTIONS
        },
        "flush": flush_report(measured.get("sync")),
    }


def no_job(job: Job) -> Record:
    """The report of a job that did nothing."""
    nothing = {
        direction: direction_report(0, 0, 0, None, no_series(0, 0, 0, None))
        for direction in DIRECTIONS
    }
    return {
        "name": job.name,
        "data": job.data.model_dump(),
        "runtime_ns": 0,
        "busy_ns": None,
        **nothing,
        "flush": flush_report(None),
    }


def direction_report(
    ios: int, moved: int, runtime_ns: int, latency: Record | None, series: Record
) -> Record:
    """Requests of one direction."""

    def per_second(amount: int) -> float | None:
        return amount * NS_PER_S / runtime_ns if ios and runtime_ns else None

    return {
        "ios": ios,
        "bytes": moved,
        "runtime_ns": runtime_ns,
        "busy_ns": None,
        "iops": per_second(ios),
        "bytes_per_s": per_second(moved),
        "latency_ns": latency,
        "split_mean_ns": None,
        "series": series,
        "lateness_ns": None,
    }


def flush_report(sync: Mapping[str, Any] | None) -> Record:
    """Flushes of a job."""
    count = int(sync["total_ios"]) if sync else 0
    latency = latency_report(sync["lat_ns"]) if sync and count else None
    return {"count": count, "busy_ns": None, "latency_ns": latency}


def latency_report(measured: Mapping[str, Any]) -> Record | None:
    """A distribution of times in ns; None without samples."""
    bins = {int(ns): count for ns, count in measured.get("bins", {}).items()}
    count = int(measured.get("N", sum(bins.values())))
    if not count:
        return None
    shortest, longest = int(measured["min"]), int(measured["max"])
    # fio tells a percentile by the middle of its bin, which may be beyond all that is in it.
    told = measured.get("percentile", {}).items()
    percentiles = {key: max(shortest, min(ns, longest)) for key, ns in told}
    return {
        "min": shortest,
        "max": longest,
        "mean": float(measured["mean"]),
        "stddev": float(measured["stddev"]),
        "count": count,
        "percentiles": percentiles,
        "bins": [[ns, bins[ns]] for ns in sorted(bins)],
    }


def no_series(moved: int, ios: int, runtime_ns: int, longest_ns: int | None) -> Record:
    """The series of a run of which only the sums are known: one interval."""
    return {
        "interval_ns": max(runtime_ns, 1),
        "bytes": [moved],
        "ios": [ios],
        "latency_mean_ns": None,
        "latency_max_ns": [longest_ns if ios else None],
    }


def run_report(
    jobs: Sequence[Record], start_ns: int, end_ns: int, before: Record, after: Record
) -> Record:
    """A run of jobs; the measured time ends at `end_ns` and is as long as the longest job's."""
    longest_ns = max((job["runtime_ns"] for job in jobs), default=0)
    return {
        "start_ns": start_ns,
        "measure_start_ns": max(start_ns, end_ns - longest_ns),
        "end_ns": end_ns,
        "busy_ns": None,
        "jobs": list(jobs),
        "counters_before": before,
        "counters_after": after,
    }


def merged(parts: Sequence[Mapping[str, Any]], percentiles: Sequence[float]) -> Record:
    """Entries of fio's JSON that are lanes of one replay, as one entry."""
    whole: Record = {"job_runtime": max(part["job_runtime"] for part in parts)}
    for direction in DIRECTIONS:
        own = [part[direction] for part in parts]
        whole[direction] = {
            "total_ios": sum(item["total_ios"] for item in own),
            "io_bytes": sum(item["io_bytes"] for item in own),
            "runtime": max(item["runtime"] for item in own),
            "lat_ns": _merged_latency([item["lat_ns"] for item in own], percentiles),
        }
    syncs = [part["sync"] for part in parts if part.get("sync")]
    whole["sync"] = {
        "total_ios": sum(item["total_ios"] for item in syncs),
        "lat_ns": _merged_latency([item["lat_ns"] for item in syncs], percentiles),
    }
    return whole


def _merged_latency(parts: Iterable[Mapping[str, Any]], percentiles: Sequence[float]) -> Record:
    used = [part for part in parts if part.get("N")]
    count = sum(part["N"] for part in used)
    if not count:
        return {"N": 0}
    mean, stddev = pooled(
        [part["N"] for part in used],
        [part["mean"] for part in used],
        [part["stddev"] for part in used],
    )
    bins: dict[int, int] = {}
    for part in used:
        for ns, samples in part.get("bins", {}).items():
            bins[int(ns)] = bins.get(int(ns), 0) + samples
    return {
        "min": min(part["min"] for part in used),
        "max": max(part["max"] for part in used),
        "mean": mean,
        "stddev": stddev,
        "N": count,
        "percentile": _percentiles(bins, percentiles),
        "bins": {str(ns): bins[ns] for ns in sorted(bins)},
    }


def _percentiles(bins: Mapping[int, int], percentiles: Sequence[float]) -> dict[str, int]:
    """The bin that holds each percentile; fio's bins are at most 1.6 % wide."""
    total, found, seen = sum(bins.values()), {}, 0
    wanted = sorted(percentiles)
    for ns in sorted(bins):
        seen += bins[ns]
        while wanted and seen >= math.ceil(wanted[0] / 100 * total):
            found[f"{wanted.pop(0):.6f}"] = ns
    return found


def _runtime_ns(job: Job, measured: Mapping[str, Any]) -> int:
    """Measured time of a job. fio's whole milliseconds are too coarse for the shortest ones."""
    parts = [measured[direction] for direction in DIRECTIONS]
    whole_ns = max([int(measured["job_runtime"]), *(int(part["runtime"]) for part in parts)])
    whole_ns *= NS_PER_MS
    if whole_ns >= SHORT_NS:
        return whole_ns
    paced = job.rate_iops or job.rate_bytes_per_s or job.thinktime_ns
    if job.queue_depth > 1 or paced or job.source.kind != "generated":
        return max(whole_ns, NS_PER_MS) if any(part["total_ios"] for part in parts) else whole_ns
    used = [part["lat_ns"] for part in parts if part["lat_ns"].get("N")]
    return round(math.fsum(part["mean"] * part["N"] for part in used)) or whole_ns


def _series(
    job: Job,
    measured: Mapping[str, Any],
    runtime_ns: int,
    logs: Mapping[str, Rows],
    direction: str,
) -> Record:
    """Buckets over time. fio's logs end with the last whole window; what is left is the last's."""
    ios, moved = measured["total_ios"], measured["io_bytes"]
    throughput = logs.get(f"bw {direction}")
    each = logs.get(f"moved {direction}")
    if not throughput and not each:
        latency = latency_report(measured["lat_ns"])
        return no_series(moved, ios, runtime_ns, latency["max"] if latency else None)
    interval_ns = job.series_interval_ns
    # A run lasts some ms longer than it was told to: that is no interval of its own.
    count = max(1, math.ceil(runtime_ns / interval_ns - TAIL_SHARE))
    longest: list[int | None] = [None] * count
    bucket = _bucket_of_request if each else _bucket
    for time_ms, value in logs.get(f"lat {direction}", ()):
        index = bucket(time_ms, interval_ns, count)
        longest[index] = max(value, longest[index] or 0)
    if each:
        amounts = [[0] * count, [0] * count]
        for time_ms, size in each:
            index = bucket(time_ms, interval_ns, count)
            amounts[0][index] += size
            amounts[1][index] += 1
    else:
        amounts = [
            _spread(throughput or (), KIB, moved, interval_ns, count),
            _spread(logs.get(f"iops {direction}", ()), 1, ios, interval_ns, count),
        ]
    return {
        "interval_ns": interval_ns,
        "bytes": amounts[0],
        "ios": amounts[1],
        "latency_mean_ns": None,
        "latency_max_ns": longest,
    }


def _bucket(time_ms: int, interval_ns: int, count: int) -> int:
    """The interval that a window ends in: fio writes its rows some ms late."""
    return min(count - 1, max(0, math.ceil(time_ms * NS_PER_MS / interval_ns - TAIL_SHARE) - 1))


def _bucket_of_request(time_ms: int, interval_ns: int, count: int) -> int:
    """The interval that a request ended in: its row has the time of its completion."""
    return min(count - 1, time_ms * NS_PER_MS // interval_ns)


def _spread(rows: Rows, unit: int, total: int, interval_ns: int, count: int) -> list[int]:
    """Amounts per interval from rates per second per window; together exactly the total.

    fio writes no row for a window in which nothing was done: the next row is about its own window
    alone, not about the time since the row before.
    """
    amounts = [0.0] * count
    start_ns = 0
    for time_ms, rate in rows:
        end_ns = time_ms * NS_PER_MS
        window_ns = end_ns - start_ns
        if window_ns > interval_ns * WINDOW_MAX:
            window_ns = interval_ns
        amounts[_bucket(time_ms, interval_ns, count)] += rate * unit * window_ns / NS_PER_S
        start_ns = end_ns
    known = math.fsum(amounts)
    if known > total:
        amounts = [amount * total / known for amount in amounts]
    whole = [int(amount) for amount in amounts]
    whole[-1] += total - sum(whole)
    return whole


def log_texts(folder: Path, name: str) -> dict[str, str]:
    """The logs of one job as fio wrote them, by kind; none if it wrote none."""
    found = {}
    for kind in ("bw", "clat", "iops", "lat", "slat"):
        paths = sorted(folder.glob(f"{name}_{kind}.*.log"))
        if paths:
            found[kind] = "".join(path.read_text(encoding="ascii") for path in paths)
    return found


def read_logs(texts: Mapping[str, str], more: Mapping[str, str]) -> dict[str, Rows]:
    """The logs of one job, by kind and direction, written with these options besides one's own.

    Where each request has a row, `moved` stands in place of rates: its bytes.
    """
    each = more.get("log_avg_msec") == "0"
    found: dict[str, list[tuple[int, int]]] = {}
    for kind in ("lat",) if each else ("bw", "iops", "lat"):
        for line in texts.get(kind, "").splitlines():
            time_ms, value, direction, size, *_ = (int(field) for field in line.split(","))
            name = DIRECTIONS[direction]
            if each:
                found.setdefault(f"moved {name}", []).append((time_ms, size))
            # The mean of an interval isn't the longest of it.
            if kind != "lat" or each or more.get("log_max_value") != "0":
                found.setdefault(f"{kind} {name}", []).append((time_ms, value))
    return dict(found)
