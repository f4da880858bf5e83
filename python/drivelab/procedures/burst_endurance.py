"""Burst endurance: how often a burst of writes at full speed can be repeated with a pause between.

Random writes of 128 KiB at queue depth 8, all over a full drive. A drive writes fast for as long as
it has room made beforehand: an SLC cache, or erased blocks of its spare area. That is its reserve,
and the first run finds how much it is and what speed is left behind it. A pause gives some of it
back: after each length of pause, how much, on a drive that has used half of it. Then bursts that
take a part of the reserve, with a pause between, until one is slow, or three times the reserve was
written.

A burst of B bytes takes B, a pause gives back g, at most what was taken. For g < B the reserve R
lasts for (R - g) / (B - g) bursts (rounded down), for g >= B for ever: the table has both what was
measured and this.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from drivelab.data_patterns import parse_data_pattern
from drivelab.procedures import small_version
from drivelab.procedures.flow import flow
from drivelab.procedures.measured import Chart, Column, Measured, Table, Value
from drivelab.procedures.procedure import Procedure
from drivelab.procedures.stream import RANDOM
from drivelab.progress import TaskProgress
from drivelab.quantities import GB, KIB, MIB, NS_PER_S, derive_seed
from drivelab.targets import Target
from drivelab.workload import BlockSize, Job

BLOCK_BYTES = 128 * KIB
QUEUE_DEPTH = 8
REST_S = 2 * 3600
"""Before the first run: what the fill has left in a cache is folded."""
PIECES = 500
"""Of the whole drive, where the reserve is looked for."""
PIECES_OF_RESERVE = 32
"""Where it is measured."""
PIECE_BYTES_MIN = 2 * MIB
"""Or as much as the write buffer holds."""
WRITTEN_MAX = 1.0
"""User capacities after which a drive that is as fast as ever has nothing that could be used up."""
FIRST = 3
"""Pieces that say what full speed is, the first of which a write buffer may have taken."""
FULL_SPEED = 0.8
"""What is left of its speed where the reserve is used up, or a burst has become slow."""
FALLEN = 3
"""Pieces that are all slower, where the speed has fallen."""
SWING = 2
"""Pieces by which two runs differ that find the same reserve."""
SLOW = 4
"""Bursts that are written from the first slow one on: one may be slow for once."""
PAUSES_S, QUICK_PAUSES_S = (1, 10, 60, 600), (10, 60)
PARTS, QUICK_PARTS = (1 / 8, 1 / 2), (1 / 2,)
"""Bursts, as parts of the reserve."""
RESERVES_MAX = 3
"""What bursts of one kind write at most."""
SMALL = (
    "its reserve is as much smaller, pauses are not, and few blocks a die are emptied at another "
    "rate: what a pause gives back is not that of the drive"
)


@dataclass
class Writer:
    """Writes pieces at random places, each time others."""

    target: Target
    seed: int
    name: str
    count: int = 0

    def piece(self, size: int) -> float:
        """Writes one; its speed in MB/s."""
        self.count += 1
        job = Job(
            name=self.name,
            rw="randwrite",
            block_sizes=(BlockSize(bytes=BLOCK_BYTES),),
            span_bytes=self.target.capacity_bytes // BLOCK_BYTES * BLOCK_BYTES,
            io_bytes=size,
            queue_depth=min(QUEUE_DEPTH, self.target.queue_depth),
            data=parse_data_pattern(RANDOM),
            seed=derive_seed(self.seed, self.name, str(self.count)),
        )
        report = self.target.run([job], TaskProgress(self.name), 0.0)
        return float(flow(report, "write")["mb_per_s"] or 0.0)

    def until_slow(self, size: int, most: int, full: float | None = None) -> list[float]:
        """Speeds of pieces, until several in a row are slower than the others were, or `most` are
        written."""
        found: list[float] = []
        while len(found) < most and fast_pieces(found, full) == len(found):
            found.append(self.piece(size))
            if len(found) >= FALLEN and fast_pieces(found, full) <= len(found) - FALLEN:
                break
        return found


def fast_pieces(mb_per_s: Sequence[float], full: float | None = None) -> int:
    """Pieces before so many in a row are slow as say that the speed has fallen, from `full` or from
    what it was until then."""
    for at in range(0 if full else FIRST, len(mb_per_s) - FALLEN + 1):
        speed = full or median(mb_per_s[1:at])
        if max(mb_per_s[at : at + FALLEN]) < FULL_SPEED * speed:
            return at
    return len(mb_per_s)


def mean(mb_per_s: Sequence[float]) -> float:
    """Speed of pieces of one size together."""
    return len(mb_per_s) / sum(1 / each for each in mb_per_s)


def bursts_held(reserve: float, burst: float, back: float) -> int | None:
    """Bursts at full speed, by arithmetic; None: for ever."""
    if burst > reserve:
        return 0
    if back >= burst:
        return None
    return math.floor((reserve - back) / (burst - back))


def size_of(wanted: float, target: Target) -> int:
    """A size of pieces: whole requests, and no smaller than a write buffer."""
    least = max(PIECE_BYTES_MIN, int(target.parameter("write_buffer.size_bytes") or 0))
    return max(-(-least // BLOCK_BYTES), int(wanted) // BLOCK_BYTES) * BLOCK_BYTES


@dataclass(frozen=True)
class Reserve:
    """What a drive can write at full speed, and what it does behind that."""

    piece_bytes: int
    pieces: int
    """What was written before the speed fell, or all that was."""
    ends: bool
    """Whether it fell."""
    full_mb_per_s: float
    sustained_mb_per_s: float


@dataclass(frozen=True, kw_only=True)
class BurstEndurance(Procedure):
    """Bursts and pauses, on copies of a full drive."""

    def fits(self, capacity_bytes: int) -> bool:
        """Whether a drive of this size has pieces enough to see a reserve end."""
        return capacity_bytes >= 100 * PIECE_BYTES_MIN

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes."""
        return (2 if quick else 6) * capacity_bytes / 200e9

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Uses up the reserve of a drive that is in the wanted state, then tries every duty."""
        pauses = QUICK_PAUSES_S if quick else PAUSES_S
        parts = QUICK_PARTS if quick else PARTS
        target.idle(REST_S * NS_PER_S)
        reserve = self._reserve(target, seed)
        progress.add(0.2)
        rows: list[dict[str, Any]] = []
        backs: dict[int, int] = {}
        if reserve.ends:
            half, used = target.clone(), reserve.pieces // 2
            writer = Writer(half, seed, "half")
            for _ in range(used):
                writer.piece(reserve.piece_bytes)
            for pause_s in pauses:
                left = self._left(half.clone(), pause_s, reserve, seed)
                back = max(0, left - (reserve.pieces - used))
                backs[pause_s] = used if back >= used - SWING else back
                progress.add(0.2 / len(pauses))
            for part in parts:
                for pause_s in pauses:
                    burst = max(1, round(part * reserve.pieces))
                    duty = (burst, pause_s, backs[pause_s])
                    rows.append(self._duty(target.clone(), duty, reserve, seed))
                    progress.add(0.6 / (len(parts) * len(pauses)))
        else:
            rows.append(_endless(reserve))
            progress.add(0.8)
        return _found(target, reserve, backs, rows)

    def _reserve(self, target: Target, seed: int) -> Reserve:
        """Uses up the reserve of copies, and writes on for as much again."""
        size = size_of(target.capacity_bytes / PIECES, target)
        most = int(WRITTEN_MAX * target.capacity_bytes) // size
        rough = Writer(target.clone(), seed, "rough").until_slow(size, most)
        if fast_pieces(rough) == len(rough):
            later = mean(rough[len(rough) // 2 :])
            return Reserve(size, len(rough), False, median(rough[1:]), later)
        size = size_of(fast_pieces(rough) * size / PIECES_OF_RESERVE, target)
        writer = Writer(target.clone(), seed, "reserve")
        found = writer.until_slow(size, int(WRITTEN_MAX * target.capacity_bytes) // size)
        pieces = fast_pieces(found)
        behind = [writer.piece(size) for _ in range(max(pieces, PIECES_OF_RESERVE))]
        return Reserve(
            size, pieces, True, median(found[1:pieces]), mean(behind[len(behind) // 2 :])
        )

    def _left(self, copy: Target, pause_s: int, reserve: Reserve, seed: int) -> int:
        """Pieces that are fast after a pause of a drive that has used a part of its reserve."""
        copy.idle(pause_s * NS_PER_S)
        writer = Writer(copy, seed, f"left {pause_s}")
        most, full = reserve.pieces + FALLEN, reserve.full_mb_per_s
        return fast_pieces(writer.until_slow(reserve.piece_bytes, most, full), full)

    def _duty(
        self, copy: Target, duty: tuple[int, int, int], reserve: Reserve, seed: int
    ) -> dict[str, Any]:
        """Bursts of so many pieces with a pause between, and some more from a slow one on."""
        pieces, pause_s, back = duty
        writer = Writer(copy, seed, f"bursts {pieces} {pause_s}")
        limit = (reserve.full_mb_per_s + reserve.sustained_mb_per_s) / 2
        speeds: list[float] = []
        held: int | None = None
        for _ in range(math.ceil(RESERVES_MAX * reserve.pieces / pieces)):
            found = [writer.piece(reserve.piece_bytes) for _ in range(pieces)]
            speeds.append(mean(found))
            is_slow = speeds[-1] < FULL_SPEED * reserve.full_mb_per_s
            if held is None and (is_slow or sum(speed < limit for speed in found) >= FALLEN):
                held = len(speeds) - 1
            if held is not None and len(speeds) >= held + SLOW:
                break
            copy.idle(pause_s * NS_PER_S)
        gb = reserve.piece_bytes / GB
        last = speeds if held is None else speeds[held:]
        predicted = bursts_held(reserve.pieces, pieces, back)
        return {
            "burst_gb": pieces * gb,
            "pause_s": pause_s,
            "back_gb": back * gb,
            "kept": "yes" if held is None else "no",
            "bursts": held,
            "written_gb": None if held is None else held * pieces * gb,
            "arithmetic_bursts": predicted,
            "first_mb_per_s": speeds[0],
            "then_mb_per_s": mean(last[-SLOW:]),
        }

    @property
    def time_text(self) -> str:
        """How long it measures."""
        return f"{RESERVES_MAX} times what is fast, for each burst and pause"

    @property
    def data_text(self) -> str:
        """What is written."""
        return RANDOM


def _endless(reserve: Reserve) -> dict[str, Any]:
    """One burst of all that was written, without a pause."""
    return {
        "burst_gb": reserve.pieces * reserve.piece_bytes / GB,
        "pause_s": 0,
        "back_gb": 0.0,
        "kept": "yes",
        "bursts": None,
        "written_gb": None,
        "arithmetic_bursts": None,
        "first_mb_per_s": reserve.full_mb_per_s,
        "then_mb_per_s": reserve.sustained_mb_per_s,
    }


def _found(
    target: Target,
    reserve: Reserve,
    backs: dict[int, int],
    rows: Sequence[dict[str, Any]],
) -> Measured:
    """What the runs say."""
    gb = reserve.piece_bytes / GB
    shortest = min((row["burst_gb"] for row in rows), default=None)
    kept = [row["pause_s"] for row in rows if row["kept"] == "yes" and row["burst_gb"] == shortest]
    never = "the speed does not fall: no burst is too long, and none was tried with pauses"
    columns = (
        Column("burst_gb", "Burst", "GB"),
        Column("pause_s", "Pause", "s"),
        Column("back_gb", "Given back by a pause", "GB"),
        Column("kept", "Full speed is kept"),
        Column("bursts", "Bursts at full speed"),
        Column("written_gb", "Written at full speed", "GB"),
        Column("arithmetic_bursts", "Bursts by arithmetic"),
        Column("first_mb_per_s", "First burst", "MB/s"),
        Column("then_mb_per_s", f"{SLOW} bursts from the first slow one on, or the last", "MB/s"),
    )
    return Measured(
        target.capacity_bytes,
        values=(
            Value(
                "reserve_gb",
                "Written before the speed falls",
                reserve.pieces * gb if reserve.ends else None,
                "GB",
                "higher",
            ),
            Value("full_mb_per_s", "Full speed", reserve.full_mb_per_s, "MB/s", "higher"),
            Value(
                "sustained_mb_per_s",
                "Behind it, without pauses",
                reserve.sustained_mb_per_s,
                "MB/s",
                "higher",
            ),
            Value(
                "back_10_s_gb",
                "Given back by 10 s",
                backs[10] * gb if reserve.ends else None,
                "GB",
                "higher",
            ),
            Value(
                "kept_pause_s",
                "Shortest pause that keeps the smallest bursts fast",
                min(kept, default=None),
                "s",
                "lower",
            ),
        ),
        tables=(Table("duties", "Bursts and pauses", columns, tuple(rows)),),
        notes=(*([] if reserve.ends else [never]), *small_version.notes(target, SMALL)),
        charts=(
            Chart(
                "duties", "Speed in the long run", "bars", "pause_s", "then_mb_per_s", "burst_gb"
            ),
        ),
    )


PROCEDURES = (
    BurstEndurance(
        id="burst-endurance",
        title="Burst endurance: bursts of 128 KiB random write, QD8, with pauses of 1 s to 10 min",
        group="sweeps",
        states=("filled",),
        kinds=("flash",),
        extra_drives=2,
    ),
)
