"""Zones of which several are open: every zone is written whole and in order, whoever is beside it,
and the more there are the more cleaning has to copy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivelab import model
from drivelab.procedures import PROCEDURES
from drivelab.procedures.interleaved_zones import ZONES, interleaved, zone_bytes_on
from drivelab.procedures.zones import BLOCK_BYTES
from drivelab.progress import TaskProgress
from drivelab.quantities import MIB
from drivelab.targets import EngineTarget

TEST = PROCEDURES["interleaved-zones"]


@given(st.sampled_from((1, 2, 4, 8, 16, 32)), st.integers(1, 20), st.integers(0, 2**32))
def test_zones_are_written_in_order_and_so_many_are_open(
    open_zones: int, length: int, seed: int
) -> None:
    zone_bytes = length * BLOCK_BYTES
    order = np.random.default_rng(seed)
    places = interleaved(open_zones, 10 * length * open_zones, zone_bytes, order)
    assert places.min() >= 0
    assert places.max() < ZONES * zone_bytes
    done: dict[int, int] = {}
    for index, place in enumerate(places.tolist()):
        zone, offset = divmod(place, zone_bytes)
        # A zone that was begun before anything is counted goes on anywhere.
        expected = done.get(zone, offset if index < open_zones else 0)
        assert offset == expected
        done[zone] = offset + BLOCK_BYTES
        if done[zone] == zone_bytes:
            del done[zone]
        assert len(done) <= open_zones


@given(st.integers(ZONES * MIB, 10**14))
def test_zones_fit_the_drive(capacity_bytes: int) -> None:
    assert TEST.fits(capacity_bytes)
    size = zone_bytes_on(capacity_bytes)
    assert size % BLOCK_BYTES == 0
    assert 0 < size * ZONES <= capacity_bytes


def test_zones_that_share_blocks_cost_more() -> None:
    drive = model.load("intel-x25-m-g1-80gb", (("scale_divisor", "16"),))
    found = TEST.measure(EngineTarget(drive, 1), 1, True, TaskProgress(TEST.id)).found()
    rows = {row["open_zones"]: row for row in found["tables"][0]["rows"]}
    values = {v["name"]: v["value"] for v in found["values"]}
    costs = {number: row["write_amplification"] for number, row in rows.items()}
    assert 1 <= costs[1] < 1.5
    assert costs[1] == values["one_amplification"] < costs[4] / 1.5
    assert values["many_mib_per_s"] == rows[32]["mib_per_s"] < rows[1]["mib_per_s"] / 2
    most = max(costs.values()) / costs[1]
    assert values["most_times"] == pytest.approx(most)
