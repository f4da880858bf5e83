"""Flushes of a job, beside what it read, wrote and trimmed."""

from __future__ import annotations

from drivelab.fio.output import FLASH_KEYS, Record

FLUSHES = "flush"
"""Beside directions, where tables tell latencies: what the flushes of a job took."""


def flushes_of(job: Record) -> Record:
    """What a job of a document says of its flushes, in the form of a direction; they move no
    bytes, and of flash nothing is theirs."""
    count, seconds = job["sync"]["total_ios"], job["job_runtime"] / 1000
    return {
        "total_ios": count,
        "io_bytes": None,
        "iops": count / seconds if seconds else None,
        "bw_bytes": None,
        "lat_ns": job["sync"]["lat_ns"],
        "clat_ns": job["sync"]["lat_ns"],
        "drivelab": dict.fromkeys(FLASH_KEYS),
    }
