"""Pieces that are written one after the other, each with a speed of its own, and where it falls."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from statistics import median

from drivelab.procedures.flow import flow
from drivelab.progress import TaskProgress
from drivelab.targets import Target
from drivelab.workload import Job

FIRST = 3
"""Pieces that say what full speed is, the first of which a write buffer may have taken."""
FULL_SPEED = 0.8
"""What is left of its speed where it has fallen, or a burst has become slow."""
FALLEN = 3
"""Pieces that are all slower, where the speed has fallen."""
BUFFERS = 2
"""What a write buffer takes that is emptied meanwhile, in times of which something else has taken
what was fast."""


def buffer_bytes(target: Target) -> int:
    """What the write buffers of a drive hold, of an array those of all its drives; 0 where nobody
    knows."""
    return int(target.parameter("write_buffer_bytes") or 0)


def is_buffers(
    fast_bytes: float, held_bytes: float, fast_mb_per_s: float, behind_mb_per_s: float
) -> bool:
    """Whether what was written before the speed fell is no more than a write buffer takes that
    holds so much. While it is filled it is emptied as fast as the drive is behind that place."""
    return fast_bytes * (1 - behind_mb_per_s / fast_mb_per_s) <= BUFFERS * held_bytes


def write(target: Target, job: Job, progress: TaskProgress, share: float) -> float:
    """Writes one, which is `share` (0 to 1) of the task; its speed in MB/s."""
    mb_per_s = flow(target.run([job], progress, share), "write")["mb_per_s"]
    assert mb_per_s is not None, "a piece has at least one request, which takes time"
    return float(mb_per_s)


def mean(mb_per_s: Sequence[float]) -> float:
    """Speed of pieces of one size together."""
    return len(mb_per_s) / sum(1 / each for each in mb_per_s)


class Fall:
    """Hears speeds of pieces one by one, until so many in a row are slow as say that it has fallen,
    from `full` or from what it was until then."""

    def __init__(self, full: float | None = None) -> None:
        self._full = full
        self._count = 0
        self._before: list[float] = []
        """What says how fast it was, in order of size."""
        self._last: list[float] = []

    def has_come(self, mb_per_s: float) -> bool:
        """Whether it has fallen with this one, `FALLEN` pieces ago."""
        self._count += 1
        self._last.append(mb_per_s)
        if len(self._last) > FALLEN:
            past = self._last.pop(0)
            # The first may be a write buffer's.
            if self._count > FALLEN + 1:
                insort(self._before, past)
        if self._count < FALLEN + (0 if self._full else FIRST):
            return False
        return max(self._last) < FULL_SPEED * (self._full or median(self._before))


def fast_pieces(mb_per_s: Sequence[float], full: float | None = None) -> int:
    """Pieces before so many in a row are slow as say that the speed has fallen, from `full` or from
    what it was until then."""
    fall = Fall(full)
    fallen = (at for at, speed in enumerate(mb_per_s, 1) if fall.has_come(speed))
    return next((at - FALLEN for at in fallen), len(mb_per_s))
