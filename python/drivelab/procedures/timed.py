"""Random requests of 4 KiB all over a drive for a time: of these are tests of several jobs beside
each other made."""

from __future__ import annotations

from typing import Literal

from drivelab.data_patterns import parse_data_pattern
from drivelab.procedures.stream import RANDOM
from drivelab.quantities import KIB, NS_PER_S
from drivelab.targets import Target
from drivelab.workload import BlockSize, Job

BLOCK_BYTES = 4 * KIB
RAMP_SHARE = 0.25
"""The first part of the time, which isn't measured."""


def fits(capacity_bytes: int) -> bool:
    """Whether a drive of this size has places to choose from."""
    return capacity_bytes >= 256 * BLOCK_BYTES


def job(
    name: str,
    rw: Literal["randread", "randwrite", "randrw"],
    target: Target,
    seed: int,
    seconds: float,
) -> Job:
    """One request at a time for so long."""
    ramp_s = RAMP_SHARE * seconds
    return Job(
        name=name,
        rw=rw,
        block_sizes=(BlockSize(bytes=BLOCK_BYTES),),
        span_bytes=target.capacity_bytes - target.capacity_bytes % BLOCK_BYTES,
        runtime_ns=round((seconds - ramp_s) * NS_PER_S),
        ramp_ns=round(ramp_s * NS_PER_S),
        time_based=True,
        data=parse_data_pattern(RANDOM),
        seed=seed,
    )
