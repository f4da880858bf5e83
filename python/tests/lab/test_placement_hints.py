"""Hints of the host on a drive of today: what examples/placement_hints.py finds is what theory says
of mixed and of separated data, and what was measured of a drive as full [LMCACHE]."""

from __future__ import annotations

import re
import runpy
from functools import cache
from pathlib import Path
from typing import Any

import example_pictures
import pytest

import drivelab as dl
from drivelab.theory import Part, mixed_write_amplification, separated_write_amplification

EXAMPLE = runpy.run_path(str(example_pictures.EXAMPLES / "placement_hints.py"))
PAGE = Path(__file__).resolve().parents[3] / "docs" / "page-map.md"
BLOCKS = 256
MEASURED_MIXED, MEASURED_APART = 2.600, 1.425


@cache
def amplification(victims: str, order: str, hints: bool) -> float:
    found: float = EXAMPLE["write_amplification"](victims, order, hints, BLOCKS)
    return found


def theory() -> tuple[float, float, float]:
    """Mixed and told apart, and what the drive writes for a byte where nothing is copied."""
    drive: dl.Drive = EXAMPLE["drive"]("greedy", BLOCKS)
    kinds: tuple[tuple[Any, ...], ...] = EXAMPLE["CACHES"]
    data = [count * gigabytes for _, count, _, gigabytes in kinds]
    writes = [count * kib for _, count, kib, _ in kinds]
    parts = [
        Part(size / sum(data), moved / sum(writes))
        for size, moved in zip(data, writes, strict=True)
    ]
    spare = drive.model.effective_spare_ratio
    assert spare is not None
    over_used = (1 + spare) * EXAMPLE["DRIVE_GB"] / sum(data) - 1
    journal = 1.05
    return (
        journal * mixed_write_amplification(parts, over_used),
        journal * separated_write_amplification(parts, over_used),
        journal,
    )


ROW = re.compile(
    r"^\| (at random|the oldest) \| (greedy|cost-benefit)[^|]*\| ([\d.]+) \|[^|]*\| ([\d.]+)"
)


def rows() -> list[tuple[str, str, bool, float]]:
    """What is replaced, victims, whether there are hints, and the page's write amplification."""
    found = []
    for line in PAGE.read_text("utf-8").splitlines():
        if row := ROW.match(line):
            order = {"at random": "random", "the oldest": "oldest"}[row[1]]
            found += [(order, row[2], hints, float(row[3 + hints])) for hints in (False, True)]
    return found


def test_every_row_of_the_page_is_what_half_the_size_gives() -> None:
    assert len(rows()) == 6
    for order, victims, hints, said in rows():
        found = amplification(victims, order, hints)
        # Higher: of fewer blocks a larger share is open.
        assert 0.99 * said < found < 1.08 * said, (order, victims, hints)


def test_greedy_victims_as_in_the_model_gain_little_from_hints() -> None:
    mixed, told = (amplification("greedy", "random", hints) for hints in (False, True))
    assert mixed == pytest.approx(MEASURED_MIXED, rel=0.06)
    assert 0.9 * mixed < told < mixed
    assert told > 1.6 * MEASURED_APART, "not met, as the page says"


def test_mixed_objects_cost_what_theory_and_the_measurement_say() -> None:
    found, (mixed, _, _) = amplification("cost-benefit", "random", False), theory()
    # Less than theory: the run begins with free blocks, and a block has few objects.
    assert 0.88 * mixed < found < mixed
    assert found == pytest.approx(MEASURED_MIXED, rel=0.15)


def test_told_apart_they_cost_less_but_not_less_than_theory_allows() -> None:
    told, (_, apart, _) = amplification("cost-benefit", "random", True), theory()
    assert told < 0.92 * amplification("cost-benefit", "random", False)
    assert 0.88 * apart < told < apart


def test_objects_that_replace_the_oldest_of_their_kind_cost_nothing_but_the_journal() -> None:
    mixed, told = (amplification("greedy", "oldest", hints) for hints in (False, True))
    assert told == pytest.approx(theory()[2], rel=0.02)
    assert mixed > 1.25 * told
    # What was measured lies between data of kinds that are overwritten at random, and in turn.
    assert told < MEASURED_APART < amplification("cost-benefit", "random", True)


def test_two_parts_have_the_formulas_numbers() -> None:
    for hot, mixed, apart in ((0.6, 4.211, 4.043), (0.8, 4.537, 2.938), (0.95, 5.926, 1.440)):
        parts = [Part(1 - hot, hot), Part(hot, 1 - hot)]
        assert mixed_write_amplification(parts, 1 / 0.875 - 1) == pytest.approx(mixed, abs=1e-3)
        assert separated_write_amplification(parts, 1 / 0.875 - 1) == pytest.approx(apart, abs=1e-3)
