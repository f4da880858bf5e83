"""docs/against-ssd-iq.md is what its command writes."""

from __future__ import annotations

import re

import pytest
import ssd_iq
from modelled import Modelled


def test_the_page_has_every_table_and_drive() -> None:
    text = ssd_iq.DOCUMENT.read_text("utf-8")
    for name in ("zipf", "cold", "transients"):
        head = ssd_iq.SECTION.format(name=name)
        assert head + "| drive |" in text
        table = text.partition(head)[2].partition("<!-- end -->")[0]
        assert [f"`{drive.model}`" for drive in ssd_iq.DRIVES] == re.findall(r"`[^`]+`", table)
    assert ssd_iq.PICTURE.stat().st_size > 10_000


def test_the_tables_are_what_the_models_gave() -> None:
    text = ssd_iq.DOCUMENT.read_text("utf-8")
    kept = Modelled(ssd_iq.KEPT, "make ssd-iq", only="none of them")
    tables, _ = ssd_iq.parts(ssd_iq.collected(kept, {}))
    for name, table in tables.items():
        assert ssd_iq.SECTION.format(name=name) + table in text, "`make ssd-iq` writes it"


def test_the_readme_says_what_the_page_says() -> None:
    text = ssd_iq.DOCUMENT.read_text("utf-8")
    medians = [float(found) for found in re.findall(r"median is off by ([\d.]+) %", text)]
    [said] = re.findall(
        r"median errors of (\d+) to (\d+) %",
        (ssd_iq.DOCS.parent / "README.md").read_text("utf-8"),
    )
    assert [round(min(medians)), round(max(medians))] == [int(end) for end in said]


def test_a_drive_filled_in_sequence_writes_its_spare_area_at_full_speed() -> None:
    """And then falls to what blocks that are all alike leave: 1 - e^(-F / U) of the media rate."""
    found = ssd_iq.modelled("micron-7450-max-800gb", ssd_iq.Writes("short", "random", 1.5))
    raw_gib, user_gib = 1073.0, 745.2
    assert found.full_gib == pytest.approx(raw_gib - user_gib, rel=0.05)
    assert found.trough < found.mib_per_s < found.overshoot
