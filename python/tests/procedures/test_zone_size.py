"""Zones written whole in random order: what they cost falls to what a fill costs where blocks die
whole, and comes near random writes where zones are small."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small import small_model

from drivelab import model
from drivelab.model import Model
from drivelab.procedures import PROCEDURES
from drivelab.procedures.zone_size import ZONES_MIN, fewer_of, knee_mib, sizes_on
from drivelab.progress import TaskProgress
from drivelab.quantities import MIB
from drivelab.targets import EngineTarget
from drivelab.theory import fifo_write_amplification

TEST = PROCEDURES["zone-size"]
MERGING = (("flash.blocks_per_plane", "128"), ("user_capacity_bytes", "1999994880"))


def measured(drive: Model, quick: bool = False) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    found = TEST.measure(EngineTarget(drive, 1), 1, quick, TaskProgress(TEST.id)).found()
    rows = found["tables"][0]["rows"]
    return rows, {v["name"]: v["value"] for v in found["values"]}


@given(st.integers(64 * MIB, 10**13))
def test_sizes_fit_the_drive(capacity_bytes: int) -> None:
    sizes = sizes_on(capacity_bytes)
    assert TEST.fits(capacity_bytes)
    assert sizes == sorted(sizes)
    assert sizes[-1] * ZONES_MIN <= capacity_bytes < 4 * sizes[-1] * ZONES_MIN
    fewer = fewer_of(sizes)
    assert (fewer[0], fewer[-1]) == (sizes[0], sizes[-1])
    assert set(fewer) <= set(sizes)


def test_zones_are_large_enough_where_all_larger_ones_are() -> None:
    costs = [(1, 4.0), (4, 1.05), (16, 1.3), (64, 1.02), (256, 1.01)]
    rows = [{"zone_mib": size, "write_amplification": cost} for size, cost in costs]
    assert knee_mib(rows, 1.0) == 64
    assert knee_mib(rows, 1.3) == 4
    assert knee_mib(rows, 0.5) is None
    assert knee_mib(rows, None) is None


def test_small_zones_are_random_writes_and_large_ones_cost_less() -> None:
    drive = small_model()
    rows, values = measured(drive)
    costs = [row["write_amplification"] for row in rows]
    assert costs == sorted(costs, reverse=True)
    spare = drive.effective_spare_ratio
    assert spare is not None
    assert 2 < costs[0] < 1.1 * fifo_write_amplification(spare)
    rates = [row["mib_per_s"] for row in rows]
    assert rates == sorted(rates)
    assert values["fill_amplification"] == pytest.approx(1, abs=0.01)


def test_a_drive_that_merges_has_zones_that_are_large_enough() -> None:
    rows, values = measured(model.load("jmicron-jmf602b-64gb", MERGING), quick=True)
    assert values["knee_mib"] == 16
    assert rows[0]["write_amplification"] > 5
    assert values["largest_amplification"] == pytest.approx(values["fill_amplification"], rel=0.01)


def test_more_spare_area_hides_the_knee() -> None:
    """As of the 7450 MAX, whose zones of any size cost little, beside the PRO [SSDIQ]."""
    scale = (("scale_divisor", "72"),)
    _, much = measured(model.load("micron-7450-max-800gb", scale), quick=True)
    _, little = measured(model.load("micron-7450-pro-960gb", scale), quick=True)
    assert much["smallest_amplification"] < 0.8 * little["smallest_amplification"]
