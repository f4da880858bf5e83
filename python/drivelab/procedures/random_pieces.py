"""Pieces that are written at random places of a drive, until they are slow.

The first ones of a run may be a write buffer's, which takes them faster than the drive is behind it
for as long as it is emptied slower than it is filled: that is no speed of the drive, and its end
none of what a run looks for.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from drivelab.data_patterns import parse_data_pattern
from drivelab.procedures import pieces
from drivelab.procedures.pieces import FALLEN, Fall, buffer_bytes, fast_pieces, is_buffers
from drivelab.procedures.stream import RANDOM
from drivelab.progress import TaskProgress
from drivelab.quantities import KIB, MIB, derive_seed
from drivelab.targets import Target
from drivelab.workload import BlockSize, Job

BLOCK_BYTES = 128 * KIB
QUEUE_DEPTH = 8
PIECE_BYTES_MIN = 2 * MIB
"""Or as much as the write buffer holds."""


def size_of(wanted: float, target: Target) -> int:
    """A size of pieces: whole requests, and no smaller than a write buffer."""
    least = max(PIECE_BYTES_MIN, buffer_bytes(target))
    return max(-(-least // BLOCK_BYTES), int(wanted) // BLOCK_BYTES) * BLOCK_BYTES


@dataclass(frozen=True)
class Run:
    """Pieces that were written one after the other, until they were slow."""

    mb_per_s: list[float]
    begin: int
    """Pieces that the write buffer made faster than those behind it, and fewer than all."""
    fast: int
    """Pieces before the speed fell, with those; or all."""

    @property
    def ends(self) -> bool:
        """Whether it fell."""
        return self.fast < len(self.mb_per_s)

    @property
    def full_mb_per_s(self) -> float:
        """Speed before; the first piece may be faster, in part a buffer's."""
        return median(self.mb_per_s[self.begin + 1 : self.fast])


@dataclass
class Writer:
    """Writes pieces at random places, each time others."""

    target: Target
    seed: int
    name: str
    progress: TaskProgress
    count: int = 0

    def piece(self, size: int, share: float) -> float:
        """Writes one, which is `share` (0 to 1) of the task; its speed in MB/s."""
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
        return pieces.write(self.target, job, self.progress, share)

    def all_of(self, size: int, count: int, share: float) -> list[float]:
        """Speeds of so many pieces."""
        return [self.piece(size, share / count) for _ in range(count)]

    def until_slow(self, size: int, most: int, share: float) -> Run:
        """Writes pieces until several in a row are slower than the others were, behind what the
        write buffer takes, or `most` are written."""
        found: list[float] = []
        begin = 0
        fall, held = Fall(), buffer_bytes(self.target)
        while len(found) < most:
            found.append(self.piece(size, share / most))
            if not fall.has_come(found[-1]):
                continue
            run = Run(found, begin, len(found) - FALLEN)
            behind = median(found[run.fast :])
            if not is_buffers((run.fast - begin) * size, held, run.full_mb_per_s, behind):
                self.progress.add(share * (most - len(found)) / most)
                return run
            begin, fall = run.fast, Fall()
            for speed in found[begin:]:
                fall.has_come(speed)
        return Run(found, begin, len(found))

    def while_fast(self, size: int, most: int, share: float, full: float) -> int:
        """Pieces, `most` at most, before several in a row are slow beside that speed."""
        found: list[float] = []
        fall = Fall(full)
        while len(found) < most:
            found.append(self.piece(size, share / most))
            if fall.has_come(found[-1]):
                break
        self.progress.add(share * (most - len(found)) / most)
        return fast_pieces(found, full)
