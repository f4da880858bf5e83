from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from drivelab import figures
from drivelab.figures.comparison import repeat_of
from drivelab.figures.published import published

X25_M = {
    "name": "intel-x25-m-g1-80gb",
    "title": "Intel X25-M G1 80 GB",
    "parameters": [{"key": "link", "source": "fitted to AN-149: sequential read of a new drive"}],
}
BY_ID = {figure.id: figure for figure in published()}


def measured(
    test_id: str, state: str, mib_per_s: float, mean_us: float, max_us: float
) -> dict[str, Any]:
    return {
        "model": X25_M["name"],
        "id": test_id,
        "state": state,
        "mib_per_s": mib_per_s,
        "iops": mib_per_s * 256,
        "latency_us": {"mean": mean_us, "max": max_us},
    }


TESTS = [
    measured("sequential-read-2m", "new", 260.0, 1, 1),
    measured("sequential-read-2m", "used", 230.0, 1, 1),
    measured("random-write-4k-qd3-sector", "new", 40.0, 290.0, 1),
    measured("random-write-4k-qd3-sector", "used", 21.0, 1100.0, 1),
    measured("random-write-4k-qd1-drive", "new", 10.0, 1, 94_000.0),
]


def compared() -> dict[str, dict[str, Any]]:
    return {record["id"]: record for record in figures.compare([X25_M], TESTS)}


def test_all_figures_of_all_reviews_came_along() -> None:
    assert Counter(figure.review for figure in published()) == {
        "anthology-2009": 181,
        "force-gs-2012": 123,
        "agility2-2010": 98,
        "x25v-raid0-2010": 20,
        "vertex2-2010": 15,
    }
    assert len(BY_ID) == len(published())


@pytest.mark.parametrize(
    ("figure_id", "test_id", "state"),
    [
        ("AN-027", "access-time", "used"),
        ("AN-031", "sequential-read-2m", "used"),
        ("AN-150", "sequential-read-2m", "used"),
        ("AN-149", "sequential-read-2m", "new"),
        ("AN-032", "sequential-write-2m", "used"),
        ("AN-033", "random-write-4k-qd3-sector", "used"),
        ("AN-092", "random-write-4k-qd3-sector", "used"),
        ("AN-091", "random-write-4k-qd3-sector", "new"),
        ("AN-109", "random-write-4k-qd3-sector", "new"),
        ("AN-110", "random-write-4k-qd3-sector", "used"),
        ("AN-167", "random-write-4k-qd3-sector", "used"),
        ("AN-200", "random-write-4k-qd1-drive", "new"),
    ],
)
def test_every_measured_figure_is_repeated_as_the_review_did(
    figure_id: str, test_id: str, state: str
) -> None:
    repeat = repeat_of(BY_ID[figure_id])
    assert repeat is not None
    assert (repeat.test_id, repeat.state) == (test_id, state)


def test_errors_are_relative_to_what_was_published() -> None:
    found = compared()
    assert found["AN-149"]["error_ratio"] == pytest.approx(260 / 264.1 - 1)
    assert found["AN-149"]["unit"] == "MiB/s"
    assert found["AN-110"]["modelled"] == pytest.approx(1.1)
    assert found["AN-110"]["error_ratio"] == pytest.approx(1.1 / 0.51 - 1)


def test_a_bound_that_holds_has_no_error_and_a_missed_one_says_by_how_much() -> None:
    found = compared()
    assert (found["AN-109"]["satisfied"], found["AN-109"]["error_ratio"]) == (True, 0)
    assert found["AN-167"]["satisfied"] is False
    assert found["AN-167"]["error_ratio"] == pytest.approx(0.1)


def test_a_figure_is_fitted_only_if_a_parameter_says_so() -> None:
    found = compared()
    assert found["AN-149"]["role"] == "fitted"
    assert found["AN-150"]["role"] == "predicted"
    assert found["AN-092"]["role"] == "predicted"


def test_a_longer_identity_does_not_make_a_shorter_one_fitted() -> None:
    model = X25_M | {"parameters": [{"key": "x", "source": "fitted to AN-1499"}]}
    found = {record["id"]: record for record in figures.compare([model], TESTS)}
    assert found["AN-149"]["role"] == "predicted"


def test_what_no_test_repeats_is_said_to_come() -> None:
    record = compared()["AN-083"]
    assert record["modelled"] is None
    assert record["test_id"] is None
    assert "scenario to come" in record["note"]


def test_other_drives_stand_beside_it_without_a_model() -> None:
    record = compared()["AN-090"]
    assert record["drive"] == "Intel X25-E"
    assert record["model"] is None
    assert record["role"] is None
    assert record["published"] == 31.7


def test_figures_of_tests_that_did_not_run_stay_open() -> None:
    record = compared()["AN-032"]
    assert record["modelled"] is None
    assert record["error_ratio"] is None


def test_the_needed_tests_are_those_of_the_drives_figures() -> None:
    needed = figures.measurements_for(X25_M)
    assert ("random-write-4k-qd3-sector", "used") in needed
    assert ("access-time", "used") in needed
    assert ("sequential-write-2m", "new") not in needed


def test_models_without_figures_are_known() -> None:
    assert figures.has_figures(X25_M)
    assert not figures.has_figures({"name": "hypothetical", "title": "Hypothetical drive"})
