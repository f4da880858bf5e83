from __future__ import annotations

from dataclasses import replace

import pytest

from drivelab import procedures, states
from drivelab.figures import ordering_readings, readings_for, tables
from drivelab.figures.published import figures_by_id
from drivelab.figures.readings import Reading, reading_of

FORCE = "corsair-force-f100-100gb"
GS = "corsair-force-gs-240gb"


@pytest.mark.parametrize(
    ("figure_id", "model", "test_id", "state"),
    [
        ("AN-027", "intel-x25-m-g1-80gb", "access-time", "used"),
        ("AN-150", "intel-x25-m-g1-80gb", "sequential-read-2m", "used"),
        ("AN-149", "intel-x25-m-g1-80gb", "sequential-read-2m", "new"),
        ("AN-032", "intel-x25-m-g1-80gb", "sequential-write-2m", "used"),
        ("AN-092", "intel-x25-m-g1-80gb", "random-write-4k-qd3-sector", "used"),
        ("AN-109", "intel-x25-m-g1-80gb", "random-write-4k-qd3-sector", "new"),
        ("AN-200", "intel-x25-m-g1-80gb", "random-write-4k-qd1-drive", "new"),
        ("AN-196", "ocz-vertex-120gb@pre-release", "random-write-4k-qd1-sector", "used"),
        ("AN-099", "ocz-vertex-120gb", "random-write-4k-qd3-sector", "new"),
        ("AN-214", "ocz-vertex-120gb", "random-read-4k-qd3-drive", "used"),
        ("AN-028", "wd-velociraptor-300gb", "access-time", "new"),
        ("AN-164", "wd-velociraptor-300gb", "sequential-read-2m-end", "new"),
        ("A2-029", FORCE, "random-write-4k-qd3-aligned", "new"),
        ("A2-030", FORCE, "random-write-4k-qd3-aligned-random-data", "new"),
        ("A2-035", FORCE, "random-read-4k-qd3-sector", "filled"),
        ("A2-036", FORCE, "random-read-4k-qd3-sector", "filled-random"),
        ("A2-038", FORCE, "sequential-read-2m", "filled"),
        ("A2-039", FORCE, "sequential-read-2m-random-data", "new"),
        ("GS-003", f"{GS}@5.0.2", "hdtach-read", "tortured"),
        ("GS-011", GS, "hdtach-write", "tortured-trimmed"),
        ("GS-013", GS, "hdtach-write", "tortured-trimmed"),
        ("GS-022", f"{GS}@5.0.2", "as-ssd-read", "tortured-random"),
        ("GS-027", GS, "as-ssd-read", "tortured-random-trimmed"),
    ],
)
def test_every_measured_figure_is_repeated_as_the_review_did(
    figure_id: str, model: str, test_id: str, state: str
) -> None:
    reading = reading_of(figures_by_id()[figure_id])
    assert reading is not None
    assert (reading.model, reading.test_id, reading.state) == (model, test_id, state)


def test_random_data_is_not_mixed_up_with_incompressible_s_opposite() -> None:
    # The words of A2-023 are "iometer pseudo-random (compressible)".
    reading = reading_of(figures_by_id()["A2-023"])
    assert reading is not None
    assert reading.test_id == "random-write-4k-qd3-aligned"


@pytest.mark.parametrize(
    ("figure_id", "changes"),
    [
        ("AN-214", {"data": "random"}),  # Read in the used state, which holds something of both.
        ("AN-032", {"bs_kb": 128}),
        ("A2-029", {"data": "compressible", "align_b": 8192}),
        ("GS-018", {"qd": 4}),
    ],
)
def test_a_figure_of_other_data_or_requests_than_any_test_has_is_not_read_off_the_nearest(
    figure_id: str, changes: dict[str, object]
) -> None:
    figure = figures_by_id()[figure_id]
    assert reading_of(figure) is not None
    assert reading_of(replace(figure, workload=figure.workload | changes)) is None


def test_the_laboratory_has_every_test_and_state_that_is_needed() -> None:
    needed = readings_for() | ordering_readings()
    assert {item.test_id for item in needed} <= set(procedures.PROCEDURES)
    assert {item.state for item in needed} <= set(states.STATES)


def test_hard_disks_are_measured_in_one_state() -> None:
    needed = readings_for() | ordering_readings()
    disks = tables.one_state_models()
    assert len(disks) == 3
    assert {item.state for item in needed if item.model in disks} == {"new"}


def test_remarks_and_formulas_are_about_figures_that_there_are() -> None:
    named = set(tables.formulas())
    for section in (
        "contradicted",
        "arithmetic",
        "no_model",
        "not_found",
        "scenario",
        "fitted",
        "beside",
    ):
        named |= set(tables.remarks(section))
    assert named <= set(figures_by_id())


def test_cells_and_counters_of_compound_tests_are_read_by_name() -> None:
    rows = [
        {"percent_left": 46, "workload": "4 KB random write", "write_amplification": 0.5},
        {"percent_left": 46.0, "workload": "4 KB random read", "write_amplification": None},
    ]
    record = {
        "tables": [{"name": "shares", "rows": rows}],
        "counters": {"program_bytes_cleaning": 7},
    }

    def read(name: str) -> float | None:
        return Reading("model", "test", "new", name).value(record)

    where = "percent_left=46,workload=4 KB random"
    assert read(f"cell:shares:{where} write:write_amplification") == 0.5
    assert read(f"cell:shares:{where} read:write_amplification") is None
    assert read(f"cell:others:{where} write:write_amplification") is None
    assert read("counter:program_bytes_cleaning") == 7
    assert read("counter:erases_wear") is None
    with pytest.raises(KeyError):
        read("speed")
