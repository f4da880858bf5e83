"""Rounds of random writes that wear a drive out, and from which of them on it is as it stays.

The first rounds are not: until every block was erased once the drive lives on what was free, and
where an erase makes room for little, a whole rated life of a few erases is over before all that
was written in order lies at random. Of the thousands of erases of a real life that is nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.counters import spent, write_amplification
from drivelab.data_patterns import parse_data_pattern
from drivelab.procedures import steady_writes
from drivelab.procedures.stream import RANDOM
from drivelab.progress import TaskProgress
from drivelab.quantities import derive_seed
from drivelab.targets import Target
from drivelab.workload import BlockSize, Job

Counters = dict[str, float]

ROUND_SHARE = 1 / 2
"""Bytes of a round, as a share of the drive."""
WARM_UP_ERASES = 1
"""Mean erases of a block before the rate of erases may be that of the years to come."""
SETTLED_RATIO = 1.1
"""Write amplification of two rounds in a row that are no further apart, whichever is larger, is
taken to have settled. A rated life is a handful of rounds here: too few for the window by which
other tests see a steady drive (`steady_writes`)."""
MOST_ERASES = 8
"""Times the rated erases after which it is given up."""
FIRST_SHARE = 0.05
"""Share of the bar of the first round, of which nobody knows how many erases it takes."""


@dataclass(frozen=True)
class Rounds:
    """What was counted: before the first round, and at the end of each."""

    counters: tuple[Counters, ...]

    @property
    def first(self) -> Counters:
        """Before the first."""
        return self.counters[0]

    @property
    def last(self) -> Counters:
        """At the end of the last."""
        return self.counters[-1]

    def spent(self, number: int) -> Counters:
        """In a round, counted from 1 on."""
        return spent(self.counters[number - 1], self.counters[number])

    def amplification(self, number: int) -> float:
        """Write amplification of a round."""
        return write_amplification(self.spent(number)) or 0.0

    def warm_up(self) -> tuple[int, bool]:
        """How many rounds weren't as those to come, and whether that was seen to end.

        If it wasn't: all but the last. Where blocks were retired meanwhile, every round costs more
        than the one before for good: then only those until each block was erased once.
        """
        numbers = range(1, len(self.counters) - 1)
        may_be = [n for n in numbers if self.counters[n]["erase_count_mean"] >= WARM_UP_ERASES]
        for number in may_be:
            growth = self.amplification(number + 1) / (self.amplification(number) or 1.0)
            if 1 / SETTLED_RATIO < growth < SETTLED_RATIO:
                return number, True
        if not may_be:
            return 0, False
        retires = self.last["blocks_retired"] > self.first["blocks_retired"]
        return (may_be[0] if retires else may_be[-1]), False


def has_ended(counters: Counters) -> bool:
    """Whether something is lost, or the drive only reads."""
    return bool(counters["uncorrectable_codewords"] or counters["read_only"])


def run(drive: Target, name: str, erases: int, seed: int, progress: TaskProgress) -> Rounds:
    """Writes a filled drive at random until it has ended, or has `MOST_ERASES` times the rated
    erases behind it; `progress` comes to nine tenths more, at most."""
    size = int(drive.capacity_bytes * ROUND_SHARE)
    counters = [drive.counters()]
    share = FIRST_SHARE
    while len(counters) == 1 or not (
        has_ended(counters[-1]) or counters[-1]["erase_count_mean"] > MOST_ERASES * erases
    ):
        job = Job(
            name=name,
            rw="randwrite",
            block_sizes=(BlockSize(bytes=steady_writes.WRITE_BYTES),),
            io_bytes=size - size % steady_writes.WRITE_BYTES,
            queue_depth=min(steady_writes.QUEUE_DEPTH, drive.queue_depth),
            data=parse_data_pattern(RANDOM),
            seed=derive_seed(seed, str(len(counters) - 1)),
        )
        # Never all that is left: nobody knows which round is the last.
        drive.run([job], progress, min(share, 0.5 * max(0.0, 0.95 - progress.fraction)))
        counters.append(drive.counters())
        before, after = (found["erase_count_mean"] for found in counters[-2:])
        share = 0.9 * (after - before) / (MOST_ERASES * erases)
    return Rounds(tuple(counters))


def rows(
    rounds: Rounds, behind: float, erases: int, ends: Sequence[float] | None
) -> list[dict[str, Any]]:
    """The table of the rounds. `behind`: erases before the first; `ends`: TB written in all, before
    the first and at the end of each, if known."""
    found = []
    for number, after in enumerate(rounds.counters[1:], 1):
        used = rounds.spent(number)
        found.append(
            {
                "tbw": ends[number] if ends else None,
                "rated_percent": 100 * (behind + after["erase_count_mean"]) / erases,
                "write_amplification": write_amplification(used),
                "read_retries": used["read_retries"],
                "lost_codewords": used["uncorrectable_codewords"],
                "blocks_retired": after["blocks_retired"],
            }
        )
    return found
