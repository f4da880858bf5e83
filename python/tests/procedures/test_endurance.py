"""A drive is worn out when its wrong bits say so, and the forecast is what it counts."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from binomial_tail import more_than
from small import MODEL_NAME, OVERRIDES

from drivelab import model
from drivelab.counters import spent
from drivelab.model import Model
from drivelab.procedures import PROCEDURES
from drivelab.procedures.endurance import ERASES
from drivelab.progress import TaskProgress
from drivelab.targets import EngineTarget

TEST = PROCEDURES["endurance"]
QUARTER = {
    **dict(OVERRIDES),
    "flash.channel_count": "5",
    "flash.dies_per_channel": "2",
    "user_capacity_bytes": "249999360",
    "ftl.checkpoint_bytes": "1900000",
}
"""Of the small drive, with all that it has of a die: what wears it out is a quarter of the work."""
CODEWORD_BITS, CORRECTABLE, RETRIES, FACTOR = 4096, 8, 4, 0.5
NEW, WORN = 1e-7, 1e-4
"""Of the defaults of MLC."""


def quarter(**more: int | str) -> Model:
    """Ten dies; `more` are keys of the flash."""
    changed = {f"flash.{key}": str(value) for key, value in more.items()}
    return model.load(MODEL_NAME, tuple((QUARTER | changed).items()))


class Outcome(NamedTuple):
    """What the test gives: rows of its table, values by name, and what it says besides."""

    rows: list[dict[str, Any]]
    values: dict[str, Any]
    notes: str


def measured(drive: Model, quick: bool = False) -> Outcome:
    found = TEST.measure(EngineTarget(drive, 1), 1, quick, TaskProgress(TEST.id)).found()
    assert found["notes"]
    rows = found["tables"][0]["rows"] if found["tables"] else []
    return Outcome(
        rows, {v["name"]: v["value"] for v in found["values"]}, "\n".join(found["notes"])
    )


def corrects(bits: int) -> Model:
    return model.load(MODEL_NAME, (*QUARTER.items(), ("controller.correctable_bits", str(bits))))


@cache
def quick_on_quarter(**flash: int) -> Outcome:
    """The quick test, which several tests look at."""
    return measured(quarter(**flash), quick=True)


def lost_of_a_codeword(erases_percent: float) -> float:
    """Chance that no retry corrects it."""
    rate = NEW + (WORN - NEW) * (erases_percent / 100) ** 2
    return more_than(CORRECTABLE, CODEWORD_BITS, rate * FACTOR**RETRIES)


def test_the_forecast_is_what_the_drive_counts_and_losses_begin_where_the_tail_does() -> None:
    drive = quarter()
    rows, values, notes = measured(drive)
    cycles = drive.value("flash.endurance_cycles")
    raw = drive.description["derived"]["raw_capacity_bytes"]
    assert values["forecast_tbw"] == pytest.approx(
        raw * cycles / values["write_amplification"] / 1e12
    )
    assert values["rated_tbw"] == pytest.approx(values["forecast_tbw"], rel=0.01)
    capacity_bytes = drive.engine.user_capacity_bytes
    a_day = values["rated_tbw"] * 1e12 / capacity_bytes / (5 * 365)
    assert values["drive_writes_a_day"] == pytest.approx(a_day)
    # The first loss lies in the last round, anywhere between its ends.
    assert [bool(row["lost_codewords"]) for row in rows[-2:]] == [False, True]
    assert values["no_loss_tbw"] == rows[-2]["tbw"] < values["first_loss_tbw"] == rows[-1]["tbw"]
    assert values["read_only_tbw"] is None
    # A round copies this many codewords; the most worn blocks are an erase or two above the mean.
    codewords = capacity_bytes / 2 * values["write_amplification"] / 512
    more = 100 * 2 / ERASES
    until = [codewords * lost_of_a_codeword(row["rated_percent"] + more) for row in rows]
    assert until[-1] > 0.05, "something was lost before it could be"
    without = [codewords * lost_of_a_codeword(row["rated_percent"] - more) for row in rows[:-1]]
    assert sum(without) < 6, "so much should have been lost before"
    retries = [row["read_retries"] for row in rows]
    assert retries[0] == 0 < retries[-1]
    # Every round writes as much, whatever it erases for that; of the first two, after which write
    # amplification is what it stays, erases count.
    amplifications = [row["write_amplification"] for row in rows]
    assert amplifications[0] < amplifications[1] / 1.1
    assert amplifications[1:] == pytest.approx(
        [values["write_amplification"]] * (len(rows) - 1), rel=0.03
    )
    assert "of the first 2 rounds reckoned from the erases" in notes
    steps = [b["tbw"] - a["tbw"] for a, b in pairwise(rows[1:])]
    assert steps == pytest.approx([steps[0]] * len(steps), rel=1e-6)
    assert steps[0] == pytest.approx(capacity_bytes / 2 * cycles / ERASES / 1e12, rel=1e-4)


def test_more_correction_lasts_longer() -> None:
    def first_loss(bits: int) -> float:
        return float(measured(corrects(bits), quick=True).values["first_loss_tbw"])

    assert first_loss(4) < first_loss(6) < first_loss(9)


def test_used_flash_is_worn_out_sooner() -> None:
    half = quarter().value("flash.endurance_cycles") // 2

    new = quick_on_quarter().values["first_loss_tbw"]
    used = quick_on_quarter(initial_cycles=4 * half).values["first_loss_tbw"]
    rated = quick_on_quarter().values["rated_tbw"]
    # Rounds are three quarters of the rated erases.
    assert new - used == pytest.approx(2 * rated, abs=0.8 * rated)


def test_what_used_flash_has_left_is_its_rated_erases_less_those_behind_it() -> None:
    cycles = quarter().value("flash.endurance_cycles")
    first = quick_on_quarter().rows[0]["rated_percent"]
    rows, values, notes = quick_on_quarter(initial_cycles=cycles // 2)
    left = quarter().description["derived"]["raw_capacity_bytes"] * cycles / 2
    assert values["forecast_tbw"] == pytest.approx(left / values["write_amplification"] / 1e12)
    assert values["rated_tbw"] == pytest.approx(values["forecast_tbw"], rel=0.15)
    assert rows[0]["rated_percent"] == pytest.approx(first + 50)
    assert f"counts as {cycles // 2} " in notes
    # Of four erases a tenth of one is nothing, and the notes say so.
    few = cycles // 40
    rows, _, notes = quick_on_quarter(initial_cycles=few)
    assert rows[0]["rated_percent"] == pytest.approx(first)
    assert f"flash.initial_cycles = {few} counts as 0 " in notes


def test_erases_that_fail_end_in_a_drive_that_only_reads() -> None:
    # The chance is of thousands of erases, of which this drive has four.
    rows, values, _ = measured(quarter(erase_failure_rate="2e-5"), quick=True)
    assert values["first_loss_tbw"] is None
    assert values["no_loss_tbw"] == values["read_only_tbw"]
    assert values["read_only_tbw"] == rows[-1]["tbw"]
    assert rows[-1]["blocks_retired"] > 0


def test_a_drive_that_ends_before_its_rated_erases_has_nothing_written_at_them() -> None:
    rows, values, notes = measured(quarter(erase_failure_rate="2e-4"), quick=True)
    percent = rows[-1]["rated_percent"]
    assert percent < 100
    assert values["read_only_tbw"] == rows[-1]["tbw"]
    assert values["rated_tbw"] is None
    assert values["drive_writes_a_day"] is None
    assert f"only reads after {percent:.0f} % of the rated erases: " in notes
    assert "goes on from there" not in notes


def test_a_drive_that_loses_a_sector_before_its_rated_erases_is_said_to_go_on() -> None:
    rows, values, notes = measured(corrects(1), quick=True)
    assert rows[-1]["rated_percent"] < 100
    assert values["rated_tbw"] > values["first_loss_tbw"]
    assert "goes on from there at the same rate" in notes
    assert "goes on from there" not in quick_on_quarter().notes


def test_a_rate_of_failures_that_a_small_version_cannot_have_is_said_to_be_less() -> None:
    """All of them gave the same, without a word."""
    factor = quarter().value("flash.endurance_cycles") / 4
    most = f"counts as {1 / factor:.4g}: "
    one, other = (measured(quarter(erase_failure_rate=rate), quick=True) for rate in ("0.02", "1"))
    assert one.rows == other.rows
    assert f"flash.erase_failure_rate = 0.02 {most}" in one.notes
    assert f"flash.erase_failure_rate = 1 {most}" in other.notes
    assert (
        "erase_failure_rate" not in measured(quarter(erase_failure_rate="2e-5"), quick=True).notes
    )


def test_blocks_that_fail_cost_erases_and_no_bytes() -> None:
    """Fewer blocks, more erases for as much: the rated erases are come to with less written."""
    rows, values, _ = measured(quarter(erase_failure_rate="2e-6"))
    # The last round ended where the drive only reads.
    whole = list(pairwise(rows[:-1]))
    written = [b["tbw"] - a["tbw"] for a, b in whole]
    assert written == pytest.approx([written[0]] * len(whole), rel=1e-6)
    first, *_, last = (b["rated_percent"] - a["rated_percent"] for a, b in whole)
    assert last > 1.2 * first
    before, after = next(
        (a, b) for a, b in pairwise(rows) if a["rated_percent"] < 100 <= b["rated_percent"]
    )
    share = (100 - before["rated_percent"]) / (after["rated_percent"] - before["rated_percent"])
    rated = before["tbw"] + share * (after["tbw"] - before["tbw"])
    assert values["rated_tbw"] == pytest.approx(rated)


CACHED = "samsung-980-pro-1tb"


def cached(*more: tuple[str, str]) -> Model:
    """Two dies with an SLC cache."""
    small = {
        "flash.channel_count": 1,
        "flash.dies_per_channel": 2,
        "flash.blocks_per_plane": 48,
        "flash.pages_per_block": 192,
        "user_capacity_bytes": 400_000_000,
        "slc_cache.max_bytes": 60_000_000,
        "slc_cache.static_bytes": 30_000_000,
        "slc_cache.when_full": "wait",
        "slc_cache.reserve_bytes": 0,
        "write_buffer.size_bytes": 4_000_000,
    }
    overrides = [(key, str(value)) for key, value in small.items()]
    return model.load(CACHED, (*overrides, *more))


def test_blocks_with_one_bit_a_cell_are_erased_for_less_data() -> None:
    _, values, _ = measured(cached(), quick=True)
    assert 0.5 < values["rated_tbw"] / values["forecast_tbw"] < 0.97


def test_what_is_lost_while_the_drive_is_filled_is_no_drive_that_lasted() -> None:
    # What folding reads from a cache of such cells is lost before the first round.
    ruined = (
        ("flash.bit_errors", "true"),
        ("flash.slc_new_bit_error_rate", "0.4"),
        ("flash.slc_worn_bit_error_rate", "0.4"),
    )
    _, values, notes = measured(cached(*ruined), quick=True)
    assert "lost while the drive was filled" in notes
    assert "nothing was lost" not in notes
    assert values["no_loss_tbw"] in (0, None)


def test_a_drive_that_loses_nothing_says_so() -> None:
    rows, values, notes = measured(corrects(100), quick=True)
    assert "nothing was lost after" in notes
    assert values["first_loss_tbw"] is None
    assert values["no_loss_tbw"] == rows[-1]["tbw"]


def test_bytes_of_a_small_version_are_said_to_be_its_own() -> None:
    small = model.load("intel-x25-v-40gb", [("scale_divisor", "128")])
    _, values, notes = measured(small, quick=True)
    assert values["rated_tbw"] < 1, "of the drive some thirty"
    assert "a small version, 1/128 of the drive: bytes written are its own" in notes
    assert "small version" not in quick_on_quarter().notes


def test_a_drive_of_another_family_has_no_values() -> None:
    rows, values, _ = measured(model.load("corsair-force-f100-100gb", (("scale_divisor", "64"),)))
    assert rows == []
    assert set(values.values()) == {None}


def test_one_seed_one_result() -> None:
    assert measured(quarter(), quick=True) == quick_on_quarter()


def test_a_drive_that_only_read_before_a_job_is_not_counted_as_one_that_does_not() -> None:
    before = {"read_only": 1, "host_write_bytes": 5}
    assert spent(before, before) == {"host_write_bytes": 0}


SMALL = (("scale_divisor", "64"),)


def test_an_array_is_worn_out_as_its_drives_are() -> None:
    """Two of them take twice as much."""
    both = measured(model.load("intel-x25-v-40gb-raid0-x2", SMALL), quick=True)
    one = measured(model.load("intel-x25-v-40gb", SMALL), quick=True)
    for key in ("forecast_tbw", "rated_tbw", "no_loss_tbw", "first_loss_tbw"):
        assert both.values[key] == pytest.approx(2 * one.values[key], rel=0.03), key
    for key in ("write_amplification", "drive_writes_a_day"):
        assert both.values[key] == pytest.approx(one.values[key], rel=0.03), key
    used = (*SMALL, ("member.flash.initial_cycles", "2500"))
    worn = measured(model.load("intel-x25-v-40gb-raid0-x2", used), quick=True)
    assert worn.values["forecast_tbw"] == pytest.approx(both.values["forecast_tbw"] / 2, rel=0.03)
    assert "member.flash.initial_cycles = 2500 counts as 2500" in worn.notes


def test_an_array_of_drives_whose_bits_cannot_go_wrong_says_so() -> None:
    outcome = measured(model.load("gskill-titan-128gb", SMALL), quick=True)
    assert set(outcome.values.values()) == {None}
    assert "not measured: no drive can be made for it: " in outcome.notes
    assert "only to page-map" in outcome.notes


def test_an_array_of_drives_that_differ_has_no_values(tmp_path: Path) -> None:
    path = tmp_path / "unlike.toml"
    path.write_text(
        'name = "unlike"\ntitle = "Unlike"\nfamily = "raid-0"\n'
        'members = ["intel-x25-v-40gb", "intel-x25-m-g1-80gb"]\n[array]\nstrip_bytes = 65536\n',
        encoding="utf-8",
    )
    outcome = measured(model.load(str(path), SMALL), quick=True)
    assert set(outcome.values.values()) == {None}
    assert "differ" in outcome.notes
