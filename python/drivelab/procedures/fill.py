"""A fill: the whole drive written once, in order, and its speed over what has been written.

Writes of 1 MiB, queue depth 1, from the first logical block to the last, as reviews fill drives to
see their SLC cache: as long as it takes data they are fast, behind it as slow as the drive empties
it or writes natively. The drive is cut into pieces of equal size; the speed of each is measured
from its first command to its last. Where it falls at once, and for as much as was fast or to the
end, the cache ends; a drive without one has no such place, a hard disk gets slower too gently to
have one, and what a write buffer takes is no cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median
from typing import Any

from drivelab.data_patterns import parse_data_pattern
from drivelab.procedures.flow import COLUMNS, flow
from drivelab.procedures.measured import Chart, Column, Measured, Table, Value
from drivelab.procedures.pieces import buffer_bytes, is_buffers
from drivelab.procedures.procedure import Procedure
from drivelab.procedures.stream import RANDOM
from drivelab.progress import TaskProgress
from drivelab.quantities import GB, MIB, derive_seed
from drivelab.targets import Target
from drivelab.workload import BlockSize, Job

BLOCK_BYTES = MIB
PIECES = 200
PIECE_BYTES_MIN = 8 * MIB
"""About what a write buffer holds: of smaller ones it would take many."""
CHANGE = 0.2
"""How much slower than before it a piece is, at least, where the cache ends."""
BEFORE, BEHIND = 5, 3
"""Pieces in front of that place whose median is taken, at most; pieces behind it that are all
slower, and that lie in front of it, at least."""


def bounds_on(capacity_bytes: int, pieces: int) -> list[int]:
    """Where so many pieces of a drive of this size begin, and where the last ends; whole blocks."""
    blocks = capacity_bytes // BLOCK_BYTES
    count = min(pieces, capacity_bytes // PIECE_BYTES_MIN)
    return [index * blocks // count * BLOCK_BYTES for index in range(count + 1)]


def falls_at(mb_per_s: Sequence[float], at: int, begin: int = 0) -> bool:
    """Whether the speed falls at once behind so many pieces, of which those from `begin` on count,
    for as many as are looked at."""
    least = (1 - CHANGE) * median(mb_per_s[max(begin, at - BEFORE) : at])
    return mb_per_s[at - 1] >= least > max(mb_per_s[at : at + BEHIND])


def cache_pieces(mb_per_s: Sequence[float], held: float = 0) -> int | None:
    """Pieces in front of the place where the cache ends; None: there is none.

    There the speed falls at once, and the mean of as many pieces behind as there were before, or of
    all that follow, is lower than those were, too: fewer slow ones are a pause of the drive, and
    however slow (so the mean is that of speeds, not bytes over time). `held` is what its write
    buffer holds, in pieces: what that takes is no cache, but one may follow.
    """
    begin = 0
    for at in range(BEHIND, len(mb_per_s) - BEHIND + 1):
        if at - begin < BEHIND or not falls_at(mb_per_s, at, begin):
            continue
        full, behind = median(mb_per_s[begin:at]), fmean(mb_per_s[at : 2 * at - begin])
        if behind < (1 - CHANGE) * full:
            if not is_buffers(at - begin, held, full, behind):
                return at
            begin = at
    return None


NO_CACHE = (
    "the speed falls nowhere as it does behind an SLC cache: the drive has none, or none that ends "
    "within what was written"
)


@dataclass(frozen=True, kw_only=True)
class Fill(Procedure):
    """The whole drive, piece by piece."""

    pieces: int = PIECES
    """Fewer where the drive is small. Of a quick fill, too, which writes as much: of fewer and
    larger pieces, three are more than some caches."""
    host_ns: int = 0
    """What the host takes from the end of a command to the next."""

    def fits(self, capacity_bytes: int) -> bool:
        """Whether a drive of this size has pieces enough to see a cache end."""
        return capacity_bytes >= 4 * BEHIND * PIECE_BYTES_MIN

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes; a quick fill writes as much."""
        return capacity_bytes / 200e9

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Fills a drive that is in the wanted state."""
        bounds = bounds_on(target.capacity_bytes, self.pieces)
        rows: list[dict[str, Any]] = []
        for start, end in pairwise(bounds):
            job = self._job(start, end - start, seed)
            numbers = flow(target.run([job], progress, 1 / (len(bounds) - 1)), "write")
            row = {"written_gb": end / GB, "written_percent": 100 * end / bounds[-1]}
            rows.append(row | {key: numbers[key] for key in ("mb_per_s", "duration_s", "max_ms")})
        columns = (
            Column("written_gb", "Written", "GB"),
            Column("written_percent", "Written", "%"),
            *(COLUMNS[key] for key in ("mb_per_s", "duration_s", "max_ms")),
        )
        values = _values(rows, buffer_bytes(target) / (bounds[1] - bounds[0]))
        has_cache = any(value.name == "cache_gb" and value.value is not None for value in values)
        return Measured(
            bounds[-1],
            values=values,
            notes=() if has_cache else (NO_CACHE,),
            tables=(Table("fill", "Speed over bytes written", columns, tuple(rows)),),
            charts=(Chart("fill", "Speed of a fill", "lines", "written_gb", "mb_per_s"),),
        )

    def _job(self, start: int, size: int, seed: int) -> Job:
        return Job(
            name=self.id,
            rw="write",
            block_sizes=(BlockSize(bytes=BLOCK_BYTES),),
            offset_bytes=start,
            span_bytes=size,
            thinktime_ns=self.host_ns,
            data=parse_data_pattern(RANDOM),
            seed=derive_seed(seed, str(start)),
        )

    @property
    def time_text(self) -> str:
        """How long it measures."""
        return "once over"

    @property
    def data_text(self) -> str:
        """What is written."""
        return RANDOM


def _values(rows: Sequence[dict[str, Any]], held: float) -> tuple[Value, ...]:
    rates = [float(row["mb_per_s"]) for row in rows]
    at = cache_pieces(rates, held)
    # The last piece in front of the end may be partly behind it: the median leaves it out.
    cached, behind = (median(rates[:at]), _speed(rows[at:])) if at else (None, None)
    size = (rows[at - 1]["written_gb"], rows[at - 1]["written_percent"]) if at else (None, None)
    return (
        Value("cache_gb", "Written until the speed falls", size[0], "GB", "higher"),
        Value("cache_percent", "The same, of the drive's capacity", size[1], "%", "higher"),
        Value("cached_mb_per_s", "Speed before it falls", cached, "MB/s", "higher"),
        Value("behind_mb_per_s", "Speed after it has fallen", behind, "MB/s", "higher"),
        Value("lowest_mb_per_s", "Lowest speed of a piece", min(rates), "MB/s", "higher"),
        Value("mean_mb_per_s", "Mean speed of the fill", _speed(rows), "MB/s", "higher"),
    )


def _speed(rows: Sequence[dict[str, Any]]) -> float:
    """Bytes over time of several pieces."""
    seconds = sum(float(row["duration_s"]) for row in rows)
    moved = sum(float(row["mb_per_s"]) * float(row["duration_s"]) for row in rows)
    return moved / seconds


PROCEDURES = (
    Fill(
        id="fill",
        title="Fill of the whole drive, 1 MiB write, QD1: speed over bytes written",
        group="pass",
        states=("new",),
    ),
)
