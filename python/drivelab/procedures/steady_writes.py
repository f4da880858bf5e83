"""Uniform random writes of 4 KiB until write amplification stands still: what studies compare.

The steady state here is that of write amplification, not of PTS: rounds of a sixteenth of the
written range (half of the free flash, if that is less) follow each other until four in a row lie
within 2 %. Before the first round as many bytes are written as the drive has free, because no drive
cleans before it has used them up. What remains is the slow swing of a drive whose blocks were all
filled at the same time: up to 3 % of the amplification where a third or more of the flash is spare.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.counters import write_amplification_of
from drivelab.data_patterns import parse_data_pattern
from drivelab.errors import RequestError
from drivelab.procedures import small_version
from drivelab.procedures.flow import flow
from drivelab.procedures.stream import RANDOM
from drivelab.procedures.study import Study
from drivelab.progress import TaskProgress
from drivelab.quantities import KIB, MIB, NS_PER_S, derive_seed
from drivelab.targets import Report, Target
from drivelab.workload import BlockSize, Job

WRITE_BYTES = 4 * KIB
QUEUE_DEPTH = 32
ROUND_SHARE = 1 / 16
"""Bytes of a round, as a share of the written range, at most."""
ROUND_FREE_SHARE = 1 / 2
"""The same as a share of the free flash: how far a drive swings depends on that."""
WINDOW = 4
"""Rounds that are compared."""
EXCURSION = 0.02
"""(highest - lowest) / mean of the rounds' write amplification, at most."""
ROUNDS_MAX, QUICK_ROUNDS = 24, 1
ROUND_S = 600
"""Longest round in s of the drive's time: what is slower than that copies whole superblocks, and
needs no more writes than that to be steady."""
WARM_UP_S = 4 * 3600
"""Longest time before the first round, for the same drives."""
WARM_UP_MARGIN = 1.1


@dataclass(frozen=True, kw_only=True)
class SteadyStudy(Study):
    """A test whose points are steady random writes, each on a drive of its own."""

    @property
    def time_text(self) -> str:
        """How long it measures."""
        return "to steady state at each point"

    @property
    def data_text(self) -> str:
        """What is written or read."""
        return RANDOM


def notes(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What a reader of a study's points must know."""
    found = [
        f"Steady: write amplification of {WINDOW} rounds in a row within {EXCURSION * 100:.0f} % "
        "of each other; incompressible data."
    ]
    if any(row["steady"] == "no" for row in rows):
        found.append("Points that are not steady were cut off: their numbers may still move.")
    return found


@dataclass(frozen=True)
class Steady:
    """The mean of the last rounds."""

    write_amplification: float | None
    mib_per_s: float
    iops: float
    round_count: int
    steady: bool
    """Whether the rounds came to agree, or were cut off."""


def steady_writes(
    target: Target,
    span_bytes: int,
    free_bytes: int,
    seed: int,
    quick: bool,
    progress: TaskProgress,
    share: float,
) -> Steady:
    """Writes at random within `span_bytes` from LBA 0 until the amplification stands still.

    `free_bytes` of flash hold nothing valid when it begins; of a small version all beside the
    range.
    """
    span_bytes -= span_bytes % WRITE_BYTES

    def write(name: str, byte_count: int, seconds: int, part: float) -> Report:
        job = Job(
            name=f"steady-{name}",
            rw="randwrite",
            block_sizes=(BlockSize(bytes=WRITE_BYTES),),
            span_bytes=span_bytes,
            io_bytes=max(WRITE_BYTES, byte_count - byte_count % WRITE_BYTES),
            runtime_ns=seconds * NS_PER_S,
            queue_depth=min(QUEUE_DEPTH, target.queue_depth),
            data=parse_data_pattern(RANDOM),
            seed=derive_seed(seed, name),
        )
        return target.run([job], progress, share * part)

    is_small = small_version.divisor_of(target) > 1
    # A small version has more erased flash than that: what it holds back is so many blocks at any
    # size, and its SLC cache has whole blocks.
    flash_bytes = int(target.parameter("raw_capacity_bytes") or 0) if is_small else 0
    warm_up_bytes = int(max(free_bytes, flash_bytes - span_bytes) * WARM_UP_MARGIN)
    write("warm-up", warm_up_bytes, WARM_UP_S, 0.4)
    rounds: list[Report] = []
    round_bytes = int(min(span_bytes * ROUND_SHARE, free_bytes * ROUND_FREE_SHARE))
    wanted = QUICK_ROUNDS if quick else ROUNDS_MAX
    done = False
    while len(rounds) < wanted and not done:
        part = 0.6 / (WINDOW + 2) if len(rounds) < WINDOW + 2 else 0.0
        rounds.append(write(f"round-{len(rounds)}", round_bytes, ROUND_S, part))
        done = settled([write_amplification_of([report]) for report in rounds[-WINDOW:]])
    return _summary(rounds[-WINDOW:], len(rounds), done)


def settled(found: Sequence[float | None]) -> bool:
    """Whether the write amplification of the last rounds agrees; None: a round wrote nothing."""
    known = [value for value in found if value is not None]
    if len(known) < WINDOW:
        return False
    return max(known) - min(known) <= EXCURSION * sum(known) / WINDOW


def _summary(window: list[Report], round_count: int, steady: bool) -> Steady:
    numbers = [flow(report, "write") for report in window]
    seconds = sum(float(item["duration_s"] or 0.0) for item in numbers)

    def rate(key: str) -> float:
        moved = sum(float(item[key] or 0.0) * float(item["duration_s"] or 0.0) for item in numbers)
        return moved / seconds if seconds else 0.0

    return Steady(
        write_amplification_of(window), rate("mib_per_s"), rate("iops"), round_count, steady
    )


def fill(target: Target, span_bytes: int, seed: int, progress: TaskProgress, share: float) -> None:
    """Writes the first `span_bytes` once in a row with incompressible data."""
    block_bytes = 128 * KIB
    job = Job(
        name="fill",
        rw="write",
        block_sizes=(BlockSize(bytes=min(block_bytes, span_bytes)),),
        span_bytes=span_bytes,
        data=parse_data_pattern(RANDOM),
        seed=derive_seed(seed, "fill"),
    )
    target.run([job], progress, share)


SPARE_KEYS = ("spare_ratio", "member.spare_ratio")
"""What says how much of the flash the host can't address: of a drive, of the drives of an array."""


def with_spare(target: Target, spare_ratio: float) -> Target:
    """A new drive of the same model and flash with this spare area over user capacity.

    A partition of the model's is made as large as the drive then is. Raises RequestError if the
    model can't have it.
    """
    original = target.original
    whole: list[tuple[str, str]] = []
    if original is not None and original.is_partitioned:
        size = int(original.raw_bytes / (1 + spare_ratio))
        whole = [("partition_bytes", str(size - size % MIB))]
    refused: list[RequestError] = []
    for key in SPARE_KEYS:
        try:
            return target.variant([(key, f"{spare_ratio:.6g}"), *whole])
        except RequestError as error:
            refused.append(error)
    raise next((error for error in refused if error.key == "partition_bytes"), refused[0])


def raw_bytes(target: Target) -> int:
    """Bytes of all flash of a drive; raises RequestError where there is no model."""
    # With as much spare area as user capacity the host sees half of the flash.
    return 2 * with_spare(target, 1.0).capacity_bytes


def row(found: Steady) -> dict[str, Any]:
    """The columns that every study has."""
    return {
        "write_amplification": found.write_amplification,
        "mib_per_s": found.mib_per_s,
        "iops": found.iops,
        "rounds": found.round_count,
        "steady": "yes" if found.steady else "no",
    }
