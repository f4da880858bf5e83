"""The table of docs/tests/storage-bench.md is what the models give."""

from __future__ import annotations

import re

import bench_assumptions
import pytest
from bench_assumptions import AS_IT_IS, DOCUMENT, DRIVES, ROWS

PAGE = DOCUMENT.read_text(encoding="utf-8")
CELLS = {
    name: cells
    for name, *cells in (
        re.split(r" *\| *", line.strip("| ")) for line in PAGE.splitlines() if line.startswith("|")
    )
}


def test_what_the_table_shows_as_it_is_is_what_the_test_gives() -> None:
    found = [f"{bench_assumptions.iops(name, ROWS[AS_IT_IS][0]):.0f}" for name in DRIVES.values()]
    assert CELLS[AS_IT_IS] == found, "`make assumptions` renews the table"


@pytest.mark.slow
def test_the_table_is_what_the_models_give() -> None:
    assert bench_assumptions.table() in PAGE, "`make assumptions` renews the table"


def test_what_the_page_says_of_its_table_is_so() -> None:
    def rates(words: str) -> list[list[float]]:
        return [[float(each) for each in cell.split(", ")] for cell in CELLS[words]]

    plain = [cell[0] for cell in rates(AS_IT_IS)]
    for words in ROWS:
        for place in range(len(rates(words)[0])):
            varied = [cell[place] for cell in rates(words)]
            assert sorted(varied) == [varied[plain.index(rate)] for rate in sorted(plain)], words
            most = 0.28 if (words, place) == ("no idle time at all; all of it", 0) else 1 / 7
            changes = [abs(now / before - 1) for now, before in zip(varied, plain, strict=True)]
            assert max(changes) < most, words
    assert "Rates move by a seventh at most, a quarter without any pause" in PAGE
    c300, pair = CELLS[AS_IT_IS][2], CELLS[AS_IT_IS][1]
    assert f"the pair makes {pair} and" in PAGE
    assert f"IOPS, the C300 {c300} and" in PAGE
