"""Jobs of the laboratory as fio's options."""

from __future__ import annotations

import pytest

from drivelab.errors import RequestError
from drivelab.fio.block_sizes import range_sizes
from drivelab.quantities import MIB, NS_PER_S
from drivelab.targets.fio.options import job_options
from drivelab.workload import (
    BlockSize,
    Compressible,
    DataPattern,
    Job,
    RandomBytes,
    Repeating,
    Zeros,
    Zone,
    Zoned,
)

CAPACITY = 64 * MIB


def options(sector_bytes: int = 512, **fields: object) -> dict[str, str]:
    return job_options(Job.model_validate({"name": "job"} | fields), CAPACITY, sector_bytes)


def test_a_job_says_everything_that_decides_its_requests() -> None:
    found = options(
        rw="randrw",
        read_percent=65,
        block_sizes=(BlockSize(bytes=65_536),),
        align_bytes=4096,
        offset_bytes=MIB,
        queue_depth=32,
        runtime_ns=60 * NS_PER_S,
        time_based=True,
        seed=7,
    )
    wanted = {
        "rw": "randrw",
        "rwmixread": "65",
        "bs": "65536,65536,65536",
        "blockalign": "4096",
        "offset": str(MIB),
        "size": str(63 * MIB),
        "iodepth": "32",
        "runtime": "60000ms",
        "time_based": "1",
        "norandommap": "1",
        "randseed": "7",
    }
    assert wanted.items() <= found.items()


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (Zeros(), {"zero_buffers": "1"}),
        (Repeating(), {"buffer_pattern": "0x5a"}),
        (RandomBytes(), {"refill_buffers": "1"}),
        (
            Compressible(compressed_percent=46, duplicate_percent=30),
            {"buffer_compress_percentage": "54", "dedupe_percentage": "30"},
        ),
    ],
)
def test_patterns_are_fios_buffers(data: DataPattern, wanted: dict[str, str]) -> None:
    assert wanted.items() <= options(rw="write", data=data).items()


def test_several_sizes_and_zones_keep_their_shares() -> None:
    found = options(
        rw="randread",
        block_sizes=(BlockSize(bytes=4096, weight=3), BlockSize(bytes=8192, weight=1)),
        distribution=Zoned(
            zones=(
                Zone(access_percent=80, size_percent=20),
                Zone(access_percent=20, size_percent=80),
            )
        ),
    )
    assert found["bssplit"] == ",".join(["4096/75:8192/25"] * 3)
    assert found["random_distribution"] == "zoned:80/20:20/80"


def test_what_is_of_fio_alone_goes_back_to_fio_as_it_came() -> None:
    found = options(
        rw="randwrite",
        block_sizes=range_sizes(4096, 65_536),
        loops=2,
        io_requests=2000,
        rate_iops=100,
        rate_process="poisson",
        fua=True,
        flush_at_end=True,
    )
    wanted = {
        "bsrange": ",".join(["4096-65536"] * 3),
        "number_ios": "1000",
        "rate_process": "poisson",
        "sync": "dsync",
        "end_fsync": "1",
    }
    assert wanted.items() <= found.items()
    assert "bssplit" not in found


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"rw": "rw", "read_percent": 33.3}, "read_percent = 33.3: fio takes whole percentages"),
        (
            {"rw": "write", "data": Compressible(compressed_percent=46.5)},
            "compression saves = 53.5: fio takes whole",
        ),
        ({"offset_bytes": CAPACITY}, "leave the drive"),
        ({"rw": "write", "write_hint": 3}, "write_hint, or a placement identifier: allowed on mod"),
        ({"queue": 1}, "nvme_queue: allowed on models only"),
        ({"queue_class": "urgent"}, "nvme_queue_class: allowed on models only"),
        ({"rate_bytes_per_s": 100}, "rate 100 bytes/s: fio allows from 1024"),
    ],
)
def test_what_fio_cannot_do_is_refused_by_name(fields: dict[str, object], words: str) -> None:
    with pytest.raises(RequestError, match=words):
        options(**fields)


def test_requests_smaller_than_the_drives_sectors_are_refused() -> None:
    with pytest.raises(RequestError, match="block size 512: this drive takes multiples of 4096"):
        options(sector_bytes=4096, block_sizes=(BlockSize(bytes=512),))
