"""Skewed writes: what they cost where data share blocks agrees with the formula of mixed data."""

from __future__ import annotations

from typing import Any

import pytest
from small import small_model

from drivelab import model
from drivelab.model import Model
from drivelab.procedures import PROCEDURES
from drivelab.procedures.skew import SKEWED, UNIFORM
from drivelab.progress import TaskProgress
from drivelab.targets import EngineTarget
from drivelab.theory import Part, mixed_write_amplification

TEST = PROCEDURES["skew"]


def measured(drive: Model, quick: bool = False) -> tuple[dict[str, Any], dict[str, Any]]:
    found = TEST.measure(EngineTarget(drive, 1), 1, quick, TaskProgress(TEST.id)).found()
    rows = {row["writes"]: row for row in found["tables"][0]["rows"]}
    return rows, {v["name"]: v["value"] for v in found["values"]}


def drive_with(placement: str) -> Model:
    """It cleans its blocks in the order in which they were written, and has much spare area."""
    return model.load(
        "intel-x25-m-g1-80gb",
        (
            ("scale_divisor", "64"),
            ("ftl.victim_selection", "fifo"),
            ("ftl.placement", placement),
            ("spare_ratio", "0.28"),
        ),
    )


def test_data_that_share_blocks_cost_what_the_formula_says() -> None:
    drive = drive_with("one-stream")
    spare = drive.effective_spare_ratio
    assert spare is not None
    rows, values = measured(drive)
    for name, hot_data, hot_writes in (
        (UNIFORM, 0.5, 0.5),
        ("80/20", 0.2, 0.8),
        ("50 % cold", 0.5, 1.0),
        ("80 % cold", 0.2, 1.0),
    ):
        parts = [Part(hot_data, hot_writes), Part(1 - hot_data, 1 - hot_writes)]
        expected = mixed_write_amplification(parts, spare)
        assert rows[name]["write_amplification"] == pytest.approx(expected, rel=0.05), name
    assert rows[UNIFORM]["times_uniform"] == 1
    assert values["cold_times"] == rows["80 % cold"]["times_uniform"] < 0.7
    assert values["hot_amplification"] == rows["80/20"]["write_amplification"]


def test_streams_apart_pay_less_for_cold_data() -> None:
    """Cleaning's copies go to blocks of their own: cold data are found there once."""
    rows, values = measured(drive_with("host-and-cleaning"))
    assert values["cold_amplification"] < 0.8 * values["uniform_amplification"]
    assert values["cold_times"] > 1.2
    cold = rows["80 % cold"]
    assert cold["last_quarter"] <= cold["write_amplification"]


def test_a_quick_review_has_the_points_that_its_values_are_of() -> None:
    rows, values = measured(small_model(), quick=True)
    assert len(rows) < len(SKEWED)
    assert None not in values.values()
