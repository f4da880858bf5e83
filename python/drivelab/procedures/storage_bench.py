"""AnandTech's Storage Bench: what a computer in use did, replayed on a drive.

The traces are synthesised from their published statistics (`drivelab.storage_bench`), always from
the same seed: as in the reviews all drives get the same requests.

1. The image of the computer's files is written, in ascending order; it isn't measured.
2. Requests are replayed with recorded concurrency: those of a burst are issued together, the next
   burst when all of them are done, after the recorded time between the two, cut at 25 ms.
3. Rates are per time in which the drive was busy: idle time counts for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from drivelab.counters import spent_in, write_amplification
from drivelab.data_patterns import parse_data_pattern
from drivelab.procedures.flow import flow
from drivelab.procedures.measured import Chart, Column, Measured, Row, Table, Value
from drivelab.procedures.procedure import Procedure
from drivelab.progress import TaskProgress
from drivelab.quantities import GB, KIB, MB, NS_PER_MS, NS_PER_S, derive_seed
from drivelab.states.image import ImageCopy
from drivelab.states.steps import settle
from drivelab.storage_bench.specification import REVIEW_SEED, Specification, find, title
from drivelab.storage_bench.statistics import burst_starts, statistics
from drivelab.storage_bench.synthesis import synthesise
from drivelab.targets import Report, Target
from drivelab.workload import BlockSize, Job, Recorded, Requests

IDLE_CAP_NS = 25 * NS_PER_MS
"""Longest idle time between bursts. Source: assumed; the reviews left idle time out of the result,
and a cap leaves a drive the short pauses in which it can clean."""
DATA = ImageCopy.data
"""What is written: the trace doesn't say. As the image of the used state."""
IMAGE_WRITE_BYTES = 128 * KIB
QUICK_REQUESTS = 20_000
"""Requests of a quick review, from the trace's beginning."""
BURST_NS = 1
"""Shortest processor time: what keeps a burst from joining the one before it."""

Direction = Literal["read", "write"]
DIRECTIONS: tuple[Direction | None, ...] = ("read", "write", None)

COLUMNS = (
    Column("direction", "Direction"),
    Column("requests", "Requests"),
    Column("gb", "Moved", "GB"),
    Column("busy_s", "Disk-busy time", "s"),
    Column("mb_per_s", "Average data rate", "MB/s"),
    Column("iops", "Requests per busy second", "IOPS"),
    Column("mean_ms", "Mean latency", "ms"),
    Column("p99_ms", "99 % latency", "ms"),
    Column("p99_9_ms", "99.9 % latency", "ms"),
    Column("max_ms", "Longest latency", "ms"),
)


@dataclass(frozen=True, kw_only=True)
class StorageBench(Procedure):
    """One trace, replayed on a drive that holds the image it was recorded on."""

    has_fixed_length = True

    trace_name: str

    @property
    def trace(self) -> Specification:
        """What the trace is made from."""
        return find(self.trace_name)

    def fits(self, capacity_bytes: int) -> bool:
        """Whether the drive has room for the image."""
        return capacity_bytes >= self.trace.image_bytes

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes: the image and the requests."""
        requests = QUICK_REQUESTS if quick else self.trace.request_count
        return self.trace.image_bytes / 40e9 + requests / 200e3

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Writes the image and replays the trace."""
        trace = self.trace
        requests = recorded(synthesise(trace, REVIEW_SEED))
        of_trace = statistics(requests)
        if quick:
            requests = _first(requests, QUICK_REQUESTS)
        share = len(requests) / 200e3 / self.cost_on(target.capacity_bytes, quick)
        target.run([self._image(seed)], progress, 1 - share)
        settle(target, progress)
        report = target.run_requests(self._replay(seed), requests, progress, share)
        notes = [_CONCURRENCY_NOTE]
        if quick:
            notes.append(f"Quick: only the first {len(requests)} requests were replayed.")
        more = {"trace": of_trace.as_dict()}
        found = _found(report)
        return replace(found, span_bytes=trace.image_bytes, more=more, notes=tuple(notes))

    def _image(self, seed: int) -> Job:
        """One sequential pass over the region of the trace."""
        return Job(
            name=f"{self.id}-image",
            rw="write",
            block_sizes=(BlockSize(bytes=IMAGE_WRITE_BYTES),),
            span_bytes=self.trace.image_bytes - self.trace.image_bytes % IMAGE_WRITE_BYTES,
            data=parse_data_pattern(DATA),
            seed=derive_seed(seed, "image"),
        )

    def _replay(self, seed: int) -> Job:
        return Job(
            name=self.id,
            source=Recorded(pacing="think"),
            queue_depth=self.trace.habits.max_depth,
            data=parse_data_pattern(DATA),
            seed=derive_seed(seed, "replay"),
        )

    @property
    def span_text(self) -> str:
        """Part of the drive that it uses."""
        return f"{self.trace.image_bytes // GB} GB"

    @property
    def time_text(self) -> str:
        """How long it takes: as long as the drive does."""
        return f"{self.trace.request_count} requests"

    @property
    def data_text(self) -> str:
        """What is written."""
        return f"{DATA}, image written first"


_WA_TITLE = "Write amplification of the replay alone"
_CONCURRENCY_NOTE = (
    "Requests recorded together are issued together, and the next when all of them are done; idle "
    f"times are cut at {IDLE_CAP_NS // NS_PER_MS} ms and don't count: rates are per second in "
    "which the drive was busy with such requests."
)


def recorded(requests: Requests) -> Requests:
    """A trace with processor time for pacing `think`: the times between its bursts, capped."""
    assert requests.arrival_ns is not None
    gaps = np.diff(requests.arrival_ns, prepend=requests.arrival_ns[:1])
    think_ns = np.clip(gaps, BURST_NS, IDLE_CAP_NS).astype(np.uint64)
    think_ns[~burst_starts(requests.arrival_ns)] = 0
    return replace(requests, think_ns=think_ns, background=np.zeros(len(requests), dtype=np.uint8))


def _first(requests: Requests, count: int) -> Requests:
    def part(column: Any) -> Any:
        return None if column is None else column[:count]

    return Requests(
        requests.op[:count],
        requests.lba[:count],
        requests.sector_count[:count],
        part(requests.arrival_ns),
        part(requests.think_ns),
        part(requests.background),
    )


def _found(report: Report) -> Measured:
    """Headline values, the table by direction, and its charts."""
    rows = [_row(report, direction) for direction in DIRECTIONS]
    read, write, both = rows
    rate, busy = "Average data rate", "Disk-busy time"
    amplification = write_amplification(spent_in(report))
    return Measured(
        values=(
            _value("mb_per_s", rate, both["mb_per_s"], "MB/s", "higher"),
            _value("read_mb_per_s", f"{rate}, reads", read["mb_per_s"], "MB/s", "higher"),
            _value("write_mb_per_s", f"{rate}, writes", write["mb_per_s"], "MB/s", "higher"),
            _value("iops", "Requests per busy second", both["iops"], "IOPS", "higher"),
            _value("busy_s", busy, both["busy_s"], "s", "lower"),
            _value("read_busy_s", f"{busy}, reads", read["busy_s"], "s", "lower"),
            _value("write_busy_s", f"{busy}, writes", write["busy_s"], "s", "lower"),
            _value("replay_write_amplification", _WA_TITLE, amplification, "", "lower"),
        ),
        tables=(Table("directions", "Replay by direction", COLUMNS, tuple(rows)),),
        charts=(
            Chart("directions", "Average data rate", "bars", "direction", "mb_per_s"),
            Chart("directions", "Disk-busy time", "bars", "direction", "busy_s"),
        ),
    )


def _value(
    name: str, title: str, value: Any, unit: str, better: Literal["higher", "lower"]
) -> Value:
    return Value(name, title, None if value is None else float(value), unit, better)


def _row(report: Report, direction: Direction | None) -> Row:
    """One direction's numbers, or both together; rates per busy second."""
    [job] = report["jobs"]
    measured = flow(report, direction)
    busy_s = (job[direction] if direction else job)["busy_ns"] / NS_PER_S
    moved, ios = measured["bytes"] or 0, measured["ios"] or 0
    return {
        "direction": direction or "all",
        "requests": ios,
        "gb": moved / GB,
        "busy_s": busy_s,
        "mb_per_s": moved / MB / busy_s if busy_s else None,
        "iops": ios / busy_s if busy_s else None,
        **{key: measured[key] for key in ("mean_ms", "p99_ms", "p99_9_ms", "max_ms")},
    }


def _procedure(name: str, states: tuple[str, ...] = ("new", "used")) -> StorageBench:
    return StorageBench(
        id=f"storage-bench-{name}",
        title=title(name),
        group="storage bench",
        states=states,
        trace_name=name,
    )


PROCEDURES = (
    _procedure("2010-light"),
    _procedure("2010-heavy"),
    _procedure("2010-gaming"),
    _procedure("2011-heavy"),
    _procedure("2011-light"),
)
