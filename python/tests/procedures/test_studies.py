"""Studies and the table of conditions: what they find follows from what the drive is."""

from __future__ import annotations

from typing import Any

import pytest
from small import small_model

from drivelab import model
from drivelab.errors import RequestError
from drivelab.procedures import PROCEDURES, hdtach
from drivelab.procedures.steady_writes import raw_bytes, with_spare
from drivelab.progress import TaskProgress
from drivelab.quantities import MIB
from drivelab.states import steps
from drivelab.targets import EngineTarget
from drivelab.theory import fifo_write_amplification

Found = tuple[list[dict[str, Any]], dict[str, Any], list[str]]


def measure(test_id: str, target: EngineTarget) -> Found:
    found = PROCEDURES[test_id].measure(target, 1, True, TaskProgress(test_id)).found()
    values = {value["name"]: value["value"] for value in found["values"]}
    return found["tables"][0]["rows"], values, found["notes"]


def test_a_variant_has_the_spare_area_that_was_asked_for() -> None:
    target = EngineTarget(small_model(), 1)
    raw = small_model().raw_capacity_bytes
    assert raw_bytes(target) == pytest.approx(raw, rel=1e-4)
    assert with_spare(target, 1.0).capacity_bytes * 2 == raw_bytes(target)
    assert with_spare(target, 0.28).capacity_bytes == pytest.approx(raw / 1.28, rel=1e-4)


# 1 / (1 - x) with x = e^(-(1 - x)(1 + s)), to four digits.
@pytest.mark.parametrize(("spare", "wanted"), [(0.07, 7.817), (0.28, 2.481), (0.5, 1.716)])
def test_the_formula_is_that_of_the_engine_s_own_table(spare: float, wanted: float) -> None:
    assert fifo_write_amplification(spare) == pytest.approx(wanted, abs=5e-4)


def test_more_spare_area_costs_fewer_copies_and_is_near_the_formula() -> None:
    rows, values, _ = measure("spare-area", EngineTarget(small_model(), 1))
    amplification = [row["write_amplification"] for row in rows]
    assert amplification == sorted(amplification, reverse=True)
    assert [row["mib_per_s"] for row in rows] == sorted(row["mib_per_s"] for row in rows)
    for row in rows[1:]:
        assert row["write_amplification"] == pytest.approx(
            row["fifo_write_amplification"], rel=0.35
        )
    own = next(row for row in rows if row["variant"] == "as sold")
    assert values["as_sold_write_amplification"] == own["write_amplification"]


def test_an_emptier_drive_writes_faster_and_without_trim_only_if_it_never_was_full() -> None:
    rows, values, notes = measure("fill-level", EngineTarget(small_model(), 1))
    assert values["half_full_mib_per_s"] > 2 * values["full_mib_per_s"]
    # The X25-M G1 ignores TRIM.
    assert values["half_trimmed_mib_per_s"] < 0.7 * values["half_full_mib_per_s"]
    assert any("ignores TRIM" in note for note in notes)
    assert len(rows) == 4


def test_a_smaller_partition_keeps_more_of_its_speed_after_torture() -> None:
    rows, values, _ = measure("partition", EngineTarget(small_model(), 1))
    assert rows[1]["spare_percent"] > 2 * rows[0]["spare_percent"]
    assert rows[1]["random_write_amplification"] < rows[0]["random_write_amplification"]
    assert values["partition_random_mib_per_s"] > 1.3 * values["whole_random_mib_per_s"]
    assert rows[0]["recovered_mb_per_s"] > rows[0]["pass_mb_per_s"]


def test_partitions_of_a_small_version_are_shares_of_it() -> None:
    small = EngineTarget(model.load("intel-x25-m-g2-80gb", [("scale_divisor", "64")]), 1)
    rows, _, notes = measure("partition", small)
    [note] = notes
    assert note.startswith("a quick review: 2 minutes of torture, not 20, and 2 sizes only; passes")
    sizes = [row["partition_gib"] * 2**30 / small.capacity_bytes for row in rows]
    assert sizes == pytest.approx([1.0, 60 / 74.5], rel=1e-3)
    assert rows[1]["spare_percent"] == pytest.approx(100 * (1.0734 * 74.5 / 60 - 1), abs=0.5)


def test_a_partition_of_a_partition_says_so() -> None:
    changes = [("scale_divisor", "64"), ("partition_bytes", str(60 * 2**30))]
    _, _, notes = measure("partition", EngineTarget(model.load("intel-x25-m-g2-80gb", changes), 1))
    assert "the model is a partition of a drive: what is called the drive here is that" in notes


def tortured(trim: bool) -> EngineTarget:
    target = EngineTarget(small_model(), 1).variant([("ftl.trim_supported", str(trim).lower())])
    progress = TaskProgress("tortured")
    steps.fill(target, 1, progress, 0.5, steps.Fill())
    # A minute over a gigabyte is as much as an hour over the whole drive.
    steps.torture(target, 1, progress, 0.5, steps.Torture(minutes=1))
    steps.settle(target, progress)
    return target


def test_what_brings_a_tortured_drive_back() -> None:
    rows, values, notes = measure("resiliency-table", tortured(trim=True))
    assert [row["condition"] for row in rows] == [
        "as it is",
        "after TRIM",
        "after a second TRIM",
        "after one sequential pass",
        "after secure erase",
    ]
    assert values["tortured_pass_write_percent"] < 80
    assert values["trimmed_pass_write_percent"] == pytest.approx(100, abs=3)
    assert values["passed_pass_write_percent"] > values["tortured_pass_write_percent"]
    # A pass in order leaves the drive as one that was written after secure erase.
    assert values["passed_pass_read_percent"] == pytest.approx(100, abs=5)
    assert values["trimmed_pass_read_percent"] == pytest.approx(100, abs=3)
    assert notes == [f"quick: {hdtach.SAMPLED}"]


def test_no_share_is_formed_of_reads_that_touch_no_flash() -> None:
    """The state `new` on request: as it is, nothing but the map can be read."""
    new = EngineTarget(small_model(), 1).variant([("ftl.trim_supported", "true")])
    rows, values, notes = measure("resiliency-table", new)
    assert not any("ignores TRIM" in note for note in notes)
    assert rows[0]["pass_read_mb_per_s"] is None
    assert rows[0]["pass_write_mb_per_s"] > 0
    assert values["tortured_pass_read_percent"] is None
    assert values["tortured_pass_write_percent"] == pytest.approx(100, abs=1)
    assert any("as it is" in note and "not mapped" in note for note in notes)
    clean = rows[-1]
    # The dumb way to the same number: a drive that is filled, and read.
    filled = EngineTarget(small_model(), 1)
    steps.fill(filled, 1, TaskProgress("fill"), 1.0, steps.Fill())
    read = PROCEDURES["hdtach-read"].measure(filled, 1, True, TaskProgress("read"))
    assert clean["pass_read_mb_per_s"] == pytest.approx(
        read.more["pass"]["mean_mb_per_s"], rel=0.05
    )


def test_a_drive_without_trim_is_not_measured_after_it() -> None:
    rows, values, notes = measure("resiliency-table", tortured(trim=False))
    assert len(rows) == 3
    assert "trimmed_pass_write_percent" not in values
    assert any("ignores TRIM" in note for note in notes)


def test_a_partition_is_spare_area_and_variants_have_what_was_asked_for() -> None:
    whole = EngineTarget(small_model(), 1)
    raw = small_model().raw_capacity_bytes
    half = whole.capacity_bytes // 2 // MIB * MIB
    target = whole.variant([("partition_bytes", str(half))])
    assert raw_bytes(target) == pytest.approx(raw, rel=1e-2)
    for spare in (0.28, 1.0):
        ratio = raw_bytes(target) / with_spare(target, spare).capacity_bytes - 1
        assert ratio == pytest.approx(spare, abs=0.01)
    rows, _, _ = measure("spare-area", target)
    sold = next(row for row in rows if row["variant"] == "as sold")
    assert sold["spare_percent"] == pytest.approx(100 * (raw / half - 1))
    other = next(row for row in rows if row["variant"] == "variant")
    # 7.3 % of spare area and a half of the drive left alone: more than twice the flash.
    assert 1.3 * sold["write_amplification"] < other["write_amplification"]


@pytest.mark.parametrize("divisor", ["1", "64"])
def test_a_small_version_with_a_partition_has_the_spare_area_of_the_drive(divisor: str) -> None:
    partition = ("partition_bytes", "38400000000")
    small = model.load("intel-x25-m-g2-80gb", [("scale_divisor", divisor), partition])
    target = EngineTarget(small, 1)
    # 80 GiB of flash.
    wanted = 80 * 2**30 / 38.4e9 - 1
    assert raw_bytes(target) / target.capacity_bytes - 1 == pytest.approx(wanted, abs=0.001)
    ratio = raw_bytes(target) / with_spare(target, 0.28).capacity_bytes - 1
    assert ratio == pytest.approx(0.28, abs=0.001)


def test_partitions_of_the_drives_of_an_array_are_not_passed_over() -> None:
    pair = model.load("intel-x25-v-40gb-raid0-x2", [("member.partition_bytes", "20000000000")])
    with pytest.raises(RequestError, match="partition"):
        with_spare(EngineTarget(pair, 1), 0.28)
