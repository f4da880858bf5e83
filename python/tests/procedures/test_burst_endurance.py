"""Bursts are fast for as long as what they take and what pauses give back allow: by arithmetic, on
drives with an SLC cache, with spare area alone, and with nothing that could be used up."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from small import MODEL_NAME, OVERRIDES

from drivelab import model
from drivelab.model import Model
from drivelab.procedures import PROCEDURES
from drivelab.procedures.burst_endurance import (
    FALLEN,
    bursts_held,
    fast_pieces,
)
from drivelab.progress import TaskProgress
from drivelab.states import STATES
from drivelab.targets import EngineTarget

TEST = PROCEDURES["burst-endurance"]
Row = dict[str, Any]
SMALL = ("scale_divisor", "64")


def measured(drive: Model, quick: bool = False) -> tuple[list[Row], dict[str, Any], list[str]]:
    target = EngineTarget(drive, 1)
    STATES["filled"].prepare(target, lambda state: 1, TaskProgress("filled"))
    progress = TaskProgress(TEST.id)
    found = TEST.measure(target, 1, quick, progress).found()
    assert progress.fraction == pytest.approx(1, abs=0.01)
    values = {value["name"]: value["value"] for value in found["values"]}
    return found["tables"][0]["rows"], values, found["notes"]


@given(st.integers(1, 10_000), st.integers(1, 1_000), st.integers(0, 1_000))
def test_the_formula_is_what_taking_and_giving_back_comes_to(
    reserve: int, burst: int, back: int
) -> None:
    """A dumber count: burst by burst."""
    assume(burst <= reserve)
    taken, held = 0, 0
    while taken + burst <= reserve and held < 20_000:
        held += 1
        taken = max(0, taken + burst - back)
    assert bursts_held(reserve, burst, back) == (None if back >= burst else held)
    assert bursts_held(reserve, reserve + 1, back) == 0


def test_speed_falls_where_several_pieces_are_slow() -> None:
    # The first is the write buffer's, and one that is slow by itself is no end.
    assert fast_pieces([50, 9, 9, 1, 9, 1, 1, 1]) == 5
    assert fast_pieces([9] * 8) == 8
    assert fast_pieces([1] * FALLEN, full=9) == 0


def held_as_reckoned(rows: list[Row], reserve_gb: float) -> set[str]:
    """Holds every duty to the arithmetic, within a burst; what is kept says how many were tried."""
    for row in rows:
        expected = row["arithmetic_bursts"]
        if row["kept"] == "yes":
            assert row["bursts"] is row["written_gb"] is None
            assert row["then_mb_per_s"] == pytest.approx(row["first_mb_per_s"], rel=0.1)
            assert expected is None or expected >= 3 * reserve_gb / row["burst_gb"] - 1, row
        else:
            assert row["bursts"] == pytest.approx(expected, abs=1), row
            assert row["written_gb"] == pytest.approx(row["bursts"] * row["burst_gb"])
            assert row["then_mb_per_s"] < 0.9 * row["first_mb_per_s"]
    return {row["kept"] for row in rows}


def test_a_cache_lasts_as_long_as_what_is_folded_in_pauses_allows() -> None:
    rows, values, _ = measured(model.load("samsung-980-pro-1tb", (SMALL,)))
    assert values["full_mb_per_s"] > 3 * values["sustained_mb_per_s"]
    # A drive that folds a second after the last write makes nothing of a pause of one.
    assert held_as_reckoned(rows, values["reserve_gb"]) == {"yes", "no"}
    assert {row["pause_s"] for row in rows if row["kept"] == "no"} == {1}
    assert values["kept_pause_s"] == 10
    assert values["back_10_s_gb"] == pytest.approx(values["reserve_gb"] / 2, rel=0.05)
    backs = {row["pause_s"]: row["back_gb"] for row in rows}
    assert list(backs.values()) == sorted(backs.values())


def test_a_drive_that_folds_later_needs_longer_pauses() -> None:
    late = ("controller.idle_delay_ns", str(20 * 10**9))
    rows, values, notes = measured(model.load("samsung-980-pro-1tb", (SMALL, late)), quick=True)
    assert held_as_reckoned(rows, values["reserve_gb"]) == {"yes", "no"}
    assert (values["back_10_s_gb"], values["kept_pause_s"]) == (0, 60)
    assert "a small version" in notes[0]


def test_spare_area_is_a_reserve_too() -> None:
    """The X25-M cleans no further in a pause than it has begun: nothing comes back."""
    drive = model.load(MODEL_NAME, (SMALL,))
    rows, values, _ = measured(drive, quick=True)
    spare_gb = drive.description["derived"]["effective_spare_bytes"] / 1e9
    # Before the speed falls some of what was written twice is erased as well.
    assert spare_gb < values["reserve_gb"] < 1.35 * spare_gb
    assert held_as_reckoned(rows, values["reserve_gb"]) == {"no"}
    assert values["back_10_s_gb"] == 0
    assert values["kept_pause_s"] is None


def test_a_drive_that_is_never_slower_has_no_reserve() -> None:
    rows, values, notes = measured(
        model.load(MODEL_NAME, (*OVERRIDES[:1], ("user_capacity_bytes", "249999360"))), quick=True
    )
    assert [(row["kept"], row["pause_s"], row["bursts"]) for row in rows] == [("yes", 0, None)]
    assert values["reserve_gb"] is values["back_10_s_gb"] is None
    assert values["kept_pause_s"] == 0
    assert values["sustained_mb_per_s"] == pytest.approx(values["full_mb_per_s"], rel=0.1)
    assert "no burst is too long" in notes[0]
