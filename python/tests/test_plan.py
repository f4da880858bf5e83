"""Which states a review measures in, and what it says about those that it leaves out."""

from __future__ import annotations

import pytest

from drivelab import model, review

TRIM_TESTS = ["sequential-write-2m", "atto"]


def planned(name: str, tests: list[str], states: list[str]) -> tuple[set[tuple[str, str]], str]:
    said: list[str] = []
    found = review.plan_measurements(model.load(name), tests, states, said.append)
    return {(item.procedure.id, item.state.name) for item in found}, "\n".join(said)


def test_the_default_review_measures_what_trim_brings_back() -> None:
    found, said = planned("intel-x25-m-g2-80gb", [], [])
    in_trimmed = {test for test, state in found if state == "used-trimmed"}
    assert in_trimmed == {
        "sequential-write-2m",
        "random-write-4k-qd3-sector",
        "random-write-4k-qd3-aligned",
    }
    assert said == ""


@pytest.mark.parametrize("name", ["intel-x25-m-g1-80gb", "intel-x25-v-40gb-raid0-x2"])
def test_states_after_trim_are_left_out_where_trim_is_ignored(name: str) -> None:
    found, said = planned(name, TRIM_TESTS, [])
    assert not [state for _, state in found if "trimmed" in state]
    assert "ignores TRIM: used-trimmed, tortured-trimmed" in said
    assert planned(name, [], [])[1] == ""
    found, said = planned(name, ["atto"], ["tortured-trimmed"])
    assert (found, said) == ({("atto", "tortured-trimmed")}, "")


def test_a_hard_disk_says_that_it_has_one_state() -> None:
    found, said = planned("wd-velociraptor-300gb", ["atto"], ["new", "used", "tortured"])
    assert found == {("atto", "new")}
    assert said == (
        "wd-velociraptor-300gb: --states used, tortured: a hard disk has one state, measured as new"
    )
    assert planned("wd-velociraptor-300gb", ["atto"], [])[1] == ""


def test_what_means_nothing_on_a_hard_disk_is_left_out_of_all() -> None:
    found, _ = planned("wd-velociraptor-300gb", ["all"], [])
    tests = {test for test, _ in found}
    assert {"atto", "kdiskmark", "iometer-database", "power-random-read-qd32"} <= tests
    assert not tests & {"alignment", "compressibility", "spare-area", "resiliency-table"}
