"""What a reader does with a page: read a chart, hide a line, zoom, search, save a table."""

from __future__ import annotations

import pytest
from pages import InPage
from report import sample

from drivelab import report


@pytest.fixture(scope="module")
def page() -> str:
    return report.render(sample.results())


def test_charts_are_drawn_read_zoomed_and_hidden(page: str, in_page: InPage) -> None:
    script = """
    const canvas = page.getElementById("time-0-0");
    const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
    const tick = () => [...canvas.querySelectorAll(".role-axis-label text")]
      .map((text) => text.textContent);
    const isDrawn = () => canvas.querySelector(".mark-line path");
    for (let turn = 0; turn < 3000 && !isDrawn(); turn += 1) await sleep(20);
    const lines = canvas.querySelectorAll(".mark-line path").length;
    const press = (key) =>
      canvas.dispatchEvent(new own.KeyboardEvent("keydown", { key, bubbles: true }));
    press("ArrowRight");
    const read = canvas.querySelector(".reading").textContent;
    const before = tick();
    press("+");
    await sleep(100);
    const zoomed = tick();
    press("Escape");
    await sleep(100);
    const whole = tick();
    const name = canvas.parentElement.querySelector(".series button");
    name.click();
    await sleep(100);
    const left = canvas.querySelectorAll(".mark-line path").length;
    return { lines, read, left, pressed: name.getAttribute("aria-pressed"),
      moved: String(zoomed) !== String(before), back: String(whole) === String(before) };
    """
    found = in_page(page, script)
    read = found.pop("read")
    assert read.startswith("0.5 snew ")
    assert "MiB/s" in read
    assert found == {"lines": 2, "moved": True, "back": True, "left": 1, "pressed": "false"}


def test_a_table_is_saved_as_csv_with_a_cell_for_each_column(page: str, in_page: InPage) -> None:
    script = """
    let saved;
    own.URL.createObjectURL = (blob) => { saved = blob; return "#"; };
    own.HTMLAnchorElement.prototype.click = () => {};  // nothing is downloaded here
    page.querySelector("#contrast .csv").click();
    return saved.text();
    """
    text = in_page(page, script)
    rows = [line.split(",") for line in text.lstrip("\ufeff").splitlines()]
    # Heads that span columns stand above each of them.
    assert rows[0][:4] == ["Test", "Throughput", "Throughput", "Throughput"]
    assert rows[1][:4] == ["Test", "new", "used", "change"]
    assert any(line.startswith('"4 KB random write, queue depth 3') for line in text.splitlines())


def test_the_index_finds_tests_by_parts_of_their_names(page: str, in_page: InPage) -> None:
    script = """
    const field = page.querySelector(".index input");
    field.value = "random READ";
    field.dispatchEvent(new own.Event("input"));
    const shown = [...page.querySelectorAll(".index li")].filter((row) => row.offsetHeight);
    const links = [...page.querySelectorAll(".index a")];
    return {
      shown: shown.map((row) => row.querySelector("span").textContent),
      missing: links.filter((link) => !page.querySelector(link.hash)).length,
    };
    """
    found = in_page(page, script)
    titles = {test["title"] for test in sample.results()["tests"]}
    assert set(found["shown"]) == {t for t in titles if "random" in t and "read" in t}
    assert found["shown"]
    assert found["missing"] == 0


def test_paper_has_every_chart_before_it_is_printed(page: str, in_page: InPage) -> None:
    script = """
    own.dispatchEvent(new own.Event("beforeprint"));
    // All that runs before a browser goes on to print.
    for (let turn = 0; turn < 200; turn += 1) await null;
    const drawn = [...page.querySelectorAll(".canvas svg")];
    const widths = drawn.map((svg) => svg.getAttribute("width"));
    return { charts: page.querySelectorAll(".canvas").length, widths };
    """
    found = in_page(page, script)
    assert found["widths"] == ["340"] * found["charts"]
