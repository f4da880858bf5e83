"""What states are made of: passes, image copies, torture, TRIM, rest. Every constant is here.

The depth of the passes and the rest are assumed; block sizes, depths and durations else are the
reviews'. Data are patterns of `data_patterns.py`; only drives that compress look at them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from drivelab.data_patterns import parse_data_pattern
from drivelab.progress import TaskProgress
from drivelab.quantities import KIB, NS_PER_S, derive_seed
from drivelab.states.image import ImageCopy
from drivelab.targets import EngineTarget, Target, trims
from drivelab.targets.going import EngineRun
from drivelab.workload import FLUSH, BlockSize, Job, Recorded, Requests

REPEATING, RANDOM = "repeating", "random"


@dataclass(frozen=True)
class Fill:
    """One sequential pass over all logical blocks. Block size as the reviews; depth assumed."""

    data: str = REPEATING
    write_bytes: int = 128 * KIB
    queue_depth: int = 1


@dataclass(frozen=True)
class Torture:
    """Random writes over all logical blocks, as the reviews describe them."""

    data: str = REPEATING
    minutes: int = 20
    write_bytes: int = 4 * KIB
    queue_depth: int = 32


REST_NS = 60 * NS_PER_S
"""Time that the drive stands idle between its preparation and a test. Source: assumed."""
LOOK_NS = 10 * NS_PER_S
"""How often torture looks whether its drive still takes writes."""


def refused(before: Mapping[str, float], after: Mapping[str, float]) -> bool:
    """Whether the drive refused commands between two readings of its counters."""
    return after.get("refused_commands", 0) > before.get("refused_commands", 0)


def fill(target: Target, seed: int, progress: TaskProgress, share: float, step: Fill) -> None:
    """Writes all logical blocks once, in ascending order."""
    block_bytes = min(step.write_bytes, target.capacity_bytes)
    job = Job(
        name="fill",
        rw="write",
        block_sizes=(BlockSize(bytes=block_bytes),),
        span_bytes=target.capacity_bytes,
        queue_depth=step.queue_depth,
        data=parse_data_pattern(step.data),
        seed=derive_seed(seed, "fill"),
    )
    target.run([job], progress, share)


def copy_image(
    target: Target, seed: int, progress: TaskProgress, share: float, image: ImageCopy
) -> None:
    """Copies the file-system image, sector by sector."""
    # Takes a while to load, which processes that never copy one don't need.
    from drivelab.states.image_writes import image_requests

    requests = image_requests(target.capacity_bytes, seed, image)
    if not len(requests):
        return
    job = Job(
        name="image-copy",
        source=Recorded(pacing="closed"),
        queue_depth=image.queue_depth,
        data=parse_data_pattern(image.data),
        seed=derive_seed(seed, "image-copy"),
    )
    target.run_requests(job, requests, progress, share)


def torture(target: Target, seed: int, progress: TaskProgress, share: float, step: Torture) -> None:
    """Writes at random places of the whole drive for a time."""
    job = Job(
        name="torture",
        rw="randwrite",
        block_sizes=(BlockSize(bytes=step.write_bytes),),
        span_bytes=target.capacity_bytes,
        queue_depth=step.queue_depth,
        runtime_ns=step.minutes * 60 * NS_PER_S,
        time_based=True,
        data=parse_data_pattern(step.data),
        seed=derive_seed(seed, "torture"),
    )
    if isinstance(target, EngineTarget) and "refused_commands" in target.counters():
        _run_while_writing(target, job, progress, share)
    else:
        target.run([job], progress, share)


def _run_while_writing(
    target: EngineTarget, job: Job, progress: TaskProgress, share: float
) -> None:
    """The same as `target.run`, given up where the drive's life ends: to refuse takes it no time,
    so the minutes that are left are hundreds of millions of commands."""
    assert job.runtime_ns is not None
    before, until_ns = target.counters(), target.now_ns
    part = share * LOOK_NS / job.runtime_ns
    run = EngineRun(target, [job], log=False, copy=False)
    while not run.advance(until_ns := until_ns + LOOK_NS, progress, part):
        if refused(before, target.counters()):
            run.stop()


def trim(target: Target, seed: int, progress: TaskProgress, share: float) -> None:
    """Says of all logical blocks that they are free; for a drive without TRIM nothing happens."""
    for job in trims.of_everything("trim", target.capacity_bytes, derive_seed(seed, "trim")):
        target.run([job], progress, share * (job.span_bytes or 0) / target.capacity_bytes)


def settle(target: Target, progress: TaskProgress) -> None:
    """Flushes the write buffer and lets the drive rest."""
    job = Job(name="flush", source=Recorded(pacing="closed"))
    target.run_requests(job, Requests.of([(FLUSH, 0, 0)]), progress, 0.0)
    target.idle(REST_NS)
