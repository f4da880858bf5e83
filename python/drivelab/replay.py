"""Recorded traces on a drive: the job that replays one, and what it measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from drivelab import _engine, results
from drivelab.errors import WorkError
from drivelab.fio.output import over_time
from drivelab.progress import TaskProgress
from drivelab.quantities import MIB, NS_PER_MS, NS_PER_S, derive_seed
from drivelab.states import State
from drivelab.subject import Subject
from drivelab.targets import Report
from drivelab.traces import BEYOND_OPTION, Trace, TraceFile, read_trace
from drivelab.workload import RANDOM_BYTES, DataPattern, Job, Recorded, Requests

Pacing = Literal["arrival", "closed", "capped"]
PACINGS: tuple[Pacing, ...] = ("arrival", "closed", "capped")
DIRECTIONS = ("read", "write", "trim")
MB = 10**6


@dataclass(frozen=True)
class Replay:
    """A trace's file, and everything that makes one replay of it another.

    `queue_depth` counts with closed pacing only, `idle_cap_ns` with capped pacing. `out_of_range`
    says what becomes of requests beyond a drive: reject, modulo (wrap) or compact (renumber). There
    are `repeat` rounds, None: one; or with `until_steady` so many at most.
    """

    file: TraceFile
    idle_cap_ns: int
    pacing: Pacing = "arrival"
    queue_depth: int | None = None
    out_of_range: str = "reject"
    data: DataPattern = RANDOM_BYTES
    repeat: int | None = None
    until_steady: bool = False

    def read(
        self, capacity_bytes: int, progress: TaskProgress, option: str = BEYOND_OPTION
    ) -> Trace:
        """The trace as it fits so many bytes; raises RequestError as `traces.read_trace`."""
        return read_trace(self.file, progress, capacity_bytes, self.out_of_range, option)

    def job(self, seed: int, drive: str, state: str) -> Job:
        """The job that replays it on a drive of this name in this state."""
        return replay_job(
            self.file.path.name,
            self.pacing,
            self.queue_depth or 1,
            self.idle_cap_ns,
            derive_seed(seed, drive, state, "replay"),
            self.data,
        )


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
    """What the replay measured: rates, busy time, latencies in ms and us, flash traffic.

    `mb_per_s` (10^6 bytes) and `mib_per_s` (2^20) are averages over the whole replay,
    `mb_per_busy_s` and `mib_per_busy_s` over the time that requests were outstanding; of the drive
    they are of what was read and written, without what was trimmed. `iops` has no flushes.
    """
    [job] = report["jobs"]
    used = results.spent(report["counters_before"], report["counters_after"])
    duration_s = (report["end_ns"] - report["measure_start_ns"]) / NS_PER_S
    ios = sum(job[direction]["ios"] for direction in DIRECTIONS)
    moved = sum(job[direction]["bytes"] for direction in DIRECTIONS[:2])
    return {
        "duration_s": duration_s,
        "requests": ios + job["flush"]["count"],
        "iops": ios / duration_s if duration_s else None,
        **_rates(moved, duration_s, job["busy_ns"]),
        **{
            direction: _direction(job[direction], duration_s) | _in_detail(report, direction)
            for direction in DIRECTIONS
        },
        "flush": {
            "count": job["flush"]["count"],
            "busy_s": _seconds(job["flush"]["busy_ns"]),
            "latency_us": results.latency_us(job["flush"]["latency_ns"]),
        },
        "host_read_bytes": used["host_read_bytes"],
        "unmapped_read_share": results.unmapped_read_share(used),
        "map_read_bytes": results.map_read_bytes(used),
        "read_errors": used.get("read_errors"),
        "refused_commands": used.get("refused_commands"),
        "host_write_bytes": used["host_write_bytes"],
        "flash_write_bytes": results.program_bytes(used),
        "write_amplification": results.write_amplification(used),
        "erases": results.erase_count(used),
        "energy_j": results.energy_j(used),
    }


def document(
    drive: Subject,
    trace: Trace,
    report: Report,
    *,
    job: Job,
    pacing: Pacing,
    state: State,
    seed: int,
    command_line: str,
    span_bytes: int | None = None,
    smart: Mapping[str, Any] = MappingProxyType({}),
    of_rounds: Mapping[str, Any] = MappingProxyType({}),
    wall_s: float | None = None,
) -> dict[str, Any]:
    """What `drivelab replay --json` prints of a replay by a job of `replay_job` on a drive that was
    prepared so; `smart` and `of_rounds` are what a real drive and `rounds` say beside."""
    cap_ns = job.source.idle_cap_ns if isinstance(job.source, Recorded) else None
    return {
        "drivelab": {
            "engine_version": _engine.engine_version(),
            "command_line": command_line,
            "seed": seed,
            "model": drive.name,
            "model_hash": drive.hash,
            "effective_spare_ratio": getattr(drive, "effective_spare_ratio", None),
            "state": state.name,
            **({"state_from": found} if (found := results.state_origin(state)) else {}),
            "pacing": pacing,
            "queue_depth": job.queue_depth if pacing == "closed" else None,
            "idle_cap_ns": cap_ns,
            "data": job.data.model_dump(),
            "span_bytes": span_bytes,
            **smart,
        },
        "trace": trace.record(),
        "gaps_cut": gaps_cut(trace.requests, cap_ns),
        "replay": replay_result(report),
        **of_rounds,
        "wall_s": wall_s,
    }


def cut_text(cap_ns: int) -> str:
    """What `capped` pacing did to the times of a trace, in words."""
    return f"gaps between arrivals longer than {cap_ns / NS_PER_MS:g} ms were cut to that"


def gaps_cut(requests: Requests, cap_ns: int | None) -> dict[str, Any] | None:
    """How many gaps between arrivals `capped` pacing cuts, and by how much; else None."""
    if cap_ns is None or requests.arrival_ns is None:
        return None
    gaps_ns = np.diff(requests.arrival_ns)
    longer = gaps_ns[gaps_ns > cap_ns]
    left_out_ns = int(longer.sum(dtype=np.uint64)) - len(longer) * cap_ns
    return {"count": len(longer), "left_out_s": left_out_ns / NS_PER_S}


def check_conservation(requests: Requests, report: Report) -> None:
    """Every request and every byte of the trace was done; raises WorkError if not."""
    [job] = report["jobs"]
    out_count = sum(job[direction]["ios"] for direction in DIRECTIONS) + job["flush"]["count"]
    out_bytes = sum(job[direction]["bytes"] for direction in DIRECTIONS)
    if (out_count, out_bytes) != (len(requests), requests.byte_count):
        raise WorkError(
            f"the replay did {out_count} requests of {out_bytes} bytes; the trace has "
            f"{len(requests)} of {requests.byte_count}"
        )


def _in_detail(report: Report, direction: str) -> dict[str, Any]:
    """What the slowest requests waited for, and every interval; null without requests."""
    measured = report["jobs"][0][direction]
    if not measured["ios"]:
        return {"tails": None, "series": None}
    changing = [key for key in ("write", "trim") if report["jobs"][0][key]["ios"]]
    return {
        "tails": results.tails_record(measured.get("tails")),
        "series": over_time(report, 0, direction, changing == [direction]),
    }


def _direction(measured: dict[str, Any], duration_s: float) -> dict[str, Any]:
    return {
        "ios": measured["ios"],
        "bytes": measured["bytes"],
        "iops": measured["iops"],
        **_rates(measured["bytes"], duration_s, measured["busy_ns"]),
        "latency_us": results.latency_us(measured["latency_ns"]),
        "split_mean_us": results.split_us(measured["split_mean_ns"]),
        "lateness_ms": _lateness_ms(measured["lateness_ns"]),
    }


def _seconds(time_ns: int | None) -> float | None:
    """A busy time; None for a real drive, which doesn't say."""
    return None if time_ns is None else time_ns / NS_PER_S


def _rates(byte_count: int, duration_s: float, busy_ns: int | None) -> dict[str, float | None]:
    """Average rates; None where there was no time to divide by, or nothing to divide."""
    busy_s = _seconds(busy_ns)

    def rate(unit: int, seconds: float | None) -> float | None:
        return byte_count / unit / seconds if byte_count and seconds else None

    return {
        "mb_per_s": rate(MB, duration_s),
        "mib_per_s": rate(MIB, duration_s),
        "busy_s": busy_s,
        "mb_per_busy_s": rate(MB, busy_s),
        "mib_per_busy_s": rate(MIB, busy_s),
    }


def _lateness_ms(lateness_ns: dict[str, Any] | None) -> dict[str, Any] | None:
    """How much later than recorded requests were issued, because the drive's queue was full."""
    if lateness_ns is None:
        return None
    at = {float(key): ns for key, ns in lateness_ns["percentiles"].items()}
    points = {"p50": at.get(50.0), "p99": at.get(99.0)}
    times = {"mean": lateness_ns["mean"], **points, "max": lateness_ns["max"]}
    return {key: None if ns is None else ns / NS_PER_MS for key, ns in times.items()}
