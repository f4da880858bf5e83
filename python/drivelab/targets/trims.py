"""Trims of a whole drive, in commands of a size that hosts send."""

from __future__ import annotations

from drivelab.quantities import MIB, SECTOR_BYTES
from drivelab.workload import TRIM, BlockSize, Job, Requests

TRIM_BYTES = 32 * MIB
"""Longest range of one TRIM command: 65 536 sectors."""


def of_everything(name: str, capacity_bytes: int, seed: int = 1) -> list[Job]:
    """Jobs that trim all of a drive one after the other; the last one what is less than a command.

    fio leaves that out of a job of whole commands.
    """
    behind = capacity_bytes - capacity_bytes % TRIM_BYTES
    parts = ((0, behind, TRIM_BYTES), (behind, capacity_bytes - behind, capacity_bytes - behind))
    return [
        Job(
            name=name,
            rw="trim",
            block_sizes=(BlockSize(bytes=size),),
            offset_bytes=offset,
            span_bytes=span,
            seed=seed,
        )
        for offset, span, size in parts
        if span
    ]


def of_range(start: int, end: int) -> Requests:
    """Commands that trim a range of bytes, from its start up to its end."""
    rows = [
        (TRIM, first // SECTOR_BYTES, (min(first + TRIM_BYTES, end) - first) // SECTOR_BYTES)
        for first in range(start, end, TRIM_BYTES)
    ]
    return Requests.of(rows)
