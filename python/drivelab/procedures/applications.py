"""What programs get out of a drive: PCMark Vantage's disk suite, SYSMark 2007, hours at a desk.

The programs' requests are in `applications/`; here they are played, and counted as the programs
count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.applications import desktop, pcmark
from drivelab.applications.scenario import (
    DATA,
    PROGRAM_SEED,
    Place,
    install,
    phase_requests,
    place_on,
    play,
    waited_s,
)
from drivelab.procedures.flow import COLUMNS, flow
from drivelab.procedures.measured import Chart, Column, Measured, Table, Value
from drivelab.procedures.procedure import Procedure
from drivelab.progress import TaskProgress
from drivelab.quantities import MB, MIB, NS_PER_MS, derive_seed
from drivelab.targets import Report, Target


def assumed_note(page: str) -> str:
    """What a reader must know; `page` of docs/tests/ has the assumptions."""
    return f"the requests of the programs are assumed: docs/tests/{page}"


def room_note(place: Place, wanted_bytes: int) -> tuple[str, ...]:
    """What must be said of files for which the drive is too small."""
    if place.size_bytes >= wanted_bytes:
        return ()
    return (f"the drive has room for {place.size_bytes // MIB} MiB of {wanted_bytes // MIB} MiB",)


def _size_note(place: Place, wanted_bytes: int) -> tuple[str, ...]:
    return (assumed_note("applications.md"), *room_note(place, wanted_bytes))


@dataclass(frozen=True, kw_only=True)
class Application(Procedure):
    """A test in the free space behind the image."""

    has_fixed_length = True

    least_bytes: int = 256 * MIB
    """Free space that it needs."""
    cost: float = 0.3

    def fits(self, capacity_bytes: int) -> bool:
        """Whether there is room behind the image."""
        return place_on(capacity_bytes).size_bytes >= self.least_bytes

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes."""
        return self.cost / 5 if quick else self.cost

    @property
    def span_text(self) -> str:
        """Where the files lie."""
        return "behind the image"

    @property
    def data_text(self) -> str:
        """What is written."""
        return DATA


QUICK_TRACE_SHARE = 8
"""A quick review plays so much less of each trace."""


@dataclass(frozen=True, kw_only=True)
class PCMarkVantage(Application):
    """The disk suite's eight traces, and the scores that they enter."""

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Plays the traces one after another on a drive that is in the wanted state."""
        place = place_on(target.capacity_bytes)
        rows, rates = [], {}
        for trace in pcmark.traces(QUICK_TRACE_SHARE if quick else 1):
            requests = phase_requests(trace, place, PROGRAM_SEED)
            report = play(target, requests, trace.name, seed, progress, 1 / len(pcmark.TRACES))
            rates[trace.name] = requests.byte_count / waited_s(report) / MB
            rows.append(_trace_row(trace.name, report, rates[trace.name]))
        return Measured(
            span_bytes=min(pcmark.SPAN_BYTES, place.size_bytes),
            values=(
                Value("hdd_score", "HDD score", pcmark.hdd_score(rates), "score", "higher"),
                Value("score", "PCMark score", pcmark.overall_score(rates), "score", "higher"),
                Value(
                    "productivity_mb_per_s",
                    "Disk's part of Productivity",
                    pcmark.productivity_mb_per_s(rates),
                    "MB/s",
                    "higher",
                ),
            ),
            tables=(
                Table(
                    "traces",
                    "Traces of the disk suite",
                    (
                        Column("trace", "Trace"),
                        Column("mb_per_s", "Throughput", "MB/s"),
                        Column("read_mb", "Read", "MB"),
                        Column("write_mb", "Written", "MB"),
                        COLUMNS["mean_ms"],
                        COLUMNS["max_ms"],
                    ),
                    tuple(rows),
                ),
            ),
            charts=(Chart("traces", "Throughput of each trace", "bars", "trace", "mb_per_s"),),
            deviations=("the traces are not public: these have the program's shares of reads",),
            notes=_size_note(place, pcmark.SPAN_BYTES),
        )


def _trace_row(name: str, report: Report, mb_per_s: float) -> dict[str, Any]:
    moved = {key: report["jobs"][0][key]["bytes"] / MB for key in ("read", "write")}
    numbers = flow(report)
    return {
        "trace": name,
        "mb_per_s": mb_per_s,
        "read_mb": moved["read"],
        "write_mb": moved["write"],
        "mean_ms": numbers["mean_ms"],
        "max_ms": numbers["max_ms"],
    }


@dataclass(frozen=True, kw_only=True)
class SysMark(Application):
    """Rounds of office work; the score is the share of the time that the processor works."""

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Writes the files, lets the drive rest, and plays the rounds."""
        place = install(target, desktop.FILES_BYTES, seed, progress, 0.3)
        count = desktop.QUICK_ROUNDS if quick else desktop.ROUNDS
        requests = desktop.rounds(count, place, PROGRAM_SEED)
        report = play(target, requests, self.id, seed, progress, 0.7)
        time_s, processor_s = waited_s(report), desktop.processor_s(requests)
        score = 100 * processor_s / time_s
        return Measured(
            span_bytes=place.size_bytes,
            values=(
                Value("score", "Score: 100 on a drive that takes no time", score, "", "higher"),
                Value("time_s", "Time of all tasks", time_s, "s", "lower"),
                Value("disk_s", "Waiting for the drive", time_s - processor_s, "s", "lower"),
            ),
            tables=(requests_table(report),),
            deviations=(
                "the program's tasks stand for its four suites; its calibration machine doesn't",
            ),
            notes=_size_note(place, desktop.FILES_BYTES),
        )


def requests_table(report: Report) -> Table:
    """Reads and writes of a program, with their latencies."""
    keys = ("ios", "bytes", "mean_ms", "p99_ms", "max_ms")
    rows = [{"direction": name, **flow(report, name)} for name in ("read", "write")]
    columns = (Column("direction", "Direction"), *(COLUMNS[key] for key in keys))
    wanted = [column.key for column in columns]
    return Table(
        "requests", "Requests", columns, tuple({key: row[key] for key in wanted} for row in rows)
    )


USERS, QUICK_USERS = 49, 1
"""Pauses come by chance: where all of so many see one, their mean is known to a seventh."""
PIECE_S, PIECES, QUICK_PIECES = 600, 12, 2
"""Use is played in pieces, until something stutters: at most two hours."""


@dataclass(frozen=True, kw_only=True)
class DesktopUse(Application):
    """Use of a desktop until a request takes so long that people notice."""

    extra_drives: int = 1

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Lets several people use copies of the prepared drive, each with bursts of their own."""
        users = QUICK_USERS if quick else USERS
        pieces = QUICK_PIECES if quick else PIECES
        place = install(target, desktop.FILES_BYTES, seed, progress, 0.1)
        rows = []
        for user in range(users):
            drive = target.clone() if user + 1 < users else target
            own_seed = derive_seed(PROGRAM_SEED, f"user {user}")
            rows.append(_use(drive, place, own_seed, pieces, progress, 0.9 / users))
            # Before the next copy is made, not after.
            del drive
            rows[-1]["user"] = user + 1
        limit_min = pieces * PIECE_S / 60
        times = [row["minutes"] for row in rows if row["minutes"] is not None]
        return Measured(
            span_bytes=place.size_bytes,
            values=(
                Value(
                    "minutes_to_stutter",
                    f"Minutes until a request takes {desktop.STUTTER_NS // NS_PER_MS} ms",
                    mean_minutes(times, users, limit_min),
                    "min",
                    "higher",
                ),
                Value(
                    "longest_ms",
                    "Longest request of all",
                    max(row["longest_ms"] for row in rows),
                    "ms",
                    "lower",
                ),
            ),
            tables=(
                Table(
                    "users",
                    f"Users, at most {limit_min:.0f} minutes each",
                    (
                        Column("user", "User"),
                        Column("minutes", "Time until it stutters", "min"),
                        Column("longest_ms", "Longest request", "ms"),
                        Column("writes", "Writes"),
                    ),
                    tuple(rows),
                ),
            ),
            notes=(
                *_size_note(place, desktop.FILES_BYTES),
                f"it stuttered for {len(times)} of {users} users within {limit_min:.0f} minutes; "
                "what all were watched for, by the times that it did",
            ),
        )


def mean_minutes(times: Sequence[float], users: int, limit_min: float) -> float | None:
    """The mean time until something that comes at a constant rate, for users some of whom saw it
    at these times, and the others not within the limit; None if nobody did.

    >>> mean_minutes([10.0, 20.0], 3, 120.0)
    75.0
    """
    if not times:
        return None
    return (sum(times) + (users - len(times)) * limit_min) / len(times)


def _use(
    drive: Target, place: Place, seed: int, pieces: int, progress: TaskProgress, share: float
) -> dict[str, Any]:
    """What a user gets: minutes until a request is noticed, the longest one, writes so far."""
    writes, longest_ns = 0, 0
    for piece in range(pieces):
        requests = desktop.hours_of_use(PIECE_S, place, derive_seed(seed, f"piece {piece}"))
        job = play(drive, requests, "use", seed, progress, share / pieces)["jobs"][0]
        parts = [job[key] for key in ("read", "write")]
        writes += job["write"]["ios"]
        longest_ns = max(longest_ns, *(part["latency_ns"]["max"] for part in parts))
        if longest_ns > desktop.STUTTER_NS:
            second = _first_above([part["series"]["latency_max_ns"] for part in parts])
            minutes = (piece * PIECE_S + second) / 60
            return {"minutes": minutes, "longest_ms": longest_ns / NS_PER_MS, "writes": writes}
    return {"minutes": None, "longest_ms": longest_ns / NS_PER_MS, "writes": writes}


def _first_above(series: Sequence[Sequence[int | None]]) -> int:
    """The end of the first second in which a request took too long."""
    longest = zip(*series, strict=True)
    slow = (max(ns or 0 for ns in pair) > desktop.STUTTER_NS for pair in longest)
    return next(second for second, found in enumerate(slow, start=1) if found)


PROCEDURES = (
    PCMarkVantage(
        id="pcmark-vantage",
        title="PCMark Vantage: eight disk traces, HDD score, PCMark score",
        group="applications",
        cost=0.1,
    ),
    SysMark(
        id="sysmark-2007",
        title="SYSMark 2007: office work, share of the time that the processor works",
        group="applications",
        quick_text=f"{desktop.QUICK_ROUNDS} rounds of {desktop.ROUNDS}, and the time is theirs",
    ),
    DesktopUse(
        id="desktop-use",
        title="Desktop use until a request takes half a second, in minutes",
        group="applications",
        cost=0.5,
    ),
)
