"""fio's JSON from the engine's reports.

Every key that fio 3.33 prints is there. All times are the drive's own; what only a real host has
(CPU time, page faults, the date) is null or 0, never a made-up number. What has no samples is null.
Beside fio's keys, each direction of a job has an object `drivelab`: what the flash did for it.
"""

from __future__ import annotations

import errno
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from drivelab import counters, results
from drivelab.fio.jobs import FioJob, Workload
from drivelab.quantities import KIB, NS_PER_MS, NS_PER_S, NS_PER_US

if TYPE_CHECKING:
    from drivelab.fio.groups import GroupRun

DIRECTIONS = ("read", "write", "trim")
Record = dict[str, Any]

_DEPTHS = (1, 2, 4, 8, 16, 32, 64)
_TENS = (2, 4, 10, 20, 50, 100, 250, 500, 750, 1000)
"""Upper bounds of fio's latency classes in ns, us and ms; ms go on to 2000 and beyond."""


def to_fio_json(workload: Workload, runs: Sequence[GroupRun], own: Record) -> Record:
    """The document of a whole run; `runs` are the groups'; `own` is `drivelab`."""
    reports = [run.report for run in runs]
    pairs = [
        (job, measured)
        for group, report in zip(workload.groups, reports, strict=True)
        for job, measured in zip(group, report["jobs"], strict=True)
    ]
    document: Record = {
        "fio version": f"drivelab-{own['engine_version']}",
        "timestamp": 0,
        "timestamp_ms": 0,
        "time": None,
    }
    if workload.global_options:
        document["global options"] = workload.global_options
    totals = _group_bandwidths(pairs)
    groups = [group_record(group, run) for group, run in zip(workload.groups, runs, strict=True)]
    document["jobs"] = [
        _job(job, measured, totals, _own_of_jobs(run.report, traffic)[index])
        | _errors(job, measured, traffic)
        | _steady(job, measured, run)
        for group, run, traffic in zip(workload.groups, runs, groups, strict=True)
        for index, (job, measured) in enumerate(zip(group, run.report["jobs"], strict=True))
    ]
    document["disk_util"] = []
    document["errors"] = []
    data = [{"jobname": job.name, "pattern": measured["data"]} for job, measured in pairs]
    document["drivelab"] = (
        own | _flash(reports) | {"groups": groups, "data": data, "latency_split_us": _splits(pairs)}
    )
    return document


FLASH_KEYS = ("flash_write_bytes", "write_amplification", "erases")
"""What the flash did that can be one job's and direction's."""


def group_record(group: Sequence[FioJob], run: GroupRun) -> Record:
    """What the drive did while the jobs of a group ran together."""
    return {
        "groupid": group[0].group,
        "jobs": [job.name for job in group],
        **traffic_record(run.report),
        "unmeasured": _unmeasured(run),
    }


def _unmeasured(run: GroupRun) -> Record | None:
    """What the drive did after the group before and until this one measured: its jobs' delays and
    ramps. It is in no sum."""
    if run.counters_begun is None:
        return None
    used = results.spent(run.counters_begun, run.report["counters_before"])
    return {
        "host_write_bytes": used["host_write_bytes"],
        "flash_write_bytes": results.program_bytes(used),
        "erases": results.erase_count(used),
        "energy_j": results.energy_j(used),
    }


def traffic_record(report: Mapping[str, Any]) -> Record:
    """What host and flash did over the measured time of a run."""
    seconds = (report["end_ns"] - report["measure_start_ns"]) / NS_PER_S
    return {"duration_s": seconds, **_flash([report])}


def flash_of_jobs(report: Mapping[str, Any], traffic: Mapping[str, Any]) -> list[dict[str, Record]]:
    """What the flash did for each job of a group, by direction.

    Writes and trims program and erase, reads do not: of a group with one direction of one job that
    changes anything, the flash's work is that one's. Where several do so together, nobody can
    tell whose blocks were cleaned: null, and the group has the sum.
    """
    changing = [
        (index, direction)
        for index, job in enumerate(report["jobs"])
        for direction in ("write", "trim")
        if job[direction]["ios"]
    ]
    alone = changing[0] if len(changing) == 1 else None
    return [
        {
            direction: {
                key: traffic[key] if (index, direction) == alone else None for key in FLASH_KEYS
            }
            for direction in DIRECTIONS
        }
        for index in range(len(report["jobs"]))
    ]


def over_time(report: Mapping[str, Any], index: int, direction: str, alone: bool) -> Record:
    """A direction of a job in every interval, as in results.json.

    Of jobs together, whose intervals begin at different times, nothing is said of the drive. Its
    write amplification is that of a direction that `alone` made it program and erase.
    """
    jobs = report["jobs"]
    drive = report.get("drive_series") if len(jobs) == 1 else None
    found = results.series_record(jobs[index][direction], drive)
    return found if alone else found | {"write_amplification": None}


def _own_of_jobs(report: Mapping[str, Any], traffic: Mapping[str, Any]) -> list[dict[str, Record]]:
    """What fio's JSON has no place for, of each job by direction."""
    found = []
    for index, (job, flash) in enumerate(
        zip(report["jobs"], flash_of_jobs(report, traffic), strict=True)
    ):
        own = {}
        for direction in DIRECTIONS:
            alone = flash[direction]["flash_write_bytes"] is not None
            measured: Record = {"tails": None, "series": None}
            if job[direction]["ios"]:
                measured["tails"] = results.tails_record(job[direction].get("tails"))
                measured["series"] = over_time(report, index, direction, alone)
            own[direction] = flash[direction] | measured
        found.append(own)
    return found


def _flash(reports: Sequence[Mapping[str, Any]]) -> Record:
    """What the flash did over the measured parts of all groups."""
    each = [results.spent(one["counters_before"], one["counters_after"]) for one in reports]
    used: dict[str, float] = {}
    for spent in each:
        for key, value in spent.items():
            used[key] = used.get(key, 0) + value
    if any(spent["host_read_bytes"] and counters.UNMAPPED not in spent for spent in each):
        # A file that wasn't one hole all the time.
        used.pop(counters.UNMAPPED, None)
    return {
        "host_read_bytes": used["host_read_bytes"],
        "unmapped_read_share": results.unmapped_read_share(used),
        "read_errors": used.get("read_errors"),
        "refused_commands": used.get("refused_commands"),
        "host_write_bytes": used["host_write_bytes"],
        "flash_read_bytes": results.read_bytes(used),
        "map_read_bytes": results.map_read_bytes(used),
        "flash_write_bytes": results.program_bytes(used),
        "write_amplification": results.write_amplification(used),
        "erases": results.erase_count(used),
        "energy_j": results.energy_j(used),
    }


def _splits(pairs: Sequence[tuple[FioJob, Mapping[str, Any]]]) -> list[Record]:
    """Mean latency of each job and direction, cut into where it was spent; us."""
    return [
        {"jobname": job.name}
        | {
            direction: _split(measured[direction])
            for direction in DIRECTIONS
            if measured[direction]["ios"]
        }
        for job, measured in pairs
    ]


def _split(direction: Mapping[str, Any]) -> Record:
    return results.split_us(direction["split_mean_ns"])


def _job(
    job: FioJob,
    measured: Mapping[str, Any],
    totals: Mapping[tuple[int, str], float],
    flash: Mapping[str, Record],
) -> Record:
    counts = _latency_counts(measured[direction]["latency_ns"] for direction in DIRECTIONS)
    runtime_ns = measured["runtime_ns"]
    return {
        "jobname": job.name,
        "groupid": job.group,
        "error": 0,
        "eta": 0,
        "elapsed": math.ceil(runtime_ns / NS_PER_S),
        "job options": {"name": job.name} | job.options,
        **{
            direction: _direction(job, measured[direction], totals[job.group, direction])
            | {"drivelab": flash[direction]}
            for direction in DIRECTIONS
        },
        "sync": _sync(job, measured["flush"]),
        "job_runtime": runtime_ns // NS_PER_MS,
        "usr_cpu": None,
        "sys_cpu": None,
        "ctx": None,
        "majf": None,
        "minf": None,
        "iodepth_level": _depth_levels(job),
        "iodepth_submit": _batches(),
        "iodepth_complete": _batches(),
        "latency_ns": _classes(counts, 0, 1, _TENS),
        "latency_us": _classes(counts, NS_PER_US, NS_PER_US, _TENS),
        "latency_ms": _classes(counts, NS_PER_MS, NS_PER_MS, (*_TENS, 2000)),
        "latency_depth": job.job.queue_depth,
        "latency_target": 0,
        "latency_percentile": 100.0,
        "latency_window": 0,
    }


def _errors(job: FioJob, measured: Mapping[str, Any], traffic: Mapping[str, Any]) -> Record:
    """What of a job came to nothing, in the keys of fio that goes on (`continue_on_error=all`).

    The number is that of a served drive: EIO of a read whose data are lost, EPERM of a change of a
    drive that only reads. Counts are the group's: whose commands they were of jobs together nobody
    can tell, so each that could have had them has the error, and none its count.
    """
    work = job.job
    read = traffic["read_errors"] or 0 if measured["read"]["ios"] else 0
    changes = work.writes or "trim" in work.rw
    refused = traffic["refused_commands"] or 0 if changes else 0
    if not read and not refused:
        return {}
    first = errno.EIO if read else errno.EPERM
    alone = len(traffic["jobs"]) == 1
    return {"error": first, "total_err": read + refused if alone else None, "first_error": first}


def _steady(job: FioJob, measured: Mapping[str, Any], run: GroupRun) -> Record:
    """fio's `steadystate` of a job that asked for it; of a real drive fio's own."""
    if job.steady is None:
        return {}
    if "fio" in measured:
        return {"steadystate": measured["fio"]["steadystate"]}
    judged = run.steady or {}
    return {"steadystate": {key: value for key, value in judged.items() if key != "reached"}}


def _direction(job: FioJob, measured: Mapping[str, Any], group_bytes_per_s: float) -> Record:
    series = measured["series"]
    interval_s = series["interval_ns"] / NS_PER_S
    whole = measured["runtime_ns"] // series["interval_ns"]
    rates = _samples([count / KIB / interval_s for count in series["bytes"][:whole]], measured)
    iops = _samples([count / interval_s for count in series["ios"][:whole]], measured)
    # fio's 0 of a direction without requests; null of requests that took no time.
    timeless = measured["ios"] > 0 and measured["iops"] is None
    bytes_per_s = measured["bytes_per_s"] or 0.0
    share = 100 * bytes_per_s / group_bytes_per_s if group_bytes_per_s else None
    return {
        "io_bytes": measured["bytes"],
        "io_kbytes": measured["bytes"] // KIB,
        "bw_bytes": None if timeless else round(bytes_per_s),
        "bw": None if timeless else int(bytes_per_s / KIB),
        "iops": None if timeless else measured["iops"] or 0.0,
        "runtime": measured["runtime_ns"] // NS_PER_MS if measured["ios"] else 0,
        "total_ios": measured["ios"],
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": _latency(None),
        "clat_ns": _latency(measured["latency_ns"], job.job.percentiles),
        "lat_ns": _latency(measured["latency_ns"]),
        "bw_min": _rounded(rates["min"]),
        "bw_max": _rounded(rates["max"]),
        "bw_agg": share,
        "bw_mean": rates["mean"],
        "bw_dev": rates["stddev"],
        "bw_samples": rates["count"],
        "iops_min": _rounded(iops["min"]),
        "iops_max": _rounded(iops["max"]),
        "iops_mean": iops["mean"],
        "iops_stddev": iops["stddev"],
        "iops_samples": iops["count"],
    }


def _rounded(value: float | None) -> int | None:
    return None if value is None else round(value)


def _sync(job: FioJob, flush: Mapping[str, Any]) -> Record:
    latency = _latency(flush["latency_ns"], job.job.percentiles)
    return {"total_ios": flush["count"], "lat_ns": latency}


def _latency(measured: Mapping[str, Any] | None, percentiles: Sequence[float] = ()) -> Record:
    """A latency in ns; every key is there, null where nothing was measured."""
    found: Record = dict.fromkeys(("min", "max", "mean", "stddev"))
    if measured is not None:
        found = {key: measured[key] for key in found}
    found["N"] = measured["count"] if measured is not None else 0
    if percentiles:
        names = [f"{percent:.6f}" for percent in percentiles]
        found["percentile"] = dict.fromkeys(names) | (measured["percentiles"] if measured else {})
        found["bins"] = {str(ns): count for ns, count in measured["bins"]} if measured else {}
    return found


def _samples(values: Sequence[float], measured: Mapping[str, Any]) -> Record:
    """Statistics over the whole intervals of a run."""
    if not values or not measured["ios"]:
        return {"min": None, "max": None, "mean": None, "stddev": None, "count": 0}
    mean = math.fsum(values) / len(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / max(len(values) - 1, 1)
    return {
        "min": min(values),
        "max": max(values),
        "mean": mean,
        "stddev": math.sqrt(variance),
        "count": len(values),
    }


def _group_bandwidths(
    pairs: Iterable[tuple[FioJob, Mapping[str, Any]]],
) -> dict[tuple[int, str], float]:
    totals: dict[tuple[int, str], float] = {}
    for job, measured in pairs:
        for direction in DIRECTIONS:
            key = (job.group, direction)
            totals[key] = totals.get(key, 0.0) + (measured[direction]["bytes_per_s"] or 0.0)
    return totals


def _latency_counts(latencies: Iterable[Mapping[str, Any] | None]) -> list[tuple[int, int]]:
    return [(ns, count) for latency in latencies if latency for ns, count in latency["bins"]]


def _classes(
    counts: Sequence[tuple[int, int]], start_ns: int, unit_ns: int, bounds: Sequence[int]
) -> dict[str, float]:
    """Percent of all requests in fio's classes of one unit: from the bound before to this one."""
    total = sum(count for _, count in counts)
    found: dict[str, float] = {}
    lower = start_ns
    for bound in bounds:
        upper = bound * unit_ns
        found[str(bound)] = _percent(counts, lower, upper, total)
        lower = upper
    if unit_ns == NS_PER_MS:
        found[f">={bounds[-1]}"] = _percent(counts, lower, None, total)
    return found


def _percent(
    counts: Sequence[tuple[int, int]], lower_ns: int, upper_ns: int | None, total: int
) -> float:
    inside = sum(
        count for ns, count in counts if lower_ns <= ns and (upper_ns is None or ns < upper_ns)
    )
    return 100 * inside / total if total else 0.0


def _depth_levels(job: FioJob) -> dict[str, float | None]:
    """Percent of submissions at each depth: a closed loop keeps its depth, a paced one doesn't."""
    work = job.job
    paced = work.rate_iops or work.rate_bytes_per_s or work.thinktime_ns
    level = max(depth for depth in _DEPTHS if depth <= work.queue_depth)
    levels: dict[str, float | None] = {}
    for depth in _DEPTHS:
        name = f">={depth}" if depth == _DEPTHS[-1] else str(depth)
        levels[name] = None if paced else 100.0 * (depth == level)
    return levels


def _batches() -> dict[str, float]:
    """Commands are handed over and reaped one at a time: fio's class "4" is 1 to 4."""
    names = ("0", "4", "8", "16", "32", "64", ">=64")
    return {name: 100.0 * (name == "4") for name in names}
