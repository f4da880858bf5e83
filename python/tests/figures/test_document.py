from __future__ import annotations

from pathlib import Path

import pytest
from figures.sample import ROWS, TESTS, X25_M

from drivelab import figures
from drivelab.errors import RequestError
from drivelab.figures import document, plot, text
from drivelab.figures.bindings import Row
from drivelab.figures.record import other_pages, unreviewed_names

KNOWN = figures.Measured([X25_M], TESTS, ROWS)
RECORDS = figures.compare_all(KNOWN)
ORDERS = figures.compare_orderings(KNOWN)
CLAIMS = figures.judge_statements(KNOWN)
TRACES = [
    {
        "id": "A2-047",
        "trace": "ASB 2010 light",
        "metric": "reads",
        "unit": "ops",
        "relation": "eq",
        "published": 37501,
        "synthesised": 37501.0,
        "error_ratio": 0.0,
        "satisfied": None,
        "reason": "",
    }
]
FOUND = {
    "figures": RECORDS,
    "orderings": ORDERS,
    "statements": CLAIMS,
    "traces": TRACES,
    "parameters": figures.parameter_counts(KNOWN, RECORDS),
    "on_other_pages": {"docs/modern-drives.md": ["micron-7450-pro-960gb"]},
    "specification_sheet_only": ["ocz-solid-60gb"],
    "summary": figures.summary(RECORDS, ORDERS, CLAIMS),
}


def test_the_page_names_every_figure_and_ordering() -> None:
    page = document.page(FOUND, "figures.svg")
    for record in (*RECORDS, *ORDERS, *CLAIMS, *TRACES):
        assert f"| {record['id']} |" in page
    assert "](figures.svg)" in page
    assert "### Intel X25-M G1 80GB" in page
    counts = "parameters 1 cited, 1 specified, 1 fitted; held against"
    assert f"- `intel-x25-m-g1-80gb`: {counts}" in page
    assert "specification sheets only" in page
    assert "`ocz-solid-60gb`" in page
    assert "[modern-drives.md](modern-drives.md): `micron-7450-pro-960gb`" in page
    assert "| restated | read_path (specified), link.overhead (fitted) |" in page


def test_the_page_says_first_of_all_whether_the_main_findings_hold() -> None:
    page = document.page(FOUND, "figures.svg")
    first = page.split("## ")[1]
    assert first.startswith("Main findings")
    assert [claim["id"] for claim in CLAIMS if f"| {claim['id']} |" in first] == [
        claim["id"] for claim in CLAIMS if claim["main"]
    ]


def test_the_page_keeps_what_the_models_gave_blind() -> None:
    page = document.page(FOUND, "figures.svg")
    [line] = [row for row in page.splitlines() if row.startswith("| GS-029 |") and "267.9" in row]
    assert "+78.2 %" in line


def test_tables_have_as_many_cells_as_columns() -> None:
    table = text.figures_table(RECORDS)
    assert {line.count("|") for line in table.splitlines()} == {len(text.COLUMNS) + 1}
    assert text.markdown(("a",), [("x|y",)]).splitlines()[-1] == "| x\\|y |"


def test_verdicts() -> None:
    by_id = {record["id"]: record for record in RECORDS}
    assert text.verdict(by_id["AN-109"]) == "holds"
    assert text.verdict(by_id["AN-167"]) == "fails (+10.0 %)"
    assert text.verdict(by_id["AN-149"]) == "-1.6 %"
    assert text.verdict(by_id["AN-083"]) == "-"
    assert text.published_text(by_id["AN-187"]) == "500 .. 2000"
    assert text.published_text(by_id["AN-109"]) == "< 0.3"


def test_the_plot_is_the_same_to_the_byte(tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        plot.write(RECORDS, tmp_path / name)
    first = (tmp_path / "a.svg").read_bytes()
    assert first == (tmp_path / "b.svg").read_bytes()
    # What is drawn can be read, too.
    assert f"{plot.VALUES}".encode() in first
    assert len(first) < 1 << 20


def test_a_plot_of_nothing_can_be_drawn(tmp_path: Path) -> None:
    plot.write([], tmp_path / "empty.svg")
    assert (tmp_path / "empty.svg").stat().st_size > 0


BLOCK = "Words\n\n<!-- figures: AN-149 AN-109 -->\nold\n<!-- end of figures -->\n\nmore words\n"


def test_tables_in_other_pages_are_made_anew_and_words_stay() -> None:
    page = document.renewed(BLOCK, FOUND)
    assert "\nold\n" not in page
    assert page.index("| AN-149 |") < page.index("| AN-109 |") < page.index("more words")
    assert document.renewed(page, FOUND) == page


def test_the_summary_is_made_anew() -> None:
    page = document.renewed("<!-- summary of figures -->\n<!-- end of summary -->", FOUND)
    assert "- 171 figures, " in page


def test_a_table_of_a_figure_that_is_none_is_refused() -> None:
    with pytest.raises(RequestError, match='identity "AN-999"'):
        document.renewed(BLOCK.replace("AN-109", "AN-999"), FOUND)


def test_every_table_in_docs_is_of_known_figures() -> None:
    docs = Path(__file__).resolve().parents[3] / "docs"
    for page in sorted(docs.rglob("*.md")):
        text_before = page.read_text(encoding="utf-8")
        assert text_before.count("<!-- figures: ") == text_before.count("<!-- end of figures -->")
        document.renewed(text_before, FOUND)


def test_the_page_names_what_could_not_be_varied() -> None:
    known = {name: Row("", "", (), {"ftl.unit": "must be even"}) for name in ("a", "b")}
    assert document._not_varied(known) == "; nor are\n  `ftl.unit` of a, b (must be even)"
    assert document._not_varied({"a": Row("", "", ())}) == ""


def test_the_page_names_models_of_which_small_moves_are_still_to_be_found() -> None:
    coarse = Row("", "", (), kept_from_ratio=0.01)
    said = document._coarse({"a": Row("", "", ()), "c": coarse, "b": coarse})
    words = "Of b, c nobody has looked yet for what moves a figure by less than 1 %."
    assert " ".join(said.split()) == words
    assert document._coarse({"a": Row("", "", ())}) == ""


def test_the_shipped_page_knows_every_model_that_has_no_figure_in_it() -> None:
    """A model that comes moves no figure: nobody would measure all of them for it."""
    page = (Path(__file__).resolve().parents[3] / "docs" / "figures.md").read_text(encoding="utf-8")
    found = {
        "specification_sheet_only": unreviewed_names(),
        "on_other_pages": other_pages(),
    }
    assert document.sheets(found) in page
    assert document.other_pages(found) in page
