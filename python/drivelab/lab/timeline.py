"""What dies, channels and requests did when: tables, and a trace for ui.perfetto.dev."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from drivelab import output, results
from drivelab.errors import RequestError
from drivelab.lab import checks
from drivelab.lab.requests import words
from drivelab.targets.going import FOR_EVER_NS, EngineRun

OPERATIONS_MAX = 250_000
"""Operations of dies that a timeline holds, of each member of an array; with their transfers and
requests some 100 MB of JSON."""
HEAD = '{"displayTimeUnit": "ns", "traceEvents": ['
"""How a file begins that a run wrote."""
WORKS = ("read", "program", "erase")
"""What dies do, each at its number in the engine."""


@dataclass(frozen=True)
class Window:
    """A part of a run, in ns from when all its jobs measure."""

    from_ns: int = 0
    until_ns: int | None = None

    @classmethod
    def of(cls, key: str, text: str) -> Window:
        """The window of a text: "2s" is the first two seconds, "60s:62s" later ones.

        Raises RequestError naming `key`.
        """
        first, colon, last = text.partition(":")
        begin, end = (first, last) if colon else ("0", first)
        from_ns, until_ns = checks.time_ns(key, begin), checks.time_ns(key, end)
        if from_ns >= until_ns:
            raise RequestError(f"{key} = {text!r}: allowed: FROM:TO, one before the other, or TO")
        return cls(from_ns, until_ns)


class Recording:
    """A timeline in the making, of a run that has not begun to work."""

    def __init__(self, run: EngineRun, window: Window) -> None:
        self._run = run
        begin_ns = run.measures_from_ns[1]
        self._from_ns = begin_ns + window.from_ns
        end_ns = window.until_ns
        self._until_ns = FOR_EVER_NS if end_ns is None else begin_ns + end_ns
        run.target.record_timeline(self._from_ns, self._until_ns, OPERATIONS_MAX)

    def timeline(self, requests: pl.DataFrame, start_ns: int) -> Timeline:
        """What was recorded; `requests` are those of the run, whose times count from `start_ns`."""
        columns, left_out = self._run.target.take_timeline()
        operations = _operations(columns, start_ns)
        from_ns, until_ns = self._from_ns - start_ns, self._until_ns - start_ns
        if left_out:
            # What is shown of requests ends with what is shown of dies.
            until_ns = min(until_ns, int(operations["begin_ns"].max() or 0))  # type: ignore[arg-type]
        own = requests.filter((pl.col("completed_ns") > from_ns) & (pl.col("issued_ns") < until_ns))
        return Timeline(operations, own, left_out)


@dataclass(frozen=True)
class Timeline:
    """A part of a run in time, all in ns after the start of the run."""

    operations: pl.DataFrame
    """What dies did: `member` (of an array; 0 otherwise), `die`, `channel`, `work` (read, program,
    erase), `is_cleaning`, `begin_ns` to `end_ns` (the die is busy) and `bus_begin_ns` to
    `bus_end_ns` (its channel is), which are equal for an erase."""
    requests: pl.DataFrame
    """Requests that were under way meanwhile, as in a result's `requests`."""
    left_out: int
    """Operations for which there was no room: those after the last."""

    @property
    def notes(self) -> list[str]:
        """What must be known to read it."""
        shown = self.operations.height
        if not shown:
            return ["timeline: no operation of a die began in its window"]
        if not self.left_out:
            return []
        return [
            f"timeline: the first {shown} of {shown + self.left_out} operations of dies; a window "
            "chooses others"
        ]

    def write(self, path: str | Path) -> Path:
        """Writes a trace in Chrome's JSON: drag it to ui.perfetto.dev, or open it in
        chrome://tracing. Raises RequestError for another ending than .json, where nothing can
        be written, and where another file is."""
        place = output.writable_file(Path(path), "write()", ".json")
        output.check_replaceable(place, "write()", HEAD.encode())
        output.publish_files({place: self.write_to})
        return place

    def write_to(self, path: Path) -> None:
        """The same, into a file that nobody looks at yet."""
        operations = self.operations.with_columns(lane=_lanes(self.operations))
        lines = [
            *_names(operations),
            *_dies(operations),
            *_channels(self.operations),
            *_requests(self.requests),
        ]
        with path.open("w", encoding="utf-8") as file:
            file.write(HEAD + "\n")
            file.write(",\n".join(lines))
            file.write("\n]}\n")


def _operations(columns: Mapping[str, Any], start_ns: int) -> pl.DataFrame:
    """The engine's columns, of each die in order of time."""
    times = ("begin_ns", "bus_begin_ns", "bus_end_ns", "end_ns")
    return pl.DataFrame(
        {
            **{name: columns[name] for name in ("member", "die", "channel")},
            "work": words(columns["work"], WORKS),
            "is_cleaning": columns["cleaning"] != 0,
            **{name: columns[name].astype("int64") - start_ns for name in times},
        }
    )


REQUESTS, DIES, CHANNELS = 1, 2, 3
"""Processes of the trace; their threads are one die or one channel each."""
_MEMBER = 1000
"""Threads of an array's members are so far apart."""
_LANE = 1_000_000
"""And the lanes of a die."""


def _thread(column: str) -> pl.Expr:
    return pl.col("member") * _MEMBER + pl.col(column) + 1


def _lanes(operations: pl.DataFrame) -> pl.Series:
    """The track of its die that each operation is drawn on, counted from 0: slices of one track may
    hold others, but not overlap them in part. What a die does at the same time on another plane is
    on the next track."""
    dies: dict[tuple[int, int], list[list[int]]] = {}
    lanes = []
    columns = ("member", "die", "work", "begin_ns", "end_ns")
    for member, die, work, begin, end in operations.select(columns).iter_rows():
        tracks = dies.setdefault((member, die), [])
        free = (lane for lane, ends in enumerate(tracks) if _has_room(ends, begin, end))
        lane = next(free, len(tracks))
        if lane == len(tracks):
            tracks.append([])
        # Nothing goes into a read.
        tracks[lane].append(-end if work == "read" else end)
        lanes.append(lane)
    return pl.Series(lanes, dtype=pl.Int64)


def _has_room(ends: list[int], begin: int, end: int) -> bool:
    """Whether a slice may go onto a track. `ends` are those of what is under way there, what was
    begun last at the end; of what holds nothing, below 0. A program or an erase holds the reads
    that it was suspended for. What has ended by `begin` is taken off."""
    while ends and abs(ends[-1]) <= begin:
        ends.pop()
    return not ends or end <= ends[-1]


def _microseconds(column: pl.Expr) -> pl.Expr:
    """A time as the format wants it, exact to the ns."""
    rest = (column % 1000).cast(pl.String).str.zfill(3)
    return (column // 1000).cast(pl.String) + "." + rest


def _names(operations: pl.DataFrame) -> list[str]:
    """What the tracks are called."""
    found = [
        f'{{"ph": "M", "pid": {process}, "name": "process_name", "args": {{"name": "{name}"}}}}'
        for process, name in ((REQUESTS, "Requests"), (DIES, "Dies"), (CHANNELS, "Channels"))
    ]
    arrays = operations["member"].n_unique() > 1
    dies = operations.select("member", "channel", "die", "lane").unique()
    for member, channel, die, lane in dies.sort("member", "die", "lane").iter_rows():
        drive = f"drive {member}, " if arrays else ""
        beside = f", another plane{f' {lane}' if lane > 1 else ''}" if lane else ""
        thread = member * _MEMBER + die + 1
        name = f"{drive}die {die} (channel {channel}){beside}"
        found.append(_track(DIES, thread + lane * _LANE, name, thread))
    channels = dies.select("member", "channel").unique().sort("member", "channel")
    for member, channel in channels.iter_rows():
        drive = f"drive {member}, " if arrays else ""
        thread = member * _MEMBER + channel + 1
        found.append(_track(CHANNELS, thread, f"{drive}channel {channel}", thread))
    return found


def _track(process: int, thread: int, name: str, place: int) -> str:
    return (
        f'{{"ph": "M", "pid": {process}, "tid": {thread}, "name": "thread_name", '
        f'"args": {{"name": "{name}"}}}},\n'
        f'{{"ph": "M", "pid": {process}, "tid": {thread}, "name": "thread_sort_index", '
        f'"args": {{"sort_index": {place}}}}}'
    )


def _slices(
    rows: pl.DataFrame, process: int, thread: pl.Expr, name: pl.Expr, begin: str, end: str
) -> Sequence[str]:
    """A slice for each row."""
    category = pl.when(pl.col("is_cleaning")).then(pl.lit("cleaning")).otherwise(pl.lit("host"))
    line = pl.format(
        '{{"ph": "X", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "name": "{}", "cat": "{}"}}',
        pl.lit(process),
        thread,
        _microseconds(pl.col(begin)),
        _microseconds(pl.col(end) - pl.col(begin)),
        name,
        category,
    )
    return rows.select(line).to_series().to_list()


def _dies(operations: pl.DataFrame) -> Sequence[str]:
    thread = _thread("die") + pl.col("lane") * _LANE
    name = pl.col("work").cast(pl.String) + _purpose()
    return _slices(operations, DIES, thread, name, "begin_ns", "end_ns")


def _channels(operations: pl.DataFrame) -> Sequence[str]:
    moved = operations.filter(pl.col("bus_end_ns") > pl.col("bus_begin_ns"))
    name = pl.col("work").cast(pl.String) + pl.format(" of die {}", pl.col("die")) + _purpose()
    return _slices(moved, CHANNELS, _thread("channel"), name, "bus_begin_ns", "bus_end_ns")


def _purpose() -> pl.Expr:
    return pl.when(pl.col("is_cleaning")).then(pl.lit(" (cleaning)")).otherwise(pl.lit(""))


def _requests(requests: pl.DataFrame) -> Sequence[str]:
    """Two events for each request, as those of one job overlap; its latency's parts beside it."""
    escaped = {name: json.dumps(name) for name in requests["job"].unique().cast(pl.String)}
    job = pl.col("job").cast(pl.String).replace_strict(escaped, return_dtype=pl.String)
    name = pl.col("op").cast(pl.String)
    parts = [f"{part}_ns" for part in results.SPLIT_PARTS]
    sizes = ["offset_bytes", "length_bytes", "latency_ns", *parts]
    more = ", ".join(f'"{column}": {{}}' for column in sizes)
    head = '"pid": {}, "tid": {}, "id": {}, "cat": {}, "name": "{}", "ts": {}'
    known = [pl.lit(REQUESTS), pl.lit(1), pl.int_range(pl.len()), job, name]
    line = pl.format(
        f'{{{{"ph": "b", {head}, "args": {{{{{more}}}}}}}}},\n{{{{"ph": "e", {head}}}}}',
        *known,
        _microseconds(pl.col("issued_ns")),
        *sizes,
        *known,
        _microseconds(pl.col("completed_ns")),
    )
    return requests.select(line).to_series().to_list()
