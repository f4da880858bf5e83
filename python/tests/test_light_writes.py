"""Small writes that come slowly, one by one, aren't programmed a word line each: that would wear a
drive out in a year of next to nothing."""

from __future__ import annotations

import pytest

import drivelab as dl

LIGHT = dl.Job(
    rw="randwrite", bs="4k", rate_iops=100, runtime=20, time_based=True, norandommap=True
)
FULL = dl.Job(rw="randwrite", bs="4k", iodepth=32, number_ios=20_000, norandommap=True)


@pytest.mark.parametrize(
    "name",
    ["adata-atom-50-1tb", "crucial-p1-1tb", "micron-7450-max-800gb", "samsung-pm9a3-960gb"],
)
def test_light_writes_cost_no_more_flash_than_heavy_ones(name: str) -> None:
    filled = dl.Drive(name, scale="1/64").prepare("filled", progress=False)
    light = filled.run(LIGHT, progress=False).totals["write_amplification"]
    full = filled.run(FULL, progress=False).totals["write_amplification"]
    assert light < 1.5 * full
