"""The numbers of docs/errors.md: defaults by cell as a drive has them, and what follows of them."""

from __future__ import annotations

import json
import re
from math import exp, lgamma, log
from pathlib import Path

import pytest

from drivelab import cli

PAGE = (Path(__file__).parents[2] / "docs" / "errors.md").read_text(encoding="utf-8")
WORDS = " ".join(PAGE.split())
CELLS = ("slc", "mlc", "tlc", "qlc")
MODEL = "intel-x25-m-g1-80gb"
"""It says nothing of bits that go wrong."""
YEAR_HOURS = 8760
NO_ERRORS = ("flash.erase_failure_rate", "flash.initial_cycles", "controller.refresh_bits")
"""Off unless somebody asks for them; the page says so in words."""


def shown(cell: str, capsys: pytest.CaptureFixture[str]) -> dict[str, float]:
    """What a drive of these cells has by default, as the command tells it."""
    sets = [f"flash.cell={cell}", "flash.bit_errors=true"]
    command = ["show", MODEL, "--json", *(word for one in sets for word in ("--set", one))]
    assert cli.run(command) == 0
    parameters = json.loads(capsys.readouterr().out)["parameters"]
    return {row["key"]: row["value"] for row in parameters if row["default"]}


def table() -> dict[str, list[str]]:
    """The table of parameters: four values and a source, by key."""
    rows = re.findall(r"^\| `(\S+)` \|(.*)\|$", PAGE, re.MULTILINE)
    return {key: [cell.strip() for cell in rest.split("|")] for key, rest in rows}


def test_the_table_is_what_drives_of_these_cells_have(capsys: pytest.CaptureFixture[str]) -> None:
    rows = table()
    assert cli.run(["show", MODEL, "--json"]) == 0
    without = {row["key"] for row in json.loads(capsys.readouterr().out)["parameters"]}
    for at, cell in enumerate(CELLS):
        found = shown(cell, capsys)
        assert found["flash.slc_endurance_cycles"] == 30_000
        assert "`flash.slc_endurance_cycles` is 30,000 (assumed)" in WORDS
        said = {key: float(cells[at]) for key, cells in rows.items()}
        assert said == {key: found[key] for key in rows}, cell
        more = set(found) - without - set(rows) - {"flash.slc_endurance_cycles", *NO_ERRORS}
        assert not more, f"{cell}: defaults that docs/errors.md doesn't have: {more}"
    assert all(cells[-1].startswith("assumed") for cells in rows.values()), "a source for each"


def more_than(most: int, mean: float) -> float:
    """The tail of the Poisson distribution, from which wrong bits of a codeword are drawn."""
    wrong = range(most + 1, most + 600)
    return sum(exp(count * log(mean) - mean - lgamma(count + 1)) for count in wrong)


def left_of(found: dict[str, float], wear: float, hours: float) -> float:
    """Mean wrong bits of a codeword after the last retry, by the page's formula."""
    new, worn = found["flash.new_bit_error_rate"], found["flash.worn_bit_error_rate"]
    rate = new + (worn - new) * wear ** found["flash.wear_exponent"]
    rate *= 1 + hours / found["flash.retention_hours"]
    bits = 8 * found["controller.codeword_bytes"]
    return float(bits * rate * found["controller.retry_factor"] ** found["controller.read_retries"])


def lost(found: dict[str, float], wear: float, hours: float = 0) -> float:
    """Chance that no retry corrects a codeword."""
    return more_than(int(found["controller.correctable_bits"]), left_of(found, wear, hours))


def lasts(found: dict[str, float], chance: float) -> float:
    """Times the rated erases after which a codeword is lost with this chance."""
    low, high = 0.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if lost(found, middle) < chance else (low, middle)
    return low


def test_what_the_page_makes_of_the_defaults_is_what_its_formula_says(
    capsys: pytest.CaptureFixture[str],
) -> None:
    by_cell = {cell: shown(cell, capsys) for cell in CELLS}
    tlc, qlc = by_cell["tlc"], by_cell["qlc"]
    years = [round(left_of(tlc, 1, number * YEAR_HOURS)) for number in (1, 2, 3)]
    assert "which retries bring to {}; after two years {}, after three {},".format(*years) in WORDS
    assert f"one in {1 / lost(tlc, 1, 3 * YEAR_HOURS) / 1e6:.0f} million is lost" in WORDS
    assert f"QLC comes to {left_of(qlc, 1, YEAR_HOURS):.0f} after its year" in WORDS
    assert f"a chance of {lost(qlc, 1, YEAR_HOURS):.1e}" in WORDS
    assert (
        f"{lasts(by_cell['mlc'], 1e-7):.1f} times (MLC), {lasts(tlc, 1e-7):.1f} times (TLC) and "
        f"{lasts(qlc, 1e-7):.1f} times (QLC)"
    ) in WORDS
