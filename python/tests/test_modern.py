"""Models of drives of today against theory and what was measured of them, one die of each."""

from __future__ import annotations

import modern
import pytest

NAME = "micron-7450-max-800gb"


def test_a_fill_takes_what_word_lines_of_all_dies_take() -> None:
    line_bytes = 4 * 3 * 16384
    bus_ns = 300 + line_bytes * 9 / 8 / 1.6
    rate = 16 * line_bytes / (1_959_000 + bus_ns) * 1e9 / 2**20
    found = modern.steady(NAME, 0.1, written=0.1)
    assert found.fill_mib_per_s == pytest.approx(rate / found.fill_amplification, rel=0.01)


def test_the_page_has_every_table_and_model() -> None:
    text = modern.DOCUMENT.read_text("utf-8")
    for name in modern.TABLES:
        assert modern.SECTION.format(name=name) + "|" in text
    for drive in modern.DRIVES:
        assert f"| `{drive.model}` | {drive.fill_mib_per_s:.0f} |" in text
