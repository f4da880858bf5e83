"""What lay on a shelf needs as many retries as its wrong bits say, and loses as much."""

from __future__ import annotations

from typing import Any

import pytest
from binomial_tail import more_than
from small import MODEL_NAME, OVERRIDES

from drivelab import model
from drivelab.model import Model
from drivelab.procedures import PROCEDURES
from drivelab.procedures.retention import DAYS, WEARS
from drivelab.progress import TaskProgress
from drivelab.targets import EngineTarget

TEST = PROCEDURES["retention"]
BITS, CORRECTABLE, RETRIES, FACTOR = 8192, 72, 8, 0.8
NEW, WORN, RETENTION_HOURS = 2e-4, 1e-3, 1000
"""Of the defaults of TLC."""
TLC = (
    *OVERRIDES,
    ("flash.cell", "tlc"),
    ("flash.endurance_cycles", "3000"),
    ("flash.read_disturb_reads", "1000000000000"),
)


def measured(drive: Model, quick: bool = False) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    progress = TaskProgress(TEST.id)
    found = TEST.measure(EngineTarget(drive, 1), 1, quick, progress).found()
    rows = found["tables"][0]["rows"] if found["tables"] else []
    assert not rows or 0.99 < progress.fraction < 1.01
    return rows, {v["name"]: v["value"] for v in found["values"]}


def expected(row: dict[str, Any]) -> tuple[float, float]:
    """Retries of a read of four codewords, and the share of codewords that is lost."""
    rate = NEW + (WORN - NEW) * (row["wear_percent"] / 100) ** 2
    rate *= 1 + 24 * row["days"] / RETENTION_HOURS
    tails = [more_than(CORRECTABLE, BITS, rate * FACTOR**retry) for retry in range(RETRIES + 1)]
    return sum(1 - (1 - tail) ** 4 for tail in tails[:-1]), tails[-1]


def test_retries_and_losses_are_those_of_the_tails_and_rise() -> None:
    # Losses that a small drive can show.
    rows, values = measured(model.load(MODEL_NAME, (*TLC, ("controller.read_retries", "8"))))
    assert [(row["wear_percent"], row["days"]) for row in rows] == [
        (wear, days) for wear in WEARS for days in DAYS
    ]
    for row in rows:
        retries, lost = expected(row)
        # Two hours of rest and the fill make it a little older.
        assert row["retries_per_read"] == pytest.approx(retries, rel=0.04, abs=0.01), row
        codewords = row["scan_gb"] * 1e9 / 1024
        assert row["lost_codewords"] == pytest.approx(lost * codewords, rel=0.1, abs=3), row
    for key in ("mean_ms", "retries_per_read", "lost_codewords"):
        for wear in WEARS:
            of_wear = [row[key] for row in rows if row["wear_percent"] == wear]
            assert of_wear == sorted(of_wear)
        for days in DAYS:
            of_age = [row[key] for row in rows if row["days"] == days]
            assert of_age == sorted(of_age)
    worn = next(row for row in rows if (row["wear_percent"], row["days"]) == (100, 365))
    assert values["year_mean_ms"] == worn["mean_ms"] > values["new_mean_ms"]
    # Each retry is one more sensing and its way over the bus.
    sensing_ms = (50_000 + 107_850 + 1_000) / 1e6
    more_ms = worn["retries_per_read"] * sensing_ms
    assert worn["mean_ms"] == pytest.approx(values["new_mean_ms"] + more_ms, rel=0.01)


def test_without_retries_a_year_costs_sectors() -> None:
    rows, values = measured(model.load(MODEL_NAME, (*TLC, ("controller.read_retries", "0"))), True)
    worn = rows[-1]
    assert (worn["wear_percent"], worn["days"]) == (100, 365)
    assert worn["failed_percent"] > 50
    assert values["year_lost_codewords"] == worn["lost_codewords"] > 0
    assert values["year_retries"] == 0


def test_the_span_is_that_of_the_drive_on_the_shelf() -> None:
    large = model.load("samsung-980-pro-1tb", (("scale_divisor", "64"),))
    found = TEST.measure(EngineTarget(large, 1), 1, True, TaskProgress(TEST.id))
    assert found.span_bytes is not None
    assert found.span_bytes < large.user_capacity_bytes
    [note] = [note for note in found.notes if note.startswith("a small version, 1/")]
    divisor = int(note.split("1/")[1].split()[0])
    assert found.span_bytes == pytest.approx(large.user_capacity_bytes * 64 / divisor, rel=0.1)


def test_a_drive_that_can_not_be_so_small_is_as_small_as_can_be() -> None:
    drive = model.load("intel-660p-1tb", (("scale_divisor", "16"),))
    found = TEST.measure(EngineTarget(drive, 1), 1, True, TaskProgress(TEST.id))
    assert found.span_bytes is not None
    assert found.tables


def test_a_drive_of_another_family_has_no_values() -> None:
    rows, values = measured(model.load("jmicron-jmf602b-64gb", (("scale_divisor", "16"),)))
    assert rows == []
    assert set(values.values()) == {None}


def test_the_drives_of_an_array_lie_on_a_shelf() -> None:
    """Worn out, its flash of so weak a code needs the retries that one of its drives needs."""
    weak = {"controller.correctable_bits": "2", "controller.read_retries": "8"}
    found = {}
    for name, member in (("intel-x25-v-40gb", ""), ("intel-x25-v-40gb-raid0-x2", "member.")):
        changed = [(member + key, value) for key, value in weak.items()]
        drive = model.load(name, (("scale_divisor", "64"), *changed))
        rows, found[name] = measured(drive, quick=True)
        retries = [row["retries_per_read"] for row in rows]
        assert retries[-1] == max(retries)
    one, both = found.values()
    assert both["year_retries"] > 0.1
    assert both["year_retries"] == pytest.approx(one["year_retries"], rel=0.15)
