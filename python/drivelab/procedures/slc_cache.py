"""SLC cache: how much of a burst it takes, by how full the drive is and by how long it rested.

A burst is writing in order, 1 MiB at queue depth 1, where nothing was written before, in pieces of
equal size whose speed is measured each by itself. `cache-by-fill` writes one on a drive that is
empty, a quarter full and so on, after a pause in which it can empty its cache: a cache of free
flash shrinks with it. `cache-after-pause` writes one until the cache is used up, and the next after
pauses of several lengths: how fast a drive makes room again. One without a cache writes its bursts
at one speed, but for what its write buffer takes, and has none of the values that are a cache's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from drivelab.data_patterns import parse_data_pattern
from drivelab.procedures import pieces, small_version
from drivelab.procedures.fill import BEHIND, BLOCK_BYTES, CHANGE, NO_CACHE, cache_pieces, falls_at
from drivelab.procedures.measured import Chart, Column, Measured, Table, Value
from drivelab.procedures.pieces import mean
from drivelab.procedures.procedure import Procedure
from drivelab.procedures.stream import RANDOM
from drivelab.progress import TaskProgress
from drivelab.quantities import GB, MIB, NS_PER_S, derive_seed
from drivelab.targets import Target
from drivelab.workload import BlockSize, Job

PIECES, PIECES_MIN = 500, 100
"""Of the whole drive."""
PIECE_BYTES_MIN = 8 * MIB
"""About what a write buffer holds: of smaller ones it would take many."""
LEVELS = (0, 25, 50, 75, 90)
"""How full the drive is, in percent."""
QUICK_LEVELS = (0, 50, 90)
BURST_MAX = 0.45
"""Share of the drive that a burst writes at most: a cache of free flash of MLC has half of it."""
REST_S = 2 * 3600
"""Before a burst that finds what the cache can be: half a terabyte takes an hour to fold."""
FULL = 25
"""How full the drive is before its cache is used up, in percent."""
BEHIND_CACHE = 15
"""Pieces that are written behind the end of a cache."""
SECOND_MAX = 0.2
"""Share of the drive that the burst after a pause writes at most, or as much as the cache took."""
PAUSES_S = (0, 1, 10, 60, 300, 1800)
QUICK_PAUSES_S = (0, 10, 300)
SMALL = (
    "its cache is as much smaller, pauses are not, few blocks a die are folded at another rate: "
    "speeds behind the cache and what a pause frees are not those of the drive"
)
FIRST = 5
"""Pieces of a burst whose speed says how fast it begins."""


@dataclass(frozen=True)
class Burst:
    """Pieces that were written one after the other."""

    piece_bytes: int
    mb_per_s: tuple[float, ...]
    cached: int | None
    """Pieces before the speed falls; None: it doesn't."""

    @property
    def cached_mb_per_s(self) -> float | None:
        """Speed before it falls."""
        return median(self.mb_per_s[: self.cached]) if self.cached else None

    @property
    def behind_mb_per_s(self) -> float | None:
        """Speed of the pieces behind that place."""
        return mean(self.mb_per_s[self.cached + 1 :]) if self.cached else None

    @property
    def first_mb_per_s(self) -> float:
        """Speed of the first pieces."""
        return mean(self.mb_per_s[:FIRST])

    def gb(self, count: int) -> float:
        """Size of so many pieces."""
        return count * self.piece_bytes / GB

    def fast_gb(self, cached_mb_per_s: float | None) -> float | None:
        """What was written as fast as into a cache; None where there is none."""
        if cached_mb_per_s is None:
            return None
        return self.gb(fast_pieces(self.mb_per_s, (1 - CHANGE) * cached_mb_per_s))


def fast_pieces(mb_per_s: Sequence[float], least: float) -> int:
    """Pieces before so many in a row are slower than that as mark the end of a cache."""
    slow = (at for at in range(len(mb_per_s)) if max(mb_per_s[at : at + BEHIND]) < least)
    return next(slow, len(mb_per_s))


def piece_bytes_on(capacity_bytes: int) -> int:
    """Size of the pieces of a drive of this size; whole blocks."""
    wanted = max(PIECE_BYTES_MIN, capacity_bytes // PIECES)
    return wanted - wanted % BLOCK_BYTES


@dataclass(frozen=True, kw_only=True)
class SlcCache(Procedure):
    """Bursts in order, on copies of a drive that was filled in part."""

    def fits(self, capacity_bytes: int) -> bool:
        """Whether a drive of this size has pieces enough to see a cache end."""
        return capacity_bytes >= PIECES_MIN * PIECE_BYTES_MIN

    @property
    def data_text(self) -> str:
        """What is written."""
        return RANDOM

    def write(
        self,
        target: Target,
        place: tuple[int, int],
        seed: int,
        progress: TaskProgress,
        share: float,
        goes_on: bool = False,
    ) -> Burst:
        """Writes the pieces from the first to the one before the last of `place`, or `BEHIND` of
        them after the speed fell.

        Whether it has fallen for long only what follows can tell, which is written too, and no part
        of the burst: until pieces as fast as those before could not change it any more. A drive
        that `goes_on` is left where the burst ends: what follows is a copy's.
        """
        first, last = place
        size = piece_bytes_on(target.capacity_bytes)
        held = pieces.buffer_bytes(target) / size
        writer, written, at = target, 0, None
        found: list[float] = []
        is_suspected = False
        for piece in range(first, last):
            share_of = share / (last - first)
            found.append(self._piece(writer, piece, size, seed, progress, share_of))
            before = len(found) - BEHIND
            if not is_suspected and before >= BEHIND and falls_at(found, before):
                is_suspected = True
                if goes_on:
                    writer, written = target.clone(), len(found)
            if is_suspected:
                ahead = [median(found[:before])] * (last - first - len(found))
                at = cache_pieces(found + ahead, held)
                # A fall is there only where pieces behind it have been written.
                if at is not None and at + BEHIND <= len(found):
                    break
                at = None
        progress.add(share * (last - first - len(found)) / (last - first))
        if at is not None:
            del found[at + BEHIND :]
        if writer is not target:
            for piece in range(first + written, first + len(found)):
                self._piece(target, piece, size, seed, progress, 0)
        return Burst(size, tuple(found), at)

    def _piece(
        self,
        target: Target,
        piece: int,
        size: int,
        seed: int,
        progress: TaskProgress,
        share: float,
    ) -> float:
        """Writes one; its speed in MB/s."""
        job = Job(
            name=self.id,
            rw="write",
            block_sizes=(BlockSize(bytes=BLOCK_BYTES),),
            offset_bytes=piece * size,
            span_bytes=size,
            data=parse_data_pattern(RANDOM),
            seed=derive_seed(seed, str(piece)),
        )
        return pieces.write(target, job, progress, share)


@dataclass(frozen=True, kw_only=True)
class CacheByFill(SlcCache):
    """A burst at every fill level."""

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes."""
        return 3 * capacity_bytes / 200e9

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Fills a new drive step by step, and writes a burst on a copy of it at each."""
        levels = QUICK_LEVELS if quick else LEVELS
        count = target.capacity_bytes // piece_bytes_on(target.capacity_bytes)
        rows: list[dict[str, Any]] = []
        speed: float | None = None
        written = 0
        for level in levels:
            begin = count * level // 100
            _fill(target, written, begin, seed, progress, 0.3 / len(levels))
            written = begin
            copy = target.clone()
            copy.idle(REST_S * NS_PER_S)
            end = min(count, begin + int(BURST_MAX * count))
            burst = self.write(copy, (begin, end), seed, progress, 0.7 / len(levels))
            if level == levels[0]:
                # A drive that has no cache when it is empty has none.
                speed = burst.cached_mb_per_s
            rows.append(
                {
                    "full_percent": level,
                    "cache_gb": burst.fast_gb(speed),
                    "burst_gb": burst.gb(len(burst.mb_per_s)),
                    "first_mb_per_s": burst.first_mb_per_s,
                    "behind_mb_per_s": burst.behind_mb_per_s,
                }
            )
        columns = (
            Column("full_percent", "Full", "%"),
            Column("cache_gb", "Written until the speed falls", "GB"),
            Column("burst_gb", "Written in all", "GB"),
            Column("first_mb_per_s", "First pieces", "MB/s"),
            Column("behind_mb_per_s", "Behind the place where it falls", "MB/s"),
        )
        first, last = rows[0], rows[-1]
        empty, full = first["cache_gb"], last["cache_gb"]
        left = 100 * full / empty if empty and full is not None else None
        title = "SLC cache"
        return Measured(
            count * piece_bytes_on(target.capacity_bytes),
            values=(
                Value("empty_gb", f"{title} of the empty drive", empty, "GB", "higher"),
                Value("full_gb", f"{title}, nine tenths full", full, "GB", "higher"),
                Value("left_percent", "The latter of the former", left, "%", "higher"),
                Value(
                    "full_mb_per_s", "Burst, nine tenths full", last["first_mb_per_s"], "MB/s",
                    "higher",
                ),
            ),
            tables=(Table("levels", "Bursts by fill level", columns, tuple(rows)),),
            notes=_notes(target, empty is not None),
            charts=(
                Chart("levels", "SLC cache by fill level", "bars", "full_percent", "cache_gb"),
            ),
        )  # fmt: skip

    @property
    def time_text(self) -> str:
        """How long it measures."""
        return "until the speed falls, at each level"


@dataclass(frozen=True, kw_only=True)
class CacheAfterPause(SlcCache):
    """A burst after every pause."""

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes."""
        return 2 * capacity_bytes / 200e9

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Uses up the cache of a drive that is a quarter full, and writes on after each pause, on
        copies."""
        pauses = QUICK_PAUSES_S if quick else PAUSES_S
        count = target.capacity_bytes // piece_bytes_on(target.capacity_bytes)
        begin = count * FULL // 100
        _fill(target, 0, begin, seed, progress, 0.1)
        target.idle(REST_S * NS_PER_S)
        most = begin + int(BURST_MAX * count)
        first = self.write(target, (begin, most), seed, progress, 0.3, goes_on=True)
        at = begin + len(first.mb_per_s)
        if first.cached is not None:
            size = first.piece_bytes
            behind = range(at, min(count, at + BEHIND_CACHE))
            for piece in behind:
                self._piece(target, piece, size, seed, progress, 0.1 / len(behind))
            at = behind.stop
        else:
            progress.add(0.1)
        share = 0.5 / len(pauses)
        rows = [
            self._after(target.clone(), pause_s, at, first, seed, progress, share)
            for pause_s in pauses
        ]
        columns = (
            Column("pause_s", "Pause", "s"),
            Column("fast_gb", "Written as fast as before", "GB"),
            Column("first_mb_per_s", "First pieces", "MB/s"),
        )
        whole = first.gb(first.cached) if first.cached else None
        values = [
            Value("cache_gb", "SLC cache before it was used up", whole, "GB", "higher"),
            Value(
                "used_up_mb_per_s",
                "Speed without a pause",
                rows[0]["first_mb_per_s"],
                "MB/s",
                "higher",
            ),
        ]
        for row in rows:
            if row["pause_s"] in QUICK_PAUSES_S[1:]:
                found = row["fast_gb"]
                back = 100 * found / whole if whole and found is not None else None
                title = f"As fast as before after {row['pause_s']} s, of that cache"
                name = f"after_{row['pause_s']}_s_percent"
                values.append(Value(name, title, back, "%", "higher"))
        left = count - at
        short = first.cached is not None and left < first.cached
        return Measured(
            count * piece_bytes_on(target.capacity_bytes),
            notes=(
                *([f"bursts after pauses end with the drive, at {first.gb(left):.4g} GB"] * short),
                *_notes(target, first.cached is not None),
            ),
            values=tuple(values),
            tables=(Table("pauses", "Bursts after pauses", columns, tuple(rows)),),
            charts=(Chart("pauses", "Speed after a pause", "bars", "pause_s", "first_mb_per_s"),),
        )

    def _after(
        self,
        target: Target,
        pause_s: int,
        at: int,
        first: Burst,
        seed: int,
        progress: TaskProgress,
        share: float,
    ) -> dict[str, Any]:
        count = target.capacity_bytes // first.piece_bytes
        target.idle(pause_s * NS_PER_S)
        end = min(count, at + max(int(SECOND_MAX * count), first.cached or 0))
        burst = self.write(target, (at, end), seed, progress, share)
        return {
            "pause_s": pause_s,
            "fast_gb": burst.fast_gb(first.cached_mb_per_s),
            "first_mb_per_s": burst.first_mb_per_s,
        }

    @property
    def time_text(self) -> str:
        """How long it measures."""
        return "until the speed falls, after each pause"


def _fill(
    target: Target, first: int, last: int, seed: int, progress: TaskProgress, share: float
) -> None:
    """Writes the pieces from the first to the one before the last."""
    if last == first:
        return
    size = piece_bytes_on(target.capacity_bytes)
    job = Job(
        name="fill",
        rw="write",
        block_sizes=(BlockSize(bytes=BLOCK_BYTES),),
        offset_bytes=first * size,
        span_bytes=(last - first) * size,
        data=parse_data_pattern(RANDOM),
        seed=derive_seed(seed, "fill", str(first)),
    )
    target.run([job], progress, share)


def _notes(target: Target, has_cache: bool) -> tuple[str, ...]:
    """What must be known of these bursts."""
    return small_version.notes(target, SMALL) if has_cache else (NO_CACHE,)


PROCEDURES = (
    CacheByFill(
        id="cache-by-fill",
        title="SLC cache by fill level: bursts of 1 MiB write, QD1, on an empty to a full drive",
        group="sweeps",
        states=("new",),
        begins_new=True,
        kinds=("flash",),
        extra_drives=1,
    ),
    CacheAfterPause(
        id="cache-after-pause",
        title="SLC cache after a pause of 0 s to 30 minutes: bursts of 1 MiB write, QD1",
        group="sweeps",
        states=("new",),
        begins_new=True,
        kinds=("flash",),
        extra_drives=1,
    ),
)
