"""Recorded traces, and their replay on a drive."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from drivelab import _engine, results
from drivelab.errors import RequestError
from drivelab.quantities import MIB, NS_PER_MS, NS_PER_S
from drivelab.targets import Report, engine_errors
from drivelab.workload import RANDOM_BYTES, DataPattern, Job, Recorded, Requests

Pacing = Literal["arrival", "closed", "capped"]
DIRECTIONS = ("read", "write", "trim")


@dataclass(frozen=True)
class Trace:
    """A trace that fits a drive."""

    format: str
    devices: tuple[str, ...]
    requests: Requests


def read_trace(
    path: Path, format_name: str | None, device: str | None, capacity_bytes: int, beyond: str
) -> Trace:
    """Reads a trace and makes it fit; raises RequestError naming file and line, or the request."""
    try:
        with engine_errors():
            trace = _engine.read_trace(str(path), format_name)
            devices = tuple(trace.device_names)
            if device is not None:
                trace = trace.select(device)
            trace = trace.fit(capacity_bytes, beyond)
    except OSError as error:
        raise RequestError(f'trace "{path}": can\'t read it ({error.strerror})') from None
    except RequestError as error:
        hint = " (--out-of-range)" if "modulo" in str(error) else ""
        raise RequestError(f"{error}{hint}") from None
    requests = Requests(trace.op, trace.lba, trace.sector_count, trace.arrival_ns)
    return Trace(trace.format, devices, requests)


def replay_job(
    name: str,
    pacing: Pacing,
    queue_depth: int,
    idle_cap_ns: int | None,
    seed: int,
    data: DataPattern = RANDOM_BYTES,
) -> Job:
    """The job that replays a trace; `queue_depth` counts in closed pacing only.

    Traces don't say what was written: `data` does.
    """
    cap = idle_cap_ns if pacing == "capped" else None
    return Job(
        name=name,
        source=Recorded(pacing=pacing, idle_cap_ns=cap),
        queue_depth=queue_depth,
        seed=seed,
        data=data,
    )


def replay_result(report: Report) -> dict[str, Any]:
    """What the replay measured: rates in MiB/s and IOPS, latencies in ms and us, flash traffic."""
    [job] = report["jobs"]
    used = results.spent(report["counters_before"], report["counters_after"])
    duration_s = (report["end_ns"] - report["measure_start_ns"]) / NS_PER_S
    ios = sum(job[direction]["ios"] for direction in DIRECTIONS)
    moved = sum(job[direction]["bytes"] for direction in DIRECTIONS[:2])
    return {
        "duration_s": duration_s,
        "requests": ios + job["flush"]["count"],
        "iops": ios / duration_s if duration_s else None,
        "mib_per_s": moved / MIB / duration_s if duration_s else None,
        **{direction: _direction(job[direction]) for direction in DIRECTIONS},
        "flush": {
            "count": job["flush"]["count"],
            "latency_us": results.latency_us(job["flush"]["latency_ns"]),
        },
        "host_read_bytes": used["host_read_bytes"],
        "host_write_bytes": used["host_write_bytes"],
        "flash_write_bytes": results.program_bytes(used),
        "write_amplification": results.write_amplification(used),
        "erases": results.erase_count(used),
        "energy_j": used["energy_nj"] / 1e9,
    }


def _direction(measured: dict[str, Any]) -> dict[str, Any]:
    rate = measured["bytes_per_s"]
    return {
        "ios": measured["ios"],
        "bytes": measured["bytes"],
        "iops": measured["iops"],
        "mib_per_s": None if rate is None else rate / MIB,
        "latency_us": results.latency_us(measured["latency_ns"]),
        "split_mean_us": results.split_us(measured["split_mean_ns"]),
        "lateness_ms": _lateness_ms(measured["lateness_ns"]),
    }


def _lateness_ms(lateness_ns: dict[str, Any] | None) -> dict[str, Any] | None:
    """How much later than recorded requests were issued, because the drive's queue was full."""
    if lateness_ns is None:
        return None
    return {key: lateness_ns[key] / NS_PER_MS for key in ("mean", "max")}
