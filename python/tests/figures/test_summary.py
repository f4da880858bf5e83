from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from figures.sample import ROWS, TESTS, X25_M

from drivelab import figures
from drivelab.figures import text
from drivelab.figures.bindings import Moves
from drivelab.figures.comparison import measurement_of
from drivelab.figures.formulas import inputs_of
from drivelab.figures.published import compared
from drivelab.figures.readings import Reading


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


def test_what_is_barely_bound_is_named_and_that_nothing_is_predicted_is_said() -> None:
    [(name, row)] = ROWS.items()
    everywhere = {figure: Moves(-0.004, None) for figure in row.figures}
    seen = {"key": "link.seen", "source": "informed: with all of them in view"}
    model = {**X25_M, "parameters": [*X25_M["parameters"], seen]}
    rows = {name: replace(row, moves={**row.moves, "link.seen": everywhere})}
    known = figures.Measured([model], TESTS, rows)
    found = figures.summary(figures.compare_all(known), [])
    assert found["roles"]["predicted"]["count"] == 0
    assert found["barely_bound"]["count"] == summary()["roles"]["predicted"]["count"] > 0
    assert summary()["barely_bound"]["count"] == 0
    assert found["unfitted"]["count"] == found["compared"] - found["roles"]["fitted"]["count"]
    lines = text.summary_lines(found)
    assert " 0 predicted, " in lines[0]
    assert any(line.startswith("Predicted (") and line.endswith(": no values.") for line in lines)
    assert any(", ".join(found["barely_bound"]["ids"]) in line for line in lines)


def test_figures_in_other_words_are_one_measurement() -> None:
    # Used random writes: AN-033, AN-092, AN-110, AN-167; used sequential reads: AN-031, AN-150.
    roles = summary()["roles"]
    assert roles["restated"]["count"] - roles["restated"]["measurements"] == 1
    assert roles["predicted"]["count"] - roles["predicted"]["measurements"] == 4


GAME = "game-realm"


def test_what_was_fitted_to_a_test_s_constant_is_not_predicted_any_more() -> None:
    """AN-037 was kept back, and then fitted to by what the test reads; AN-023 is the same."""
    test = {
        "model": "intel-x25-m-g1-80gb",
        "id": GAME,
        "state": "used",
        "values": [{"name": "time_s", "value": 4.85}],
    }
    known = figures.Measured([X25_M], [*TESTS, test], ROWS)
    records = figures.compare_all(known)
    roles = {record["id"]: record["role"] for record in records}
    assert (roles["AN-037"], roles["AN-023"]) == ("fitted", "fitted")
    blind = figures.summary(records, [])["blind"]
    assert blind["fitted_since"] == ["AN-023", "AN-037"]
    assert blind["levels"]["median_abs_error_ratio"] is None
    assert "Now without AN-023, AN-037" in " ".join(
        text.summary_lines(figures.summary(records, []))
    )


def test_measurements_are_counted_by_what_is_read_off_them() -> None:
    """Two numbers of one pass are one measurement only if they follow from each other."""
    found = {name: measurement_of(name) for name in ("AN-037", "AN-023", "AN-091", "AN-149")}
    assert found["AN-037"] == found["AN-023"]
    assert len(set(found.values())) == 3
    by_aspect: dict[object, set[str]] = {}
    for figure in compared():
        for item in inputs_of(figure).values():
            if isinstance(item, Reading) and len(inputs_of(figure)) == 1:
                by_aspect.setdefault(item.aspect, set()).add(figure.id)
    for names in by_aspect.values():
        assert len({measurement_of(name) for name in names}) == 1
    assert len({measurement_of(next(iter(names))) for names in by_aspect.values()}) == len(
        by_aspect
    )


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


def test_fitted_parameters_are_counted_as_fitted_to_own_figures_and_in_all() -> None:
    def counts(own: int, fitted: int) -> dict[str, Any]:
        return {"model": f"m{own}", "fitted_to_own": own, "roles": {"fitted": fitted}, "values": 2}

    found = figures.summary([], [], (), [counts(2, 2), counts(1, 3), counts(3, 3)])
    assert found["overfitted"] == ["m3"]
    assert [item["model"] for item in found["overfitted_in_all"]] == ["m1", "m3"]
    known = figures.Measured([X25_M], TESTS, ROWS)
    records = figures.compare_all(known)
    lines = text.summary_lines(figures.summary(records, [], (), [counts(1, 3)]))
    assert any("to compare: none; with more" in line for line in lines)
    assert any(line.endswith("references included: m1 (3, 2 values).") for line in lines)
