"""A target that does nothing but count: what a plan says before a real drive is written to.

It takes the time of a drive of stated, round speeds, and refuses what the real one would refuse.
Nothing of it is ever a result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from drivelab.errors import RequestError
from drivelab.progress import TaskProgress
from drivelab.quantities import NS_PER_MS, NS_PER_S, NS_PER_US
from drivelab.targets.fio import measurement
from drivelab.targets.target import Report
from drivelab.workload import TRIM, Job, Requests

SPEED_BYTES_PER_S, COMMAND_NS = 400 * 10**6, 100 * NS_PER_US
ROTATING_BYTES_PER_S, ROTATING_COMMAND_NS = 120 * 10**6, 10 * NS_PER_MS
"""Assumed speeds of a drive with flash, and of a hard disk; plans say them."""
DEPTH_MAX = 8
"""Commands that are assumed to be worked on at the same time."""
CALL_NS = NS_PER_S // 2
"""What it takes to start fio, about."""
TRIM_NS = NS_PER_MS


def assumed_speed(rotating: bool) -> tuple[int, int]:
    """Bytes per second and ns per command that a plan counts with."""
    if rotating:
        return ROTATING_BYTES_PER_S, ROTATING_COMMAND_NS
    return SPEED_BYTES_PER_S, COMMAND_NS


def expected_ns(job: Job, capacity_bytes: int, rotating: bool) -> int:
    """How long a job should take: its runtime, or what its bytes take at the assumed speed."""
    return _expected(job, capacity_bytes, rotating)[0]


def requests_ns(job: Job, requests: Requests, rotating: bool) -> int:
    """How long given requests should take."""
    if not len(requests):
        return 0
    speed, command_ns = assumed_speed(rotating)
    moved = requests.op != TRIM
    data_ns = int(requests.sector_count[moved].sum(dtype=np.uint64)) * 512 * NS_PER_S // speed
    work_ns = max(data_ns, len(requests) * command_ns // min(job.queue_depth, DEPTH_MAX))
    pacing = getattr(job.source, "pacing", "closed")
    if pacing == "closed" or requests.arrival_ns is None:
        return work_ns
    if pacing == "capped":
        gaps = np.diff(requests.arrival_ns)
        cap_ns = np.uint64(getattr(job.source, "idle_cap_ns", None) or 0)
        return max(work_ns, int(np.minimum(gaps, cap_ns).sum()))
    return max(work_ns, int(requests.arrival_ns[-1] - requests.arrival_ns[0]))


def _expected(job: Job, capacity_bytes: int, rotating: bool) -> tuple[int, int, int]:
    """Time in ns, requests and bytes of a job at the assumed speed."""
    speed, command_ns = assumed_speed(rotating)
    weights = [size.weight for size in job.block_sizes]
    block = sum(s.bytes * s.weight for s in job.block_sizes) / sum(weights)
    sequential = not job.rw.startswith("rand")
    depth = min(job.queue_depth, DEPTH_MAX)
    each_ns = block * NS_PER_S / speed
    if not (sequential and rotating):
        each_ns = max(each_ns, command_ns / depth)
    if job.rw in ("trim", "randtrim"):
        each_ns = TRIM_NS
    if job.rate_iops:
        each_ns = max(each_ns, NS_PER_S / job.rate_iops)
    if job.rate_bytes_per_s:
        each_ns = max(each_ns, block * NS_PER_S / job.rate_bytes_per_s)
    each_ns += job.thinktime_ns / job.thinktime_blocks
    span = capacity_bytes - job.offset_bytes if job.span_bytes is None else job.span_bytes
    wanted = span * job.loops if job.io_bytes is None else job.io_bytes
    count = max(1, round(wanted / block))
    if job.io_requests is not None:
        count = min(count, job.io_requests)
    if job.runtime_ns:
        most = max(1, int((job.runtime_ns + job.ramp_ns) / each_ns))
        count = most if job.time_based else min(count, most)
    return round(count * each_ns) + job.start_ns, count, round(count * block)


class Rehearsal:
    """A drive of which only the size and the refusals are real."""

    def __init__(
        self,
        capacity_bytes: int,
        queue_depth: int,
        rotating: bool,
        check_jobs: Callable[[Sequence[Job]], None],
        check_requests: Callable[[Job, Requests], None],
        link_bytes_per_s: int | None = None,
    ) -> None:
        self.capacity_bytes = capacity_bytes
        self.queue_depth = queue_depth
        self.now_ns = 0
        self._rotating = rotating
        self._check_jobs = check_jobs
        self._check_requests = check_requests
        self._link_bytes_per_s = link_bytes_per_s
        self._counters: dict[str, float] = dict.fromkeys(
            ("host_read_bytes", "host_write_bytes", "host_trim_bytes"), 0
        )

    @property
    def written_bytes(self) -> int:
        """Bytes that would have been written so far."""
        return int(self._counters["host_write_bytes"])

    def run(
        self,
        jobs: Sequence[Job],
        progress: TaskProgress,
        share: float = 1.0,
        more: Sequence[Mapping[str, str]] = (),
    ) -> Report:
        """Counts what jobs would take; raises RequestError for those that can't be."""
        self._check_jobs(jobs)
        before, start_ns = self.counters(), self.now_ns
        parts = [self._job(job, len(jobs)) for job in jobs]
        self.now_ns += max(part["runtime_ns"] for part in parts) + CALL_NS
        return measurement.run_report(parts, start_ns, self.now_ns, before, self.counters())

    def run_requests(
        self, job: Job, requests: Requests, progress: TaskProgress, share: float = 1.0
    ) -> Report:
        """Counts what given requests would take; raises RequestError if they can't be."""
        self._check_requests(job, requests)
        before, start_ns = self.counters(), self.now_ns
        runtime_ns = requests_ns(job, requests, self._rotating)
        self.now_ns += runtime_ns + CALL_NS
        part = measurement.no_job(job)
        for op, kind in enumerate(("read", "write")):
            mine = requests.op == op
            moved = int(requests.sector_count[mine].sum(dtype=np.uint64)) * 512
            part[kind] = _direction(int(mine.sum()), moved, runtime_ns)
            self._counters[f"host_{kind}_bytes"] += moved
        part["runtime_ns"] = runtime_ns
        return measurement.run_report([part], start_ns, self.now_ns, before, self.counters())

    def idle(self, duration_ns: int) -> None:
        """Counts the time."""
        self.now_ns += duration_ns

    def age(self, duration_ns: int) -> None:
        """Raises RequestError: real flash takes its time."""
        raise RequestError("a real drive can't be made older")

    def parameter(self, key: str) -> float | None:
        """What the link carries, if that is known; nobody knows more."""
        return self._link_bytes_per_s if key == "link.bytes_per_s" else None

    @property
    def erase_method(self) -> str:
        """How `secure_erase` is done, in words."""
        return "none: nothing is there to be erased"

    def secure_erase(self) -> None:
        """Counts a call."""
        self.now_ns += CALL_NS

    def counters(self) -> dict[str, float]:
        """Bytes that would have been moved."""
        return dict(self._counters)

    def _job(self, job: Job, sharing: int) -> dict[str, Any]:
        """One of so many jobs that share the drive."""
        runtime_ns, count, moved = _expected(job, self.capacity_bytes, self._rotating)
        if job.runtime_ns:
            count, moved = max(1, count // sharing), moved // sharing
        else:
            runtime_ns *= sharing
        part = measurement.no_job(job)
        for kind, share in _shares(job).items():
            part[kind] = _direction(round(count * share), round(moved * share), runtime_ns)
            self._counters[f"host_{kind}_bytes"] += round(moved * share)
        part["runtime_ns"] = runtime_ns
        return part


def _shares(job: Job) -> dict[str, float]:
    if job.rw in ("rw", "randrw"):
        return {"read": job.read_percent / 100, "write": 1 - job.read_percent / 100}
    return {job.rw.removeprefix("rand"): 1.0}


def _direction(ios: int, moved: int, runtime_ns: int) -> dict[str, Any]:
    each_ns = runtime_ns // max(ios, 1)
    latency = {
        **dict.fromkeys(("min", "max", "mean"), each_ns),
        "stddev": 0.0,
        "count": ios,
        "percentiles": {f"{percent:.6f}": each_ns for percent in (50.0, 99.0, 99.9, 99.99)},
        "bins": [[each_ns, ios]],
    }
    series = measurement.no_series(moved, ios, runtime_ns, each_ns)
    return measurement.direction_report(ios, moved, runtime_ns, latency if ios else None, series)
