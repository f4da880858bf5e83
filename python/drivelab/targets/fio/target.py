"""A target that fio writes to and reads from, in real time."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from drivelab.counters import UNMAPPED
from drivelab.errors import RequestError, WorkError
from drivelab.iolog import write_iolog
from drivelab.progress import TaskProgress
from drivelab.quantities import NS_PER_MS, NS_PER_S, SECTOR_BYTES
from drivelab.targets import trims
from drivelab.targets.fio import measurement
from drivelab.targets.fio.options import data_options, job_options, log_options, measuring_options
from drivelab.targets.fio.place import Place
from drivelab.targets.fio.program import FioProgram, Run
from drivelab.targets.fio.rehearsal import expected_ns, requests_ns
from drivelab.targets.target import Report
from drivelab.workload import FLUSH, READ, TRIM, WRITE, Job, Recorded, Requests

QUEUE_DEPTH = 32
"""Commands at once: what SATA drives take."""
LANES = min(QUEUE_DEPTH, 4 * (os.cpu_count() or 1))
"""Threads that replay recorded arrivals: each spins before a request is due, so that more of them
than the processors bear would time one another."""
_SLEEP_S = 0.2

Sections = Sequence[tuple[Job, Mapping[str, str]]]
"""Jobs with their options, in fio's order."""


class FioTarget:
    """A file, a block device or an NBD export, in real time; `Lineage` makes copies of it."""

    def __init__(self, place: Place, program: FioProgram, progress: TaskProgress) -> None:
        """`progress` is the task whose cancellation ends waiting."""
        self._place = place
        self._program = program
        self._progress = progress
        self._start_ns = time.monotonic_ns()
        kinds = ("read", "write", "trim")
        self._counters: dict[str, float] = dict.fromkeys(
            [f"host_{kind}_{what}" for kind in kinds for what in ("bytes", "commands")]
            + ["host_flush_commands"],
            0,
        )

    @property
    def capacity_bytes(self) -> int:
        """Bytes that the host can address."""
        return self._place.capacity_bytes

    @property
    def queue_depth(self) -> int:
        """Commands at once."""
        return QUEUE_DEPTH

    @property
    def now_ns(self) -> int:
        """Time since the target was opened."""
        return time.monotonic_ns() - self._start_ns

    def run(
        self,
        jobs: Sequence[Job],
        progress: TaskProgress,
        share: float = 1.0,
        more: Sequence[Mapping[str, str]] = (),
    ) -> Report:
        """Runs jobs that start together; raises RequestError for a job that fio can't do.

        `more` are options of each of them that fio carries out; what comes of them is in the
        report of such a job as `fio`: `logs` by kind as fio wrote them, and `steadystate`.
        """
        check_jobs(self._place, jobs)
        given = list(more) or [{}] * len(jobs)
        sections = [
            (
                job,
                job_options(job, self.capacity_bytes, self._place.sector_bytes)
                | log_options(job, _log_name(index), bool(own))
                | self._place.options(job.rw)
                | dict(own),
            )
            for index, (job, own) in enumerate(zip(jobs, given, strict=True))
        ]
        expected = max(expected_ns(job, self.capacity_bytes, self._place.rotating) for job in jobs)
        with _scratch() as folder:
            before, start_ns = self._before(), self.now_ns
            found = self._run(sections, folder, expected, progress, share)
            parts = []
            for index, (job, part, own) in enumerate(zip(jobs, found, given, strict=True)):
                logs = measurement.log_texts(folder, _log_name(index))
                report = measurement.job_report(job, part, measurement.read_logs(logs, own))
                if own:
                    report["fio"] = {"logs": logs, "steadystate": part.get("steadystate")}
                parts.append(report)
            return self._report(parts, start_ns, before)

    def run_requests(
        self, job: Job, requests: Requests, progress: TaskProgress, share: float = 1.0
    ) -> Report:
        """Runs given requests, closed or at their times; raises RequestError for what can't be.

        At recorded times every one of `LANES` replays its share, one request at a time: fio
        looks for completions only when it submits, so a deeper lane would time its own sleep.
        """
        check_requests(self._place, job, requests)
        before, start_ns = self._before(), self.now_ns
        if np.all(requests.op == FLUSH) and self._place.flush():
            return self._report([self._flushed(job, len(requests))], start_ns, before)
        lanes = _lanes(job, requests)
        options = {
            "iodepth": str(job.queue_depth if len(lanes) == 1 else 1),
            "replay_no_stall": "1" if job.source.pacing == "closed" else "0",  # type: ignore[union-attr]
            **measuring_options(job),
            **data_options(job.model_copy(update={"rw": "write"})),
            **self._place.options("rw"),
        }
        if self._place.linked():
            options["replay_redirect"] = "drive"
        with _scratch() as folder:
            sections = []
            for index, lane in enumerate(lanes):
                write_iolog(folder / f"lane{index}.iolog", _never_only_flushes(lane))
                sections.append((job, options | {"read_iolog": f"lane{index}.iolog"}))
            expected = requests_ns(job, requests, self._place.rotating)
            found = self._run(sections, folder, expected, progress, share)
        for lane, entry in zip(lanes, found, strict=True):
            _complete(entry, lane, lanes[0])
        part = measurement.job_report(job, measurement.merged(found, job.percentiles), {})
        return self._report([part], start_ns, before)

    def idle(self, duration_ns: int) -> None:
        """Sleeps; raises WorkError when the task is cancelled."""
        end_ns = self.now_ns + duration_ns
        while (left_ns := end_ns - self.now_ns) > 0:
            self._check_stopped()
            time.sleep(min(_SLEEP_S, left_ns / NS_PER_S))

    def age(self, duration_ns: int) -> None:
        """Raises RequestError: real flash takes its time."""
        raise RequestError("a real drive can't be made older")

    def parameter(self, key: str) -> float | None:
        """What the link carries, if that is known; nobody knows more."""
        return self._place.link_bytes_per_s if key == "link.bytes_per_s" else None

    @property
    def erase_method(self) -> str:
        """How `secure_erase` is done, in words."""
        return self._place.erase_method

    def secure_erase(self) -> None:
        """Brings the new state about, as far as the place can."""
        self._check_stopped()
        if self._place.erase(lambda: self._progress.cancelled):
            return
        # A part of its own: the bar's shares are those of the state.
        part = TaskProgress("erase")
        self._progress.follow(part, 0.0)
        before = self.counters()
        for job in trims.of_everything("erase", self.capacity_bytes):
            self.run([job], part)
        self._counters = before

    def counters(self) -> dict[str, float]:
        """What the host asked for since the target was opened; drives tell nothing more."""
        return dict(self._counters)

    def _check_stopped(self) -> None:
        if self._progress.cancelled:
            raise WorkError("stopped")

    def _run(
        self, sections: Sections, folder: Path, expected: int, progress: TaskProgress, share: float
    ) -> list[dict[str, Any]]:
        """fio's entries, one a section."""
        if (path := self._place.linked()) is not None:
            # fio cuts names at colons; the link has none.
            (folder / "drive").symlink_to(path)
        run = Run(expected / NS_PER_S)
        with progress.stage(share, run):
            document = self._program.run(_job_file(sections), folder, run)
        entries: list[dict[str, Any]] = document["jobs"]
        if len(entries) != len(sections):
            raise WorkError(f"fio reported {len(entries)} jobs of {len(sections)}")
        return entries

    def _before(self) -> Report:
        """Counters at the start of a run: where nothing is stored, of reads of nothing, too."""
        return self.counters() | ({UNMAPPED: 0} if self._place.is_empty() else {})

    def _report(self, parts: Sequence[dict[str, Any]], start_ns: int, before: Report) -> Report:
        for part in parts:
            for kind in measurement.DIRECTIONS:
                self._counters[f"host_{kind}_bytes"] += part[kind]["bytes"]
                self._counters[f"host_{kind}_commands"] += part[kind]["ios"]
            self._counters["host_flush_commands"] += part["flush"]["count"]
        after: Report = self.counters()
        if before.pop(UNMAPPED, None) is not None and self._place.is_empty():
            before[UNMAPPED] = 0
            after[UNMAPPED] = sum(part["read"]["bytes"] for part in parts)
        return measurement.run_report(parts, start_ns, self.now_ns, before, after)

    def _flushed(self, job: Job, count: int) -> dict[str, Any]:
        nothing = measurement.no_job(job)
        return nothing | {"flush": {"count": count, "busy_ns": None, "latency_ns": None}}


def check_jobs(place: Place, jobs: Sequence[Job]) -> None:
    """Raises RequestError naming job and option for what fio or the place can't do."""
    for job in jobs:
        if job.source.kind != "generated":
            raise RequestError(f'job "{job.name}": source "{job.source.kind}" needs its requests')
        if job.rw in ("trim", "randtrim"):
            _check_trims(place, job)
        if job.fua and "uri" in place.options(job.rw):
            raise RequestError(f'job "{job.name}": fua: fio has none for NBD')
        job_options(job, place.capacity_bytes, place.sector_bytes)


def check_requests(place: Place, job: Job, requests: Requests) -> None:
    """Raises RequestError naming what fio or the place can't replay."""
    pacing = getattr(job.source, "pacing", None)
    if pacing not in ("closed", "arrival", "capped"):
        raise RequestError(f'job "{job.name}": pacing "{pacing}": fio has none of this kind')
    if np.any(requests.op == TRIM):
        raise RequestError(
            f'job "{job.name}": fio leaves trims out when it replays requests; allowed: reads, '
            "writes and flushes"
        )
    sectors = max(1, place.sector_bytes // 512)
    odd = (requests.lba % sectors != 0) | (requests.sector_count % sectors != 0)
    moving = (requests.op == READ) | (requests.op == WRITE)
    if np.any(odd & moving):
        raise RequestError(
            f'job "{job.name}": this drive takes multiples of {place.sector_bytes} bytes only'
        )
    data_options(job.model_copy(update={"rw": "write"}))


def _check_trims(place: Place, job: Job) -> None:
    if place.trim_refusal is not None:
        raise RequestError(f'job "{job.name}": rw={job.rw}: {place.trim_refusal}')


def _log_name(index: int) -> str:
    return f"log{index}"


def _lanes(job: Job, requests: Requests) -> list[Requests]:
    """Requests as they are, or dealt out to lanes if they come at their own times."""
    source = job.source
    assert isinstance(source, Recorded)
    if source.pacing == "closed" or requests.arrival_ns is None:
        return [requests]
    arrival_ns = requests.arrival_ns
    if source.pacing == "capped" and source.idle_cap_ns is not None:
        gaps = np.diff(arrival_ns, prepend=arrival_ns[:1])
        arrival_ns = np.cumsum(np.minimum(gaps, np.uint64(source.idle_cap_ns)), dtype=np.uint64)
    count = min(LANES, len(requests))
    return [
        Requests(
            requests.op[first::count],
            requests.lba[first::count],
            requests.sector_count[first::count],
            arrival_ns[first::count],
        )
        for first in range(count)
    ]


def _complete(entry: dict[str, Any], lane: Requests, first: Requests) -> None:
    """Puts right what fio leaves out: the bytes of the requests that ended last, if all of a kind
    were done, and the wait before a lane's first request; and the read that nobody asked for."""
    if np.all(lane.op == FLUSH):
        entry["read"] = {"total_ios": 0, "io_bytes": 0, "runtime": 0, "lat_ns": {"N": 0}}
    for op, kind in ((READ, "read"), (WRITE, "write")):
        mine = lane.op == op
        if entry[kind]["total_ios"] == int(mine.sum()):
            sectors = int(lane.sector_count[mine].sum(dtype=np.uint64))
            entry[kind]["io_bytes"] = sectors * SECTOR_BYTES
    if lane.arrival_ns is not None and first.arrival_ns is not None:
        waited_ns = int(lane.arrival_ns[0]) - int(first.arrival_ns[0])
        entry["job_runtime"] += waited_ns // NS_PER_MS


def _never_only_flushes(requests: Requests) -> Requests:
    """fio refuses a log that moves nothing: such a one begins with a read of one sector."""
    if not np.all(requests.op == FLUSH):
        return requests
    arrival_ns = requests.arrival_ns
    return Requests(
        np.insert(requests.op, 0, READ),
        np.insert(requests.lba, 0, 0),
        np.insert(requests.sector_count, 0, 8),
        None if arrival_ns is None else np.insert(arrival_ns, 0, arrival_ns[0]),
    )


def _job_file(sections: Sections) -> str:
    """A job file; threads, so that all of fio is one process."""
    lines = ["[global]", "thread=1", "group_reporting=0"]
    for index, (_, options) in enumerate(sections):
        lines += [f"[job{index}]", *(f"{key}={value}" for key, value in options.items())]
    return "\n".join(lines) + "\n"


@contextmanager
def _scratch() -> Iterator[Path]:
    with TemporaryDirectory(prefix="drivelab-fio-") as name:
        yield Path(name)
