from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from figures.sample import RANDOM, ROWS, TESTS, X25_M, measured, model

from drivelab import figures
from drivelab.figures.bindings import Moves
from drivelab.figures.comparison import judge
from drivelab.figures.published import compared, figures_by_id

VELOCIRAPTOR = "wd-velociraptor-300gb"


def records(
    models: list[dict[str, Any]] | None = None, tests: list[dict[str, Any]] | None = None
) -> dict[str, dict[str, Any]]:
    known = figures.Measured(models or [X25_M], TESTS if tests is None else tests, ROWS)
    return {record["id"]: record for record in figures.compare_all(known)}


def test_all_figures_of_all_reviews_came_along() -> None:
    assert Counter(figure.review for figure in figures.published()) == {
        "anthology-2009": 200,
        "force-gs-2012": 125,
        "agility2-2010": 100,
        "x25v-raid0-2010": 22,
        "vertex2-2010": 15,
    }
    assert len(figures_by_id()) == len(figures.published())
    assert Counter(figure.kind for figure in compared()) == {"measured": 137, "derived": 34}


def test_no_figure_is_left_out_silently() -> None:
    found = records()
    assert list(found) == [figure.id for figure in compared()]
    for record in found.values():
        if record["role"] == "none":
            assert record["reason"]
        else:
            assert record["modelled"] is not None


def test_errors_are_relative_to_what_was_published() -> None:
    found = records()
    assert found["AN-149"]["error_ratio"] == pytest.approx(260 / 264.1 - 1)
    assert found["AN-149"]["unit"] == "MiB/s"
    assert found["AN-110"]["modelled"] == pytest.approx(1.1)
    assert found["AN-110"]["error_ratio"] == pytest.approx(1.1 / 0.51 - 1)
    assert found["AN-200"]["modelled"] == 94.0


def test_a_bound_that_holds_has_no_error_and_a_missed_one_says_by_how_much() -> None:
    found = records()
    assert (found["AN-109"]["satisfied"], found["AN-109"]["error_ratio"]) == (True, 0)
    assert found["AN-167"]["satisfied"] is False
    assert found["AN-167"]["error_ratio"] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("figure_id", "modelled", "error", "satisfied"),
    [
        ("AN-187", 1000.0, 0.0, True),
        ("AN-187", 250.0, -0.5, False),
        ("AN-187", 2200.0, 0.1, False),
        ("A2-023", 160.0, 0.0, False),
        ("A2-023", 160.1, 0.0, True),
        ("XV-048", 3.0, None, True),
        ("XV-048", 30.0, None, False),
        ("AN-104", 1.26, 0.0, None),
        ("AN-104", None, None, None),
    ],
)
def test_ranges_bounds_and_zero(
    figure_id: str, modelled: float | None, error: float | None, satisfied: bool | None
) -> None:
    found = judge(figures_by_id()[figure_id], modelled)
    assert found == (pytest.approx(error) if error is not None else None, satisfied)


def test_a_figure_is_fitted_only_if_a_parameter_says_so() -> None:
    found = records()
    assert found["AN-149"]["role"] == "fitted"
    assert found["AN-092"]["role"] == "predicted"


def test_a_longer_identity_does_not_make_a_shorter_one_fitted() -> None:
    found = records([X25_M | {"parameters": [{"key": "x", "source": "fitted to AN-299: reading"}]}])
    assert found["AN-149"]["role"] == "predicted"
    about = "informed: as AN-149 has it"
    found = records([X25_M | {"parameters": [{"key": "x", "source": about}]}])
    assert found["AN-149"]["role"] == "predicted"


def test_what_binds_a_figure_decides_what_it_says() -> None:
    found = records()
    assert found["AN-031"]["role"] == "restated"
    assert found["AN-150"]["role"] == "restated", "a specification counts before another's fit"
    assert found["AN-092"]["role"] == "predicted", "a datasheet's time may bind it"
    assert found["AN-092"]["bound_by"] == []
    assert [(b["key"], b["role"]) for b in found["AN-150"]["bound_by"]] == [
        ("controller.read_path", "specified"),
        ("link.overhead", "fitted"),
    ]
    assert not found["AN-150"]["bound_by_stale"]

    only = [p for p in X25_M["parameters"] if p["key"] != "controller.read_path"]
    found = records([X25_M | {"parameters": only, "hash": "other"}])
    assert found["AN-150"]["role"] == "transferred"
    assert found["AN-150"]["bound_by_stale"]
    informed = {"key": "link.overhead", "source": "informed: as another drive's"}
    found = records([X25_M | {"parameters": [*only[1:], informed]}])
    assert (found["AN-149"]["role"], found["AN-150"]["role"]) == ("informed", "informed")
    nobody = figures.Measured([X25_M], TESTS, {})
    assert {r["id"]: r["role"] for r in figures.compare_all(nobody)}["AN-150"] == "not varied"


def test_a_figure_is_left_out_of_the_fit_that_it_decides() -> None:
    found = records()
    (left,) = found["AN-149"]["left_out"]
    # Fitted to AN-150 instead, which is 0.1 % off and moves a third as far.
    assert left["key"] == "link.overhead"
    shift = -math.log(230 / 230.2) / (math.log(0.97) / math.log(1.1 / 0.9))
    slope = math.log(0.95 / 1.05) / math.log(1.1 / 0.9)
    assert 1 + left["error_ratio"] == pytest.approx(260 / 264.1 * math.exp(slope * shift))
    assert found["AN-150"]["left_out"] == [], "nothing was fitted to it"


def test_what_was_fitted_to_a_figure_is_named_however_little_it_moves_it() -> None:
    rows = {name: replace(row, moves={}) for name, row in ROWS.items()}
    assert [b.key for b in figures.Measured([X25_M], TESTS, rows).bound_by("AN-149")] == [
        "link.overhead"
    ]
    stronger = {key: {"AN-149": Moves(0.2, None)} for key in "abcd"}
    rows = {name: replace(row, moves={**row.moves, **stronger}) for name, row in ROWS.items()}
    specified = [{"key": key, "source": "specified: a limit"} for key in stronger]
    drive = X25_M | {"parameters": [*X25_M["parameters"], *specified]}
    found = [b.key for b in figures.Measured([drive], TESTS, rows).bound_by("AN-149")]
    assert found == ["a", "b", "link.overhead", "c", "d"]


def test_parameters_are_counted_beside_what_they_are_held_against() -> None:
    known = figures.Measured([X25_M], TESTS, ROWS)
    (counts,) = figures.parameter_counts(known, figures.compare_all(known))
    assert counts["roles"] == {
        **dict.fromkeys(("specified", "fitted", "cited"), 1),
        **dict.fromkeys(("informed", "assumed"), 0),
    }
    assert counts["fitted_to_own"] == 1
    assert counts["figures"] - counts["values"] == 2, "AN-109 and AN-167 are bounds"


def test_what_follows_from_a_fitted_measurement_is_fitted_too() -> None:
    # 23.1 MiB/s, "23 MB/s" and 0.51 ms at queue depth 3 are one measurement; the ratio to the new
    # drive is not.
    found = records([model("intel-x25-m-g1-80gb", "fitted to AN-092: writing")])
    assert {found[name]["role"] for name in ("AN-092", "AN-033", "AN-110", "AN-167")} == {"fitted"}
    assert found["AN-108"]["role"] == "predicted"
    both = records(
        [model("intel-x25-m-g1-80gb", "fitted to AN-092: used", "fitted to AN-091: new")]
    )
    assert both["AN-108"]["role"] == "fitted"


def test_a_variant_does_not_inherit_that_its_own_figures_were_fitted() -> None:
    name = "corsair-force-gs-240gb"
    tests = [
        measured("as-ssd-write", "new", 270.0, model_name=name),
        measured("as-ssd-write", "new", 270.0, model_name=f"{name}@5.0.2"),
    ]
    source = "fitted to GS-021: writing"
    found = records([model(name, source), model(f"{name}@5.0.2", source)], tests)
    assert found["GS-021"]["role"] == "fitted"
    assert found["GS-020"]["role"] == "not varied"
    assert found["GS-020"]["model"] == f"{name}@5.0.2"


def test_derived_figures_follow_from_modelled_values() -> None:
    raptor = model(VELOCIRAPTOR, price_usd=50)
    tests = [*TESTS, measured(RANDOM, "new", 1.5, 7500.0, model_name=VELOCIRAPTOR)]
    found = records([X25_M, raptor], tests)
    assert found["AN-108"]["modelled"] == pytest.approx(21 / 40)
    assert found["AN-026"]["modelled"] == pytest.approx((400 / 80) / (50 / 100))
    assert found["AN-113"]["modelled"] == pytest.approx(1.1 / 7.5)
    assert [item["value"] for item in found["AN-108"]["inputs"]] == [21.0, 40.0]


def test_what_contradicts_itself_or_is_arithmetic_is_shown_but_not_judged() -> None:
    raptor = model(VELOCIRAPTOR, price_usd=50)
    tests = [*TESTS, measured(RANDOM, "new", 1.5, 7500.0, model_name=VELOCIRAPTOR)]
    found = records([X25_M, raptor], tests)
    for name, words in (("AN-113", "contradicts itself"), ("AN-026", "arithmetic")):
        assert found[name]["modelled"] is not None
        assert found[name]["role"] == "none"
        assert words in found[name]["reason"]


def test_reasons_say_what_is_missing() -> None:
    found = records()
    assert found["AN-083"]["reason"] == "not measured: pcmark-vantage in state new"
    assert found["AN-117"]["reason"].startswith("not measured: pcmark-vantage in state used")
    assert found["AN-090"]["reason"] == "not among the models compared: intel-x25-e-32gb"
    assert "sequential-write-2m in state used" in found["AN-032"]["reason"]
    assert "hard disks in general" in found["AN-029"]["reason"]


def test_a_review_shows_other_drives_beside_its_own() -> None:
    found = {record["id"]: record for record in figures.compare([X25_M], TESTS)}
    assert found["AN-090"]["drive"] == "Intel X25-E"
    assert found["AN-090"]["model"] is None
    assert found["AN-090"]["role"] == "none"
    assert found["AN-090"]["published"] == 31.7
    assert "AN-162" not in found  # no test of inner tracks ran


def test_the_needed_measurements_are_those_of_the_drives_figures() -> None:
    needed = {
        (item.model, item.test_id, item.state)
        for item in figures.readings_for("intel-x25-m-g1-80gb")
    }
    assert ("intel-x25-m-g1-80gb", RANDOM, "used") in needed
    assert ("intel-x25-m-g1-80gb", "access-time", "used") in needed
    assert ("intel-x25-m-g1-80gb", "sequential-write-2m", "new") not in needed
    assert (VELOCIRAPTOR, RANDOM, "new") in needed  # for the multiples of it


def test_models_without_figures_are_known() -> None:
    assert figures.has_figures("intel-x25-m-g1-80gb")
    assert figures.has_figures("corsair-force-gs-240gb@5.0.2")
    assert not figures.has_figures("hypothetical")


@pytest.mark.parametrize(("found", "modelled"), [(32768.0, 32.0), (None, None)])
def test_what_a_compound_test_looks_for_is_found_or_said_to_be_missing(
    found: float | None, modelled: float | None
) -> None:
    name = "corsair-force-gs-240gb@5.0.2"
    values = [{"name": "write_mib_per_s", "value": 500.0, "unit": "MiB/s"}]
    values.append({"name": "write_anomaly_bytes", "value": found, "unit": "B"})
    atto = {"model": name, "id": "atto", "state": "tortured-trimmed", "values": values}
    record = records([model(name)], [atto])["GS-007"]
    assert record["modelled"] == modelled
    assert ("cleaning" in record["reason"]) == (modelled is None)
    assert "not measured" in records([model(name)], [])["GS-007"]["reason"]
