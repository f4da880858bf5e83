"""Burst endurance: how often a burst of writes at full speed can be repeated with a pause between.

Random writes of 128 KiB at queue depth 8, all over a full drive. A drive writes fast for as long as
it has room made beforehand: an SLC cache, or erased blocks of its spare area. That is its reserve,
and the first run finds how much it is and what speed is left behind it. What a write buffer takes
before is faster still where it is emptied slower than it is filled: full speed is that behind it,
and bursts that it holds are not tried, as each pause makes room for them. A pause gives some of it
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
from typing import Any

from drivelab.errors import RequestError
from drivelab.procedures import small_version
from drivelab.procedures.endurance import unmeasured
from drivelab.procedures.measured import Chart, Column, Measured, Table, Value
from drivelab.procedures.pieces import (
    FALLEN,
    FIRST,
    FULL_SPEED,
    buffer_bytes,
    is_buffers,
    mean,
)
from drivelab.procedures.procedure import Procedure
from drivelab.procedures.random_pieces import PIECE_BYTES_MIN, Run, Writer, size_of
from drivelab.procedures.stream import RANDOM
from drivelab.progress import TaskProgress
from drivelab.quantities import GB, NS_PER_S
from drivelab.targets import Target

REST_S = 2 * 3600
"""Before the first run: what the fill has left in a cache is folded."""
PIECES, PIECES_MIN = 500, 100
"""Of the whole drive, where the reserve is looked for."""
BEGINNING = 0.01
"""Part of the drive where a reserve is looked for that is less than a few of these pieces."""
PIECES_OF_RESERVE = 32
"""Where it is measured."""
SEARCHED_MAX = 4
"""What is written to measure it at most, in times of what it was when it was found."""
WRITTEN_MAX = 1.0
"""User capacities after which a drive that is as fast as ever has nothing that could be used up."""
SWING = 2
"""Pieces by which two runs differ that find the same reserve; fewer where these are many of it."""
SLOW = 4
"""Bursts that are written from the first slow one on: one may be slow for once."""
PAUSES_S, QUICK_PAUSES_S = (1, 10, 60, 600), (10, 60)
PARTS, QUICK_PARTS = (1 / 8, 1 / 2), (1 / 2,)
"""Bursts, as parts of the reserve."""
RESERVES_MAX = 3
"""What bursts of one kind write at most."""
DASHES = (
    "bursts without a number: all that were tried were fast; by arithmetic without one: it is for "
    "ever"
)
SMALL = (
    "its reserve is as much smaller, pauses are not, and few blocks a die are emptied at another "
    "rate: what a pause gives back is not that of the drive"
)


def bursts_held(reserve: float, burst: float, back: float) -> int | None:
    """Bursts at full speed, by arithmetic; None: for ever."""
    if burst > reserve:
        return 0
    if back >= burst:
        return None
    return math.floor((reserve - back) / (burst - back))


def held_by_buffer(burst_bytes: int, held: int) -> str:
    """Why bursts of this size are not tried."""
    return (
        f"bursts of {burst_bytes / GB:.4g} GB are not tried: the write buffer holds "
        f"{held / GB:.4g} GB, and each pause makes room for them; take the whole drive, a smaller "
        "`scale_divisor` or a smaller `write_buffer.size_bytes`"
    )


@dataclass(frozen=True)
class Reserve:
    """What a drive can write at full speed, and what it does behind that."""

    piece_bytes: int
    pieces: int
    """What was written before the speed fell, or all that was."""
    ends: bool
    """Whether it fell."""
    full_mb_per_s: float
    """Behind what the write buffer takes."""
    sustained_mb_per_s: float
    buffered: int
    """Pieces, of those that are fast, that the write buffer made faster still."""


@dataclass(frozen=True, kw_only=True)
class BurstEndurance(Procedure):
    """Bursts and pauses, on copies of a full drive."""

    def fits(self, capacity_bytes: int) -> bool:
        """Whether a drive of this size has pieces enough to see a reserve end."""
        return capacity_bytes >= PIECES_MIN * PIECE_BYTES_MIN

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes."""
        return (2 if quick else 6) * capacity_bytes / 200e9

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Uses up the reserve of a drive that is in the wanted state, then tries every duty."""
        least = size_of(0, target)
        if target.capacity_bytes < PIECES_MIN * least:
            words = (
                f"{target.capacity_bytes} bytes are less than {PIECES_MIN} pieces of the write "
                f"buffer's size ({least} bytes); take the whole drive, a smaller `scale_divisor` "
                "or a smaller `write_buffer.size_bytes`"
            )
            return unmeasured(RequestError(words), _values(None, {}, None))
        pauses = QUICK_PAUSES_S if quick else PAUSES_S
        parts = QUICK_PARTS if quick else PARTS
        target.idle(REST_S * NS_PER_S)
        reserve = self._reserve(target, seed, progress)
        rows: list[dict[str, Any]] = []
        backs: dict[int, int] = {}
        held = buffer_bytes(target)
        notes: tuple[str, ...] = ()
        if reserve.ends:
            bursts = [max(1, round(part * reserve.pieces)) for part in parts]
            # As much as the largest burst takes: who gets all of that back is fast for ever.
            half, used = target.clone(), max(bursts)
            writer = Writer(half, seed, "half", progress)
            writer.all_of(reserve.piece_bytes, used, 0.05)
            for pause_s in pauses:
                fresh = Writer(half.clone(), seed, f"left {pause_s}", progress)
                left = self._left(fresh, pause_s, reserve, 0.15 / len(pauses))
                back = max(0, left - (reserve.pieces - used))
                backs[pause_s] = used if back >= used - min(SWING, used // 8) else back
            share = 0.6 / (len(parts) * len(pauses))
            tried = [burst for burst in bursts if burst * reserve.piece_bytes > held]
            progress.add((len(bursts) - len(tried)) * len(pauses) * share)
            if len(tried) < len(bursts):
                notes += (held_by_buffer(bursts[0] * reserve.piece_bytes, held),)
            for burst in tried:
                for pause_s in pauses:
                    name = f"bursts {burst} {pause_s}"
                    writer = Writer(target.clone(), seed, name, progress)
                    duty = (burst, pause_s, backs[pause_s])
                    rows.append(self._duty(writer, duty, reserve, share))
        else:
            rows.append(_endless(reserve))
            progress.add(0.8)
        return _found(target, reserve, backs, rows, notes)

    def _reserve(self, target: Target, seed: int, progress: TaskProgress) -> Reserve:
        """Uses up the reserve of copies, and writes on for as much again."""
        size = size_of(target.capacity_bytes / PIECES, target)
        most = int(WRITTEN_MAX * target.capacity_bytes) // size
        rough = Writer(target.clone(), seed, "rough", progress).until_slow(size, most, 0.08)
        begins = self._beginning(target, rough.full_mb_per_s, seed, progress)
        if begins is None and not rough.ends:
            progress.add(0.1)
            return _without_end(size, rough)
        reserve_bytes = begins or rough.fast * size
        size = size_of(reserve_bytes / PIECES_OF_RESERVE, target)
        most = max(FIRST + FALLEN, math.ceil(SEARCHED_MAX * reserve_bytes / size))
        writer = Writer(target.clone(), seed, "reserve", progress)
        found = writer.until_slow(size, most, 0.05)
        if not found.ends:
            progress.add(0.05)
            return _without_end(size, found)
        behind = writer.all_of(size, max(found.fast, PIECES_OF_RESERVE), 0.05)
        sustained = mean(behind[len(behind) // 2 :])
        return Reserve(size, found.fast, True, found.full_mb_per_s, sustained, found.begin)

    def _beginning(
        self, target: Target, later: float, seed: int, progress: TaskProgress
    ) -> int | None:
        """Bytes after which the speed falls for the first time, to `later`, if that is so soon that
        the pieces of the whole drive don't tell."""
        size = size_of(BEGINNING * target.capacity_bytes / PIECES, target)
        most = max(FIRST + FALLEN, int(BEGINNING * target.capacity_bytes) // size)
        found = Writer(target.clone(), seed, "beginning", progress).until_slow(size, most, 0.02)
        full, fast_bytes = found.full_mb_per_s, found.fast * size
        if not found.ends or later >= FULL_SPEED * full:
            return None
        return None if is_buffers(fast_bytes, buffer_bytes(target), full, later) else fast_bytes

    def _left(self, writer: Writer, pause_s: int, reserve: Reserve, share: float) -> int:
        """Pieces that are fast after a pause of a drive that has used a part of its reserve."""
        writer.target.idle(pause_s * NS_PER_S)
        most = reserve.pieces + FALLEN
        return writer.while_fast(reserve.piece_bytes, most, share, reserve.full_mb_per_s)

    def _duty(
        self, writer: Writer, duty: tuple[int, int, int], reserve: Reserve, share: float
    ) -> dict[str, Any]:
        """Bursts of so many pieces with a pause between, and some more from a slow one on."""
        count, pause_s, back = duty
        limit = (reserve.full_mb_per_s + reserve.sustained_mb_per_s) / 2
        speeds: list[float] = []
        held: int | None = None
        most = math.ceil(RESERVES_MAX * reserve.pieces / count)
        for _ in range(most):
            found = writer.all_of(reserve.piece_bytes, count, share / most)
            speeds.append(mean(found))
            is_slow = speeds[-1] < FULL_SPEED * reserve.full_mb_per_s
            if held is None and (is_slow or sum(speed < limit for speed in found) >= FALLEN):
                held = len(speeds) - 1
            if held is not None and len(speeds) >= held + SLOW:
                break
            writer.target.idle(pause_s * NS_PER_S)
        writer.progress.add(share * (most - len(speeds)) / most)
        gb = reserve.piece_bytes / GB
        last = speeds if held is None else speeds[held:]
        predicted = bursts_held(reserve.pieces, count, back)
        return {
            "burst_gb": count * gb,
            "pause_s": pause_s,
            "back_gb": back * gb,
            "kept": "yes" if held is None else "no",
            "bursts": held,
            "written_gb": None if held is None else held * count * gb,
            "arithmetic_kept": "yes" if predicted is None else "no",
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


def _without_end(size: int, run: Run) -> Reserve:
    """What pieces of this size say whose speed doesn't fall."""
    later = mean(run.mb_per_s[len(run.mb_per_s) // 2 :])
    return Reserve(size, run.fast, False, run.full_mb_per_s, later, run.begin)


def _endless(reserve: Reserve) -> dict[str, Any]:
    """One burst of all that was written, without a pause."""
    return {
        "burst_gb": reserve.pieces * reserve.piece_bytes / GB,
        "pause_s": 0,
        "back_gb": 0.0,
        "kept": "yes",
        "bursts": None,
        "written_gb": None,
        # No reserve is known, of which it would be reckoned.
        "arithmetic_kept": None,
        "arithmetic_bursts": None,
        "first_mb_per_s": reserve.full_mb_per_s,
        "then_mb_per_s": reserve.sustained_mb_per_s,
    }


def _values(
    reserve: Reserve | None, backs: dict[int, int], kept_pause_s: int | None
) -> tuple[Value, ...]:
    """What bursts are about; a reserve that doesn't end has speeds alone."""
    ended = reserve if reserve and reserve.ends else None
    gb = ended.piece_bytes / GB if ended else 0.0
    full = reserve.full_mb_per_s if reserve else None
    sustained = reserve.sustained_mb_per_s if reserve else None
    whole = ended.pieces * gb if ended else None
    back = backs[10] * gb if ended else None
    shortest = "Shortest pause that keeps the smallest bursts fast"
    return (
        Value("reserve_gb", "Written before the speed falls", whole, "GB", "higher"),
        Value("full_mb_per_s", "Full speed", full, "MB/s", "higher"),
        Value("sustained_mb_per_s", "Behind it, without pauses", sustained, "MB/s", "higher"),
        Value("back_10_s_gb", "Given back by 10 s, of half of it", back, "GB", "higher"),
        Value("kept_pause_s", shortest, kept_pause_s if ended else None, "s", "lower"),
    )


def _found(
    target: Target,
    reserve: Reserve,
    backs: dict[int, int],
    rows: Sequence[dict[str, Any]],
    notes: tuple[str, ...],
) -> Measured:
    """What the runs say."""
    shortest = min((row["burst_gb"] for row in rows), default=None)
    kept = [row["pause_s"] for row in rows if row["kept"] == "yes" and row["burst_gb"] == shortest]
    gb = reserve.piece_bytes / GB
    buffered = f", behind {reserve.buffered * gb:.4g} GB that the write buffer takes"
    never = (
        f"the speed does not fall in {reserve.pieces * gb:.4g} GB"
        f"{buffered if reserve.buffered else ''}: no burst of as much is too long, and none was "
        "tried with pauses; there is no reserve, nothing to give back, and no pause that would be "
        "needed"
    )
    told = [] if reserve.ends else [never]
    if rows and reserve.ends and not kept:
        longest = max(row["pause_s"] for row in rows)
        told.append(
            f"no pause that was tried (up to {longest} s) keeps bursts of {shortest:.4g} GB fast: "
            "the shortest that does is unknown"
        )
    if reserve.ends and any("yes" in (row["kept"], row["arithmetic_kept"]) for row in rows):
        told.append(DASHES)
    columns = (
        Column("burst_gb", "Burst", "GB"),
        Column("pause_s", "Pause", "s"),
        Column("back_gb", "Given back by a pause", "GB"),
        Column("kept", "Full speed is kept"),
        Column("bursts", "Bursts at full speed"),
        Column("written_gb", "Written at full speed", "GB"),
        Column("arithmetic_kept", "Kept by arithmetic"),
        Column("arithmetic_bursts", "Bursts by arithmetic"),
        Column("first_mb_per_s", "First burst", "MB/s"),
        Column("then_mb_per_s", f"{SLOW} bursts from the first slow one on, or the last", "MB/s"),
    )
    return Measured(
        target.capacity_bytes,
        values=_values(reserve, backs, min(kept, default=None)),
        tables=(Table("duties", "Bursts and pauses", columns, tuple(rows)),),
        notes=(*told, *notes, *small_version.notes(target, SMALL)),
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
