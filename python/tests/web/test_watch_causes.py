"""Why the flash programs more than the host writes: every byte has a cause, and the right one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from drivelab import Job, counters, workload
from drivelab.progress import TaskProgress
from drivelab.targets import EngineTarget
from drivelab.web import watch_preparing
from drivelab.web.watch_causes import Storing, causes
from drivelab.web.watch_choice import Choice
from drivelab.workload import TRIM, WRITE, Recorded, Requests


def did(target: EngineTarget, **options: Any) -> dict[str, Any]:
    """What a job's counters are, to its end."""
    before = target.counters()
    job = Job(**({"bs": "4k", "size": "8m", "norandommap": True} | options))
    target.run([job.on_drive(target.capacity_bytes, 1, 0).job], TaskProgress("test"))
    return counters.spent(before, target.counters())


def prepared(model: str, state: str = "filled") -> EngineTarget:
    choice = Choice.of({"model": model, "divisor": 64, "state": state})
    return watch_preparing.prepared(choice, TaskProgress("test"))


def found(target: EngineTarget, used: dict[str, Any]) -> dict[str, int]:
    shares = causes(used, Storing.of(target.model))
    assert sum(shares.values()) == (counters.program_bytes(used) or 0) - used["host_write_bytes"]
    return shares


def largest(shares: dict[str, int]) -> str:
    return max(shares, key=lambda name: shares[name])


def test_what_a_flush_leaves_empty_is_padding() -> None:
    target = prepared("crucial-t500-2tb")
    shares = found(target, did(target, rw="write", fsync=1))
    assert largest(shares) == "padding"
    # A page of all planes with one bit a cell holds 96 KiB, and a command 4 KiB of them.
    assert shares["padding"] > 10 * 8 * 2**20


@pytest.mark.parametrize("model", ["intel-x25-m-g1-80gb", "ocz-vertex-120gb", "crucial-t500-2tb"])
def test_writes_of_a_sector_complete_units_of_every_size(model: str) -> None:
    target = prepared(model)
    used = did(target, rw="randwrite", bs="512", size="100%", io_size="256k")
    shares = found(target, used)
    unit_bytes = Storing.of(target.model).unit_bytes
    assert unit_bytes is not None
    assert used["units_rmw"] > 500
    assert shares["completing"] == pytest.approx(512 * (unit_bytes - 512), rel=0.1)


def test_what_waits_in_the_buffer_is_programmed_later_and_that_is_said_of_both_times() -> None:
    target = prepared("intel-x25-m-g2-80gb", "new")
    before = target.counters()
    target.run(
        [Job(rw="write", bs="4k", size="64k").on_drive(target.capacity_bytes, 1, 0).job],
        TaskProgress("test"),
    )
    held = counters.spent(before, target.counters())
    waits = found(target, held).get("buffer", 0)
    assert waits <= 0
    before = target.counters()
    target.idle(10**9)
    left = found(target, counters.spent(before, target.counters()))
    assert left.get("buffer", 0) == -waits


def test_a_drive_whose_units_nobody_knows_has_its_bytes_all_the_same() -> None:
    target = prepared("ocz-vertex-120gb")
    used = did(target, rw="randwrite")
    shares = causes(used, Storing(None))
    assert sum(shares.values()) == (counters.program_bytes(used) or 0) - used["host_write_bytes"]
    assert largest(shares) == "pages"
    assert "completing" not in shares


@pytest.mark.parametrize("size", [4096, 512])
def test_what_is_trimmed_in_the_buffer_waits_there_no_more(size: int) -> None:
    target = prepared("samsung-980-pro-1tb", "new")
    pages = 4096
    lba = np.repeat(np.arange(pages, dtype=np.uint64) * 8, 2)
    requests = Requests(
        op=np.tile(np.array([WRITE, TRIM], dtype=np.uint8), pages),
        lba=lba,
        sector_count=np.tile(np.array([size // 512, 8], dtype=np.uint32), pages),
        arrival_ns=np.zeros(2 * pages, dtype=np.uint64),
    )
    before = target.counters()
    job = workload.Job(name="trimmed", source=Recorded(pacing="closed"), queue_depth=1)
    target.run_requests(job, requests, TaskProgress("test"))
    used = counters.spent(before, target.counters())
    shares = found(target, used)
    assert shares["trimmed"] == -pages * size
    assert abs(shares.get("buffer", 0)) <= target.model.value("write_buffer.size_bytes")
