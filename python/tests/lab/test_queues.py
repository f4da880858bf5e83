"""Jobs on submission queues of their own."""

from __future__ import annotations

import pytest

import drivelab as dl

SMALL = {"controller.queue_depth": 16, "controller.read_firmware_ns": 50_000}
FULL = dl.Job(name="full", rw="randread", bs="4k", iodepth=64, io_size="64m", norandommap=True)
LIGHT = dl.Job(name="light", rw="randread", bs="4k", io_size="400k", norandommap=True)


def light_mean_us(queues: int, light: dl.Job = LIGHT, full: dl.Job = FULL) -> float:
    settings = {**SMALL, "nvme.queue_count": queues}
    drive = dl.Drive("intel-x25-m-g1-80gb", settings, scale="1/64")
    found = drive.run(full, light, progress=False)
    [row] = found.summary.filter(found.summary["job"] == "light").to_dicts()
    return float(row["latency_mean_us"])


def test_a_light_job_beside_a_full_one_waits_less_on_a_queue_of_its_own() -> None:
    one, two = light_mean_us(1), light_mean_us(2)
    assert one > 60 * 50
    assert two < 20 * 50
    # On the full job's queue it waits as if there was one.
    named = (job.with_options(nvme_queue=0) for job in (LIGHT, FULL))
    assert light_mean_us(2, *named) > 60 * 50
    # Which a job that names none leaves to the one that does.
    assert light_mean_us(2, LIGHT.with_options(nvme_queue=0)) < 20 * 50


def test_a_queue_that_the_drive_does_not_have_is_refused() -> None:
    with pytest.raises(dl.RequestError, match=r"queue = 2: must be less than 2, the drive's"):
        light_mean_us(2, LIGHT.with_options(nvme_queue=2))


def test_a_large_request_is_many_commands_of_a_drive_that_takes_small_ones() -> None:
    job = dl.Job(name="a", rw="write", bs="1m", size="8m")
    drive = dl.Drive("intel-x25-m-g1-80gb", {"nvme.max_data_transfer_bytes": 2**17}, scale="1/64")
    found = drive.run(job, keep=True, progress=False)
    assert found.drive.counters["host_write_commands"] == 64
    assert found.summary["ios"].item() == 8
