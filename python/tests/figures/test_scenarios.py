"""Scenarios of statements: the drives that they are cut down to, and what some of them find."""

from __future__ import annotations

import pytest

from drivelab import model as models
from drivelab.figures.scenarios import SCENARIOS
from drivelab.figures.scenarios.bench import Bench
from drivelab.model import Model
from drivelab.procedures import PROCEDURES
from drivelab.progress import TaskProgress
from drivelab.targets import EngineTarget

X25_M = "intel-x25-m-g1-80gb"


def bench(model: Model) -> Bench:
    return Bench(EngineTarget(model, 1), 1, TaskProgress("scenario"))


def tiny() -> Model:
    """An X25-M with an eighth of its flash, of which scenarios take an eighth or a quarter, and
    more spare area, so that there are enough blocks to work with."""
    size = models.load(X25_M).raw_capacity_bytes // 8 * 10 // 13
    capacity = ("user_capacity_bytes", str(size - size % 4096))
    return models.load(X25_M, [("flash.blocks_per_plane", "256"), capacity])


FAMILIES = (
    *(X25_M, "ocz-vertex-120gb", "jmicron-jmf602b-64gb"),
    *("ocz-summit-128gb", "corsair-force-f100-100gb", "intel-x25-v-40gb-raid0-x2"),
)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_part_of_a_drive_has_the_same_share_of_spare_area(name: str) -> None:
    whole = models.load(name)
    part = bench(whole).small(4)
    assert isinstance(part, EngineTarget)
    assert part.capacity_bytes == pytest.approx(whole.user_capacity_bytes / 4, rel=1e-3)
    ratio = whole.raw_capacity_bytes / whole.user_capacity_bytes
    assert part.model.raw_capacity_bytes / part.capacity_bytes == pytest.approx(ratio, rel=1e-3)


def test_a_part_of_a_drive_can_have_another_spare_area() -> None:
    part = bench(models.load(X25_M)).small(8, spare=0.28)
    assert isinstance(part, EngineTarget)
    ratio = part.model.raw_capacity_bytes / part.capacity_bytes
    assert ratio == pytest.approx(1.28, rel=1e-3)


def found(name: str, model: Model) -> dict[str, float | None]:
    measured = SCENARIOS[name].measure(EngineTarget(model, 1), 1, False, TaskProgress(name))
    return {value.name: value.value for value in measured.values}


def test_passes_in_a_row_cost_a_page_map_nothing() -> None:
    passes = found("five-passes", tiny())
    assert passes["first_mib_per_s"]
    assert passes["slowest_later_mib_per_s"] == pytest.approx(passes["first_mib_per_s"], rel=0.05)
    assert passes["largest_write_amplification"] == pytest.approx(1.0, abs=0.05)


def test_a_full_drive_is_slower_than_a_new_one_and_writes_more() -> None:
    steady = found("steady-as-sold", tiny())
    assert steady["new_mib_per_s"]
    assert steady["steady_mib_per_s"]
    assert steady["steady_mib_per_s"] < 0.8 * steady["new_mib_per_s"]
    assert steady["write_amplification"]
    assert steady["write_amplification"] > 1.5


def test_a_virus_scan_costs_a_start_of_programs_time_that_it_has_alone() -> None:
    alone = found("background-start", models.load("wd-velociraptor-300gb"))
    seconds = PROCEDURES["three-programs"].measure(
        EngineTarget(models.load("wd-velociraptor-300gb"), 1), 1, False, TaskProgress("alone")
    )
    plain = next(value.value for value in seconds.values if value.name == "time_s")
    assert plain is not None
    assert alone["alone_s"] == pytest.approx(plain, rel=0.02)
    assert alone["scanned_s"]
    assert alone["scanned_s"] > 1.2 * plain


GS = "corsair-force-gs-240gb"


def part_of_gs(parts: int) -> Model:
    """A Force GS with a part of its flash, as `Bench.small` makes them."""
    part = bench(models.load(GS)).small(parts)
    assert isinstance(part, EngineTarget)
    return part.model


def test_random_torture_is_of_random_data() -> None:
    # Data that compress to nothing would leave a compressing drive as fast as new.
    rates = found("random-torture-part", part_of_gs(2))
    assert rates["new"]
    assert rates["tortured"]
    assert rates["tortured"] < 0.7 * rates["new"]


def test_shared_contents_are_held_until_both_places_say_something_else() -> None:
    units = found("shared-contents", part_of_gs(16))
    assert units == {"with_a": 1, "with_b": 1, "without_a": 1, "without_both": 0}
