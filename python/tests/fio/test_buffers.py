"""What a job file says of its buffers."""

from __future__ import annotations

from pathlib import Path

import pytest
from fio.job_file import CAPACITY, read

from drivelab.fio.jobs import read_workload
from drivelab.workload import Compressible, DataPattern, RandomBytes, Repeating, Zeros

COMPRESSIBLE_46 = Compressible(compressed_percent=46)
BUFFERS: list[tuple[str, DataPattern]] = [
    ("", RandomBytes()),
    ("refill_buffers", RandomBytes()),
    ("scramble_buffers=1", RandomBytes()),
    ("zero_buffers", Zeros()),
    ("zero_buffers=0", RandomBytes()),
    ("zero_buffers\nscramble_buffers=1", Compressible(compressed_percent=4.6875)),
    ("buffer_pattern=0xdeadface", Repeating()),
    ('buffer_pattern="abc"-12', Repeating()),
    ("buffer_pattern=0x0000", Zeros()),
    ("buffer_compress_percentage=54", COMPRESSIBLE_46),
    ("buffer_compress_percentage=100", Zeros()),
    ("buffer_compress_percentage=0", RandomBytes()),
    ("buffer_compress_percentage=54\nbuffer_pattern=0x1", COMPRESSIBLE_46),
    ("buffer_compress_percentage=54\nzero_buffers", COMPRESSIBLE_46),
    ("buffer_compress_percentage=54\nbuffer_compress_chunk=4k\nbs=128k", COMPRESSIBLE_46),
    ("buffer_compress_percentage=54\nbuffer_compress_chunk=0\nbs=4k", COMPRESSIBLE_46),
    ("dedupe_percentage=30", Compressible(duplicate_percent=30, duplicate_pool=1)),
    ("dedupe_percentage=0", RandomBytes()),
    (
        "dedupe_percentage=30\nbuffer_compress_percentage=50\nbs=64k\niodepth=32",
        Compressible(compressed_percent=50, duplicate_percent=30, duplicate_pool=16),
    ),
    (
        "dedupe_percentage=30\ndedupe_mode=working_set\nsize=80m",
        Compressible(duplicate_percent=30, duplicate_pool=1024),
    ),
    (
        "dedupe_percentage=30\ndedupe_mode=working_set\ndedupe_working_set_percentage=50",
        Compressible(duplicate_percent=30, duplicate_pool=65_535),
    ),
    (
        "dedupe_percentage=100\nbs=64k",
        Compressible(duplicate_percent=100, duplicate_pool=1),
    ),
    # The buffers of the start, over and over.
    (
        "scramble_buffers=0\nbs=4k,8k\niodepth=4",
        Compressible(duplicate_percent=100, duplicate_pool=4),
    ),
    (
        "buffer_compress_percentage=54\nrefill_buffers=0",
        Compressible(compressed_percent=46, duplicate_percent=100, duplicate_pool=1),
    ),
]


@pytest.mark.parametrize(("options", "pattern"), BUFFERS)
def test_buffer_options_say_what_is_written(
    tmp_path: Path, options: str, pattern: DataPattern
) -> None:
    found = read(tmp_path, f"[a]\nrw=randwrite\n{options}\n")
    assert found.jobs[0].job.data == pattern
    assert found.ignored == {}


def test_what_a_job_says_of_its_buffers_counts_more_than_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "job.fio"
    path.write_text("[a]\nrw=write\n[b]\nrw=write\nzero_buffers\n", encoding="utf-8")
    found = read_workload(path, CAPACITY, 1, {}, Repeating())
    assert [job.job.data for job in found.jobs] == [Repeating(), Zeros()]
