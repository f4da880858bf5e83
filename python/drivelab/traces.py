"""Recorded traces: files of all formats as requests that fit a drive."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab import _engine
from drivelab.errors import RequestError
from drivelab.progress import TaskProgress
from drivelab.quantities import NS_PER_S, NS_PER_US, SECTOR_BYTES
from drivelab.targets import engine_errors
from drivelab.workload import FLUSH, READ, TRIM, WRITE, Requests

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FORMATS = tuple(_engine.trace_formats())
TIME_UNITS = ("ps", "ns", "us", "ms", "s")
ARRIVAL_EVENTS = ("Q", "D")
BEYOND = ("reject", "modulo", "compact")
BEYOND_OPTION = "--out-of-range"
DIRECTIONS = {"read": READ, "write": WRITE, "trim": TRIM}
_UNKNOWN_NS = 2**64 - 1
_HEAD_AS = {"timestamp": "fio", "action": "version"}
"""What the first line of an iolog looks like in the middle of one, by version."""
_COLUMN = re.compile(r"(lba|sector_count)\[(\d+)\]")
"""How the engine names a request that doesn't fit a drive."""
_OPTIONS = {"time_unit": "--time-unit", "arrival_event": "--arrival-event", "device": "--device"}


@dataclass(frozen=True)
class TraceFile:
    """A file, and what has to be known to read it.

    `format_name` is guessed if None. `time_unit` is that of MQSim's arrival times (None: ns),
    `arrival_event` blkparse's event that counts as arrival (None: Q). `device` chooses one of
    several.
    """

    path: Path
    format_name: str | None = None
    time_unit: str | None = None
    arrival_event: str | None = None
    device: str | None = None


@dataclass(frozen=True)
class Trace:
    """Requests in order of arrival, rebased to the first.

    `response_ns` is what the recorded drive took, None if the trace doesn't tell. `dropped_count`
    requests were left out, `reordered_count` stood after a later one in the file.
    """

    name: str
    format: str
    devices: tuple[str, ...]
    requests: Requests
    response_ns: NDArray[np.uint64] | None = None
    reordered_count: int = 0
    dropped_count: int = 0

    @property
    def memory_bytes(self) -> int:
        """What the columns take."""
        columns = [*vars(self.requests).values(), self.response_ns]
        return sum(column.nbytes for column in columns if column is not None)

    @property
    def end_bytes(self) -> int:
        """First byte behind everything that it touches: the smallest drive that it fits."""
        requests = self.requests
        return int((requests.lba + requests.sector_count).max(initial=0)) * SECTOR_BYTES

    def record(self) -> dict[str, Any]:
        """The trace in the documents of commands: counts, bytes, seconds, recorded latencies."""
        requests = self.requests
        assert requests.arrival_ns is not None
        return {
            "file": self.name,
            "format": self.format,
            "devices": list(self.devices),
            "requests": len(requests),
            "bytes": requests.byte_count,
            "duration_s": int(requests.arrival_ns[-1]) / NS_PER_S,
            **{name: self._direction(code) for name, code in DIRECTIONS.items()},
            "flush": {"ios": int((requests.op == FLUSH).sum())},
            "reordered": self.reordered_count,
            "dropped": self.dropped_count,
        }

    def _direction(self, code: int) -> dict[str, Any]:
        chosen = self.requests.op == code
        sectors = self.requests.sector_count[chosen].sum(dtype="uint64")
        return {
            "ios": int(chosen.sum()),
            "bytes": int(sectors) * SECTOR_BYTES,
            "recorded_latency_us": self._recorded_latency_us(chosen),
        }

    def _recorded_latency_us(self, chosen: NDArray[np.bool_]) -> dict[str, Any] | None:
        """Of those requests whose response time was recorded."""
        if self.response_ns is None:
            return None
        times = self.response_ns[chosen & (self.response_ns != _UNKNOWN_NS)].astype("float64")
        if not len(times):
            return None
        import numpy as np

        times /= NS_PER_US
        return {
            "count": len(times),
            "mean": float(times.mean()),
            "p50": float(np.percentile(times, 50)),
            "p99": float(np.percentile(times, 99)),
            "max": float(times.max()),
        }


def read_trace(
    file: TraceFile,
    progress: TaskProgress,
    capacity_bytes: int | None = None,
    beyond: str = "reject",
    option: str = BEYOND_OPTION,
) -> Trace:
    """Reads a trace, plain or compressed by gzip, and makes it fit a drive of `capacity_bytes`.

    `beyond` says what becomes of requests beyond it: reject, modulo (wrap) or compact (renumber),
    an `option` of whoever asks; without a capacity nothing is beyond it. Raises RequestError naming
    file, line and value, or the request, and WorkError if it was stopped.
    """
    return next(read_for_drives(file, progress, [capacity_bytes], beyond, option))


def read_for_drives(
    file: TraceFile,
    progress: TaskProgress,
    capacities_bytes: Iterable[int | None],
    beyond: str = "reject",
    option: str = BEYOND_OPTION,
) -> Iterator[Trace]:
    """As `read_trace`, for several drives, one after the other: the file is read once."""
    engine_progress = _engine.Progress()
    with (
        _in_words_of_options(file.path, option),
        engine_errors(),
        progress.stage(1.0, engine_progress),
    ):
        read = _engine.read_trace(
            file.path,
            file.format_name,
            file.time_unit,
            file.arrival_event,
            file.device,
            engine_progress,
        )
    for capacity_bytes in capacities_bytes:
        with _in_words_of_options(file.path, option), engine_errors():
            found = read if capacity_bytes is None else read.fit(capacity_bytes, beyond)
        response_ns = found.response_ns
        yield Trace(
            name=file.path.name,
            format=found.format,
            devices=tuple(found.device_names),
            requests=Requests(found.op, found.lba, found.sector_count, found.arrival_ns),
            response_ns=None if (response_ns == _UNKNOWN_NS).all() else response_ns,
            reordered_count=found.reordered_count,
            dropped_count=found.dropped_count,
        )


@contextlib.contextmanager
def _in_words_of_options(path: Path, option: str) -> Iterator[None]:
    """What the engine refuses, as whoever gave options to a command knows them."""
    try:
        yield
    except RequestError as error:
        raise RequestError(_reworded(str(error), path, option)) from None


def _reworded(message: str, path: Path, option: str) -> str:
    key, equals, rest = message.partition(" = ")
    if equals and key in _OPTIONS:
        return f"{_OPTIONS[key]} {rest}"
    line, _, field = key.rpartition(": ")
    if field in _HEAD_AS and rest.startswith(f"'{_HEAD_AS[field]}'"):
        return (
            f"{line}: another iolog begins here, as where several jobs of fio had one write_iolog; "
            "give each job its own"
        )
    column = _COLUMN.fullmatch(key)
    if column is not None:
        name, index = column.groups()
        message = f"{path}, request {int(index) + 1} in order of arrival: {name} = {rest}"
    return f"{message} ({option})" if "modulo" in message else message
