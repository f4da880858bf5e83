"""The jobs of the page's studies: each is one, and moves what its title says."""

from __future__ import annotations

import pytest

from drivelab import Drive, Job
from drivelab.web.study_order import JOBS

MIB = 2**20


@pytest.mark.parametrize("name", JOBS)
def test_a_job_moves_what_its_title_says(name: str) -> None:
    title, options = JOBS[name]
    drive = Drive("intel-x25-v-40gb", scale="1/64")
    moved = drive.run(Job(name=name, **options)).summary["bytes"].sum()
    wanted = {
        "random-writes-over": drive.capacity_bytes,
        "sequential-writes-over": drive.capacity_bytes,
    }.get(name)
    if wanted is None:
        assert f"{moved // MIB} MiB" in title
    else:
        assert moved == pytest.approx(wanted, rel=0.001)
