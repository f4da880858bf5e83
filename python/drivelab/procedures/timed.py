"""Random requests of 4 KiB all over a drive for a time: of these are tests of several jobs beside
each other made."""

from __future__ import annotations

from itertools import zip_longest
from typing import Literal

from drivelab.counters import program_bytes, spent_in
from drivelab.data_patterns import parse_data_pattern
from drivelab.procedures.stream import RANDOM
from drivelab.quantities import KIB, NS_PER_S
from drivelab.targets import Report, Target
from drivelab.workload import BlockSize, Job

BLOCK_BYTES = 4 * KIB
RAMP_SHARE = 0.25
"""The first part of the time, which isn't measured."""
MOMENTS = 40
"""Of the time at saturation, by which it is seen to get slower."""
FALLEN = 0.8
"""Writes of the last third in parts of the first third's, or free blocks after in parts of those
before: below it, the writes were not what remains. Thirds of 5 s are uneven by a tenth and more."""


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


def in_moments(timed_job: Job, seconds: float) -> Job:
    """The job with the times of its requests counted in as many moments as `unsettled` looks at."""
    return timed_job.model_copy(update={"series_interval_ns": round(seconds * NS_PER_S / MOMENTS)})


def unsettled(report: Report) -> str:
    """Why writes that didn't wait aren't what a drive of flash can do for long; empty if they may
    be, or the drive doesn't count what it programs. Of jobs `in_moments`."""
    used = spent_in(report)
    if not program_bytes(used):
        return ""
    if not sum(used.get(f"program_bytes_{purpose}", 0) for purpose in ("cleaning", "folding")):
        return "nothing was cleaned or folded while the drive was saturated"
    # A series ends with the last request of its job; the last moment is cut off by the time's end.
    of_jobs = [job["write"]["series"]["ios"] for job in report["jobs"]]
    ios = [sum(moment) for moment in zip_longest(*of_jobs, fillvalue=0)][:-1]
    third = len(ios) // 3
    if third and sum(ios[-third:]) < FALLEN * sum(ios[:third]):
        percent = 100 * sum(ios[-third:]) / sum(ios[:third])
        return f"the last third of the time had {percent:.0f} % of the first's writes"
    free = [report[key].get("free_blocks", 0) for key in ("counters_before", "counters_after")]
    if free[1] < FALLEN * free[0]:
        return f"of {free[0]} free blocks {free[1]} were left after saturation"
    return ""
