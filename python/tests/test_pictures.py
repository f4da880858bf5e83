"""Pictures in documents show what drivelab gives now."""

from __future__ import annotations

import re
from pathlib import Path

import example_pictures
import fills
import pictures
import pytest
import screenshots
import ssd_iq

from drivelab.figures import drift, plot

DOCUMENTS = [pictures.ROOT / "README.md", *sorted((pictures.ROOT / "docs").rglob("*.md"))]
DRAWN = {
    example_pictures.PICTURES / f"{example.stem}.png" for example in example_pictures.drawing()
}
SCREENS = {screenshots.FOLDER / f"{screen.name}.png" for screen in screenshots.SCREENS}
FIGURES = pictures.ROOT / "docs" / "figures.svg"
MADE = {pictures.REPORT, FIGURES, ssd_iq.PICTURE, *fills.PICTURE_FILES, *DRAWN, *SCREENS}
"""Every picture, each made by a command: `make pictures`, `make figures`, `make ssd-iq`, `make
fills`, `make screenshots`."""


def test_every_picture_is_made_by_a_command_and_shown_somewhere() -> None:
    suffixes = ("png", "svg", "jpg", "jpeg", "gif", "webp")
    there = {p for suffix in suffixes for p in (pictures.ROOT / "docs").rglob(f"*.{suffix}")}
    assert there == MADE
    linked = {
        (page.parent / target).resolve()
        for page in DOCUMENTS
        for target in re.findall(r"!\[[^]]*\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    }
    assert linked == there


def test_the_readme_begins_with_a_watched_drive_and_a_comparison() -> None:
    shown = re.findall(r"!\[[^]]*\]\(([^)]+)\)", DOCUMENTS[0].read_text(encoding="utf-8"))
    assert shown[:3] == ["docs/web/watch.png", "docs/web/compare.png", "docs/report.png"]


@pytest.mark.slow
def test_the_report_in_the_readme_is_the_report_of_make_review() -> None:
    now, then = pictures.shown(pictures.measured()), pictures.kept(pictures.REPORT)
    assert then == now, "docs/report.png shows other numbers: `make pictures` takes it anew"


def test_what_a_picture_shows_is_what_is_kept_in_it() -> None:
    found = pictures.kept(pictures.REPORT)
    assert len(found["findings"]) > 5
    assert len(found["bars"]) > 5
    assert any("MiB/s" in text for *_, text in found["bars"])
    # The page is white to its right and below: nothing is cut off.
    assert Path(pictures.REPORT).stat().st_size < 400_000


def test_the_plot_of_figures_draws_the_values_of_its_page() -> None:
    text = (pictures.ROOT / "docs" / "figures.svg").read_text(encoding="utf-8")
    found = re.search(f"{plot.VALUES}([^<]*)<", text)
    assert found is not None, "the plot keeps no values: `make figures` writes it anew"
    drawn = dict(item.split("=") for item in found[1].split())
    page = (pictures.ROOT / "docs" / "figures.md").read_text(encoding="utf-8")
    rows = [table for table in drift.tables(page) if any("role" in row for row in table.values())]
    printed = {name: row["modelled"] for table in rows for name, row in table.items()}
    assert len(drawn) > 100
    assert {name: printed.get(name) for name in drawn} == drawn
