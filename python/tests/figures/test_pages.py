"""What the pages say of figures and orderings in sentences is what the generated page has."""

from __future__ import annotations

import re
from pathlib import Path

import modern
import published_fills
import pytest

from drivelab import cli, model_layers
from drivelab.figures import page_of

DOCS = Path(__file__).parents[3] / "docs"
GENERATED = (DOCS / "figures.md").read_text(encoding="utf-8")
ROWS = {
    cells[1]: cells
    # Backwards: the first row of a figure counts, which is that of its comparison.
    for line in reversed(GENERATED.splitlines())
    if line.startswith("| ")
    for cells in ([cell.strip() for cell in line.split("|")],)
    if re.fullmatch(r"[A-Z0-9]{2,3}-\d{3}", cells[1])
}
"""Cells of the rows of docs/figures.md, by identity; the first cell is empty."""
PAGES = {
    str(path.relative_to(DOCS)): " ".join(path.read_text(encoding="utf-8").split())
    for path in sorted(DOCS.rglob("*.md"))
    if path.name != "figures.md"
}
ERROR_POINTS = 2.0
"""Prose has few digits, and isn't written anew for a point."""


def said(pattern: str) -> list[tuple[str, ...]]:
    """What a pattern finds on every page: the page's name, and its groups."""
    return [
        (page, *found.groups())
        for page, text in PAGES.items()
        for found in re.finditer(pattern, text)
    ]


ERRORS = said(r"\b([A-Z0-9]{2}-\d{3}) \(([+-][\d.]+) %\)")
VALUES = said(r"\b([A-Z0-9]{2}-\d{3}) \((\d[\d.]*) %\)")
QUANTITIES = said(r"\b(\d[\d.]*) (?:MiB/s|ms|s) \(([A-Z0-9]{2}-\d{3}), ")
ROLES = said(r"\b([A-Z0-9]{2}-\d{3}), (predicted|transferred|informed|restated|fitted)\b")
ORDERS = said(r"((?:ORD-\d{3}(?:, | and )?)+)(?: \(|, [^.:]*?)? ?(?:\*\*)?(hold|doesn't|don't)")


@pytest.mark.parametrize(("page", "identity", "percent"), ERRORS)
def test_errors_in_sentences_are_those_of_the_table(page: str, identity: str, percent: str) -> None:
    printed = re.search(r"([+-][\d.]+) %", ROWS[identity][7])
    assert printed is not None
    assert float(percent) == pytest.approx(float(printed[1]), abs=ERROR_POINTS), page


@pytest.mark.parametrize(("page", "identity", "percent"), VALUES)
def test_modelled_percentages_in_sentences_are_those_of_the_table(
    page: str, identity: str, percent: str
) -> None:
    assert float(percent) == pytest.approx(float(ROWS[identity][5]), rel=0.1), page


@pytest.mark.parametrize(("page", "value", "identity"), QUANTITIES)
def test_modelled_values_in_sentences_are_those_of_the_table(
    page: str, value: str, identity: str
) -> None:
    assert float(value) == pytest.approx(float(ROWS[identity][5]), rel=0.01), page


@pytest.mark.parametrize(("page", "identity", "role"), ROLES)
def test_roles_in_sentences_are_those_of_the_table(page: str, identity: str, role: str) -> None:
    assert ROWS[identity][8].partition(";")[0] == role, page


def test_rates_of_the_storage_bench_in_sentences_are_those_of_the_orderings() -> None:
    pattern = r"the pair makes (\d+) and (\d+) IOPS, the C300 (\d+) and (\d+)"
    words = re.search(pattern, PAGES["tests/storage-bench.md"])
    assert words is not None
    rates = [re.findall(r"\((\d+) IOPS\)", ROWS[name][5]) for name in ("ORD-021", "ORD-022")]
    assert list(words.groups()) == [rates[0][0], rates[1][0], rates[0][1], rates[1][1]]


@pytest.mark.parametrize(("page", "names", "verdict"), ORDERS)
def test_orderings_hold_where_a_sentence_says_so(page: str, names: str, verdict: str) -> None:
    for name in re.findall(r"ORD-\d{3}", names):
        assert (ROWS[name][4] == "holds") is (verdict == "hold"), f"{name} on {page}"


def test_sentences_are_found() -> None:
    assert {name for _, name, _ in ERRORS} >= {"AN-123", "AN-135", "AN-139", "AN-142"}
    assert {name for _, name, _ in VALUES} >= {"A2-045", "A2-103"}
    assert {name for _, _, name in QUANTITIES} >= {"AN-102", "AN-156"}
    assert {name for _, name, _ in ROLES} >= {"AN-102", "AN-156", "AN-177"}
    assert {"ORD-012", "ORD-018"} <= set(re.findall(r"ORD-\d{3}", str(ORDERS)))


def test_drives_of_today_are_said_to_have_figures_on_the_page_that_has_them() -> None:
    fills = {
        item.version.model
        for item in published_fills.PUBLISHED
        if item.value is not None and not item.version.changes
    }
    pages = {drive.model: "docs/modern-drives.md" for drive in modern.DRIVES}
    pages |= dict.fromkeys(fills, "docs/consumer-drives.md")
    assert {name: page_of(name) for name in model_layers.known_names() if page_of(name)} == pages


def test_a_drive_without_a_figure_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    for name, said in (
        ("crucial-t500-2tb", "figures: in docs/consumer-drives.md"),
        ("intel-x25-m-g1-80gb", "figures: 2"),
        ("hp-fx700-2tb", "figures: none, specification and parts only"),
    ):
        assert cli.run(["show", name]) == 0
        assert said in capsys.readouterr().out
