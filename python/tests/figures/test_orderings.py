from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from figures.sample import measured, model

from drivelab import figures
from drivelab.figures import tables, text
from drivelab.figures.constants import INFORMED_ORDERINGS
from drivelab.figures.orderings import ordering_readings

POWER = {"corsair-force-f100-100gb": 0.5, "ocz-agility-2-100gb": 0.6, "ocz-vertex-le-100gb": 0.4}


def orders(values: dict[str, float], test_id: str, state: str = "new") -> dict[str, dict[str, Any]]:
    tests = [measured(test_id, state, value, model_name=name) for name, value in values.items()]
    for test in tests:
        test["mean_power_w"] = test["mib_per_s"]
    known = figures.Measured([model(name) for name in values], tests)
    return {order["id"]: order for order in figures.compare_orderings(known)}


def test_all_orderings_are_listed_and_made_explicit() -> None:
    assert len(figures.orderings()) == 26
    assert {ordering.id for ordering in figures.orderings()} == set(tables.comparisons())
    found = orders({}, "power-idle")
    assert {order["result"] for order in found.values()} == {"not measured"}
    assert all(order["test_ids"] for order in found.values())


def test_of_times_less_is_better() -> None:
    times = {"intel-x25-m-g1-80gb": 22.9, "intel-x25-e-32gb": 22.7, "ocz-vertex-120gb": 24.3}
    assert time_order(times)["result"] == "holds"
    assert time_order(times | {"ocz-vertex-120gb": 22.8})["broken"] == [
        "intel-x25-m-g1-80gb (22.9 s) is not ahead of ocz-vertex-120gb (22.8 s)"
    ]


def time_order(values: dict[str, float]) -> dict[str, Any]:
    tests = [
        {"id": "level-load", "model": name, "state": "used"}
        | {"values": [{"name": "time_s", "value": value}]}
        for name, value in values.items()
    ]
    known = figures.Measured([model(name) for name in values], tests)
    return next(order for order in figures.compare_orderings(known) if order["id"] == "ORD-014")


def test_an_ordering_holds_if_every_drive_is_ahead_of_the_next_place() -> None:
    assert orders(POWER, "power-idle")["ORD-004"]["result"] == "holds"
    found = orders(POWER | {"ocz-vertex-le-100gb": 0.7}, "power-idle")["ORD-004"]
    assert (found["result"], found["holds"]) == ("does not hold", False)
    assert found["broken"] == [
        "ocz-agility-2-100gb (0.6 W) is not ahead of ocz-vertex-le-100gb (0.7 W)"
    ]


def test_an_ordering_that_a_source_names_is_fitted() -> None:
    tests = [measured("power-idle", "new", 1.0, model_name=name) for name in POWER]
    for test in tests:
        test["mean_power_w"] = POWER[test["model"]]
    sources = {"ocz-agility-2-100gb": ("fitted to ORD-004: idle",)}
    known = figures.Measured([model(name, *sources.get(name, ())) for name in POWER], tests)
    roles = {order["id"]: order["role"] for order in figures.compare_orderings(known)}
    assert roles["ORD-004"] == "fitted"
    assert {role for name, role in roles.items() if name != "ORD-004"} <= {"predicted", None}
    assert orders(POWER, "power-idle")["ORD-004"]["role"] == "predicted"


def test_an_ordering_that_a_test_was_made_with_in_view_is_not_predicted() -> None:
    times = {"intel-x25-m-g1-80gb": 22.9, "intel-x25-e-32gb": 22.7, "ocz-vertex-120gb": 24.3}
    found = time_order(times)
    assert (found["result"], found["role"]) == ("holds", "informed")
    assert text.order_rows([found])[0][-1].startswith("a constant of its test was chosen")


def test_what_the_pages_call_informed_by_an_ordering_is_known_to_be() -> None:
    pages = (Path(__file__).parents[3] / "docs" / "tests").glob("*.md")
    words = " ".join(" ".join(page.read_text(encoding="utf-8").split()) for page in pages)
    identity = r"(?:ST|ORD)-\d{3}"
    said = re.findall(rf"informed by ({identity}(?:(?:, | and ){identity})*)", words)
    named = {name for each in said for name in re.findall(r"ORD-\d{3}", each)}
    assert named == set(INFORMED_ORDERINGS)


def test_equal_is_not_ahead() -> None:
    found = orders(POWER | {"ocz-agility-2-100gb": 0.5}, "power-idle")["ORD-004"]
    assert found["holds"] is False


def test_drives_without_a_model_are_named() -> None:
    without = {name: watts for name, watts in POWER.items() if name != "ocz-vertex-le-100gb"}
    found = orders(without, "power-idle")["ORD-004"]
    assert (found["result"], found["missing"]) == ("holds", ["ocz-vertex-le-100gb"])
    alone = orders({"ocz-agility-2-100gb": 1.0}, "power-idle")["ORD-004"]
    assert alone["result"] == "not measured"


@pytest.mark.parametrize(("other", "result"), [(95.0, "holds"), (80.0, "does not hold")])
def test_equality_has_a_tolerance(other: float, result: str) -> None:
    values = {"corsair-force-gs-240gb": 100.0, "intel-ssd-520-240gb": other}
    assert orders(values, "random-write-4k-qd3-aligned")["ORD-017"]["result"] == result


def test_hard_disks_take_part_in_their_one_state() -> None:
    needed = {item for item in ordering_readings() if item.model == "wd-velociraptor-300gb"}
    assert {item.state for item in needed} == {"new"}
