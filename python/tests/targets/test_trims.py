"""Trims of a whole drive reach its last sector."""

from __future__ import annotations

import pytest

from drivelab.quantities import MIB
from drivelab.targets import trims


@pytest.mark.parametrize("capacity_bytes", [512, 32 * MIB, 64 * MIB, 64 * MIB + 512, 650_379_264])
def test_jobs_cover_everything_once(capacity_bytes: int) -> None:
    next_byte = 0
    for job in trims.of_everything("trim", capacity_bytes):
        [size] = job.block_sizes
        assert (job.rw, job.offset_bytes) == ("trim", next_byte)
        assert size.bytes <= trims.TRIM_BYTES
        # fio leaves out what is less than a command.
        assert job.span_bytes is not None
        assert job.span_bytes % size.bytes == 0
        next_byte += job.span_bytes
    assert next_byte == capacity_bytes
