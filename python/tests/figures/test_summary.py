from __future__ import annotations

from typing import Any

import pytest
from figures.sample import ROWS, TESTS, X25_M

from drivelab import figures


def summary() -> dict[str, Any]:
    known = figures.Measured([X25_M], TESTS, ROWS)
    return figures.summary(figures.compare_all(known), figures.compare_orderings(known))


def test_every_figure_is_counted_once() -> None:
    found = summary()
    assert found["figures"] == 171
    open_count = len(found["without_model"])
    assert found["compared"] + open_count == found["figures"]
    assert sum(errors["count"] for errors in found["roles"].values()) == found["compared"]
    assert {role for role, errors in found["roles"].items() if errors["count"]} == {
        *("fitted", "predicted", "restated")
    }


def test_every_figure_has_a_test_or_a_reason() -> None:
    reasons = {item["id"]: item["reason"] for item in summary()["without_model"]}
    assert all(reasons.values())
    assert [name for name, reason in reasons.items() if "no test" in reason] == []


def test_medians_are_of_values_and_bounds_are_counted_apart() -> None:
    found = summary()
    roles = found["roles"]
    assert roles["fitted"]["count"] == 1
    assert roles["fitted"]["median_abs_error_ratio"] == pytest.approx(1 - 260 / 264.1)
    assert found["bounds"] == {"held": 1, "missed": ["AN-167"]}
    predicted = roles["predicted"]
    assert predicted["values"] == predicted["count"] - 2
    assert predicted["worst_id"] == "AN-110"


def test_figures_in_other_words_are_one_measurement() -> None:
    # Used random writes: AN-033, AN-092, AN-110, AN-167; used sequential reads: AN-031, AN-150.
    roles = summary()["roles"]
    assert roles["restated"]["count"] - roles["restated"]["measurements"] == 1
    assert roles["predicted"]["count"] - roles["predicted"]["measurements"] == 4


def test_without_measurements_there_are_no_medians() -> None:
    known = figures.Measured([], [])
    found = figures.summary(figures.compare_all(known), [])
    assert found["compared"] == 0
    assert found["roles"]["predicted"]["median_abs_error_ratio"] is None
    assert found["left_out"]["values"] == 0
    assert found["orderings"]["count"] == 0


def test_what_the_models_gave_blind_stays_on_record_whatever_they_give_now() -> None:
    blind = summary()["blind"]
    assert blind["figures"] == 25
    # By hand from the 18 levels: the ninth and tenth are AN-137 and XV-014.
    levels = (18910 / 16624 - 1 + 81.769 / 71.6 - 1) / 2
    assert blind["levels"]["values"] == 18
    assert blind["levels"]["median_abs_error_before_ratio"] == pytest.approx(levels)
    # Shares of AN-120 and AN-138: 5.9296 of 9.6 and 21.691 of 36.
    derived = 1 - (5.9296 / 9.6 + 21.691 / 36) / 2
    assert blind["derived"]["median_abs_error_before_ratio"] == pytest.approx(derived)
    assert (blind["bounds"], blind["bounds_held_before"]) == (3, 1)
    assert summary_of_nothing()["blind"]["levels"] == {
        "values": 18,
        "median_abs_error_before_ratio": pytest.approx(levels),
        "median_abs_error_ratio": None,
    }


def summary_of_nothing() -> dict[str, Any]:
    return figures.summary(figures.compare_all(figures.Measured([], [])), [])
