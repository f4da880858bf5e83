"""Hints of the host on a drive of today: what examples/placement_hints.py finds is what theory says
of mixed and of separated data, and what was measured of a drive as full [LMCACHE]."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import example_pictures
import pytest

import drivelab as dl
from drivelab.theory import Part, mixed_write_amplification, separated_write_amplification

PLACE = example_pictures.EXAMPLES / "placement_hints.py"
EXAMPLE = runpy.run_path(str(PLACE))
PAGE = Path(__file__).resolve().parents[3] / "docs" / "page-map.md"
ORDERS = {"at random": "random", "the oldest": "oldest"}
"""By the page's words, those of the example."""
MEASURED_MIXED, MEASURED_APART = 2.600, 1.425


Row = tuple[str, str, bool]
"""Victims, what is replaced, and whether there are hints."""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[Row, float]:
    """What the example prints, run as it stands."""
    done = example_pictures.made(PLACE, tmp_path_factory.mktemp("hints"))
    assert (done.returncode, done.stderr) == (0, "")
    rows = {}
    for line in done.stdout.splitlines()[1:]:
        order, victims, mixed, told = line.split()
        rows |= {(victims, order, False): float(mixed), (victims, order, True): float(told)}
    return rows


def theory() -> tuple[float, float, float]:
    """Mixed and told apart, and what the drive writes for a byte where nothing is copied."""
    drive: dl.Drive = EXAMPLE["drive"]("greedy")
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


def test_every_row_of_the_page_is_what_the_example_prints(found: dict[Row, float]) -> None:
    said = {}
    for line in PAGE.read_text("utf-8").splitlines():
        if row := ROW.match(line):
            of = row[2], ORDERS[row[1]]
            said |= {(*of, False): float(row[3]), (*of, True): float(row[4])}
    assert len(said) == 6
    assert found == said


def test_greedy_victims_as_in_the_model_gain_little_from_hints(found: dict[Row, float]) -> None:
    mixed, told = (found["greedy", "random", hints] for hints in (False, True))
    assert mixed == pytest.approx(MEASURED_MIXED, rel=0.06)
    assert 0.9 * mixed < told < mixed
    assert told > 1.6 * MEASURED_APART, "not met, as the page says"


def test_mixed_objects_cost_what_theory_and_the_measurement_say(found: dict[Row, float]) -> None:
    mixed, (expected, _, _) = found["cost-benefit", "random", False], theory()
    # Less than theory: the run begins with free blocks, and a block has few objects.
    assert 0.88 * expected < mixed < expected
    assert mixed == pytest.approx(MEASURED_MIXED, rel=0.15)


def test_told_apart_they_cost_less_but_not_less_than_theory_allows(
    found: dict[Row, float],
) -> None:
    told, (_, apart, _) = found["cost-benefit", "random", True], theory()
    assert told < 0.92 * found["cost-benefit", "random", False]
    assert 0.88 * apart < told < apart


def test_objects_that_replace_the_oldest_of_their_kind_cost_nothing_but_the_journal(
    found: dict[Row, float],
) -> None:
    mixed, told = (found["greedy", "oldest", hints] for hints in (False, True))
    assert told == pytest.approx(theory()[2], rel=0.02)
    assert mixed > 1.25 * told
    # What was measured lies between data of kinds that are overwritten at random, and in turn.
    assert told < MEASURED_APART < found["cost-benefit", "random", True]


def test_two_parts_have_the_formulas_numbers() -> None:
    for hot, mixed, apart in ((0.6, 4.211, 4.043), (0.8, 4.537, 2.938), (0.95, 5.926, 1.440)):
        parts = [Part(1 - hot, hot), Part(hot, 1 - hot)]
        assert mixed_write_amplification(parts, 1 / 0.875 - 1) == pytest.approx(mixed, abs=1e-3)
        assert separated_write_amplification(parts, 1 / 0.875 - 1) == pytest.approx(apart, abs=1e-3)
