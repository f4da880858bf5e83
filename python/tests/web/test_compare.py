"""Compare, as its readers use it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import quote

import polars as pl
import pytest
from playwright.sync_api import Page, Route, expect
from web import laboratory
from web.conftest import FRAMES, Noted, Server, fits, held_back, serious, start

import drivelab as dl

A, B, C = laboratory.DRIVES
FRESH = "intel-x25-v-40gb"
"""Not measured yet."""


def address(*names: str, more: str = "") -> str:
    return "/compare?" + "&".join(f"drive={quote(name)}" for name in names) + more


def opened(page: Page, server: Server, path: str) -> None:
    page.goto(server.at(path))
    expect(page.locator("main h1").first).to_be_visible()


def test_drives_are_chosen_from_a_list_and_the_address_names_them(
    standing_lab: Server, page: Page
) -> None:
    opened(page, standing_lab, "/compare")
    page.get_by_role("searchbox").fill("x25-m g1")
    page.get_by_role("button", name="Intel X25-M G1 80 GB", exact=True).click()
    field = page.get_by_role("combobox", name="Add a drive")
    field.fill("vertex 120")
    page.get_by_role("option", name=re.compile("^OCZ Vertex 120 GB")).first.click()
    expect(page.get_by_role("heading", name="Findings")).to_be_visible()
    expect(page).to_have_url(standing_lab.origin + address(A, B))
    expect(page.locator(".problems")).to_contain_text("Quick runs: tests are cut short")
    page.get_by_role("button", name="Remove OCZ Vertex 120 GB").click()
    expect(page.get_by_role("heading", name="Findings")).to_have_count(0)
    page.go_back()
    expect(page.get_by_role("heading", name="Findings")).to_be_visible()


def test_what_is_being_typed_stays_when_results_come(standing_lab: Server, page: Page) -> None:
    opened(page, standing_lab, "/compare")
    held: list[Route] = []
    page.route("**/api/compare?*", lambda route: held.append(route))
    page.get_by_role("button", name="Intel X25-M G1 80 GB", exact=True).click()
    held_back(page, held)
    field = page.get_by_role("combobox", name="Add a drive")
    field.press_sequentially("vertex 12")
    held[0].continue_()
    expect(page.locator(".compared")).to_contain_text("One drive is chosen")
    expect(field).to_be_focused()
    field.press_sequentially("0")
    expect(field).to_have_value("vertex 120")
    expect(page.get_by_role("option", name=re.compile("^OCZ Vertex 120 GB")).first).to_be_visible()


def test_bars_are_what_compare_finds(standing_lab: Server, measured: Path, page: Page) -> None:
    opened(page, standing_lab, address(A, B, C))
    cards = page.locator("article.test")
    expect(cards.first).to_be_visible()
    frame = dl.compare(f"{measured}:1").frame()
    shown = frame.filter(pl.col("metric") == "mib_per_s", pl.col("state") == "used")
    test = shown["test"][0]
    first, second = shown.filter(test=test, drive="B").select("first", "value").row(0)
    document = dl.read(f"{measured}:1").run.document
    title = next(item["title"] for item in document["tests"] if item["id"] == test)
    card = cards.filter(has=page.get_by_role("heading", name=title, exact=True)).filter(
        has=page.locator(".state", has_text=re.compile("^used$"))
    )
    expect(card.locator(".bars .value")).to_have_count(3)
    values = card.locator(".bars .value").all_inner_texts()
    assert [float(text.split()[0].replace(",", "")) for text in values[:2]] == pytest.approx(
        [first, second], rel=0.01
    )
    widths = [box.bounding_box() for box in card.locator(".fill").all()]
    assert widths[0] is not None
    assert widths[1] is not None
    assert widths[1]["width"] / widths[0]["width"] == pytest.approx(second / first, rel=0.1)
    percent = shown.filter(test=test, drive="B")["percent"][0]
    expect(card.locator(".bars .delta").nth(1)).to_have_text(delta(percent))


def delta(percent: float) -> str:
    sign = "+" if percent > 0 else "\u2212"
    return f"{sign}{abs(percent):.0f}\u00a0%"


def test_plots_of_a_kind_share_pointer_and_zoom(standing_lab: Server, page: Page) -> None:
    opened(page, standing_lab, address(A, B))
    plots = page.locator("#time .plot")
    expect(plots.nth(1)).to_be_visible()
    canvas = plots.nth(0).locator("canvas")
    expect(canvas).to_have_attribute("aria-label", re.compile("mean .*MiB/s"))
    canvas.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    one, other = plots.nth(0).locator(".readout span"), plots.nth(1).locator(".readout span")
    expect(one.first).to_have_text(re.compile(r"^[\d.]+\ss$"))
    expect(other.first).to_have_text(one.first.inner_text())
    page.evaluate(FRAMES)
    drawn = "canvas => canvas.toDataURL()"
    whole = canvas.evaluate(drawn)
    page.keyboard.press("+")
    page.wait_for_function(
        f"([canvas, whole]) => ({drawn})(canvas) !== whole", arg=[canvas.element_handle(), whole]
    )
    page.keyboard.press("Escape")
    box = canvas.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 100, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] + 50)
    page.mouse.up()
    page.mouse.move(box["x"] + 300, box["y"] + 50)
    # A fifth of the ten seconds is shown: 0.8 to 2.9 s.
    expect(one.first).to_have_text(re.compile(r"^(0\.[89]\d*|1(\.\d+)?|2(\.[0-8]\d*)?)\ss$"))


def test_a_comparison_is_saved_as_files(standing_lab: Server, page: Page) -> None:
    opened(page, standing_lab, address(A, B))
    found = {}
    for form in ("HTML", "CSV", "JSON"):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Save as {form}").click()
        found[form] = Path(download.value.path()).read_text(encoding="utf-8")
    assert [side["model"] for side in json.loads(found["JSON"])["sides"]] == [A, B]
    assert "<h2>Findings</h2>" in found["HTML"]
    assert found["CSV"].startswith("test,state,metric,unit,drive,first,value,percent")


def test_the_server_may_be_started_again_under_the_page(
    lab: Server, page: Page, noted: Noted, tmp_path: Path
) -> None:
    opened(page, lab, address(A, B))
    expect(page.get_by_role("heading", name="Findings")).to_be_visible()
    lab.stop()
    expect(page.locator("#notice")).to_contain_text("doesn't answer")
    again = start(tmp_path, tmp_path / "lab.duckdb", lab.port)
    try:
        # The new server has a new token, which the page hasn't got.
        expect(page.locator("#notice")).to_contain_text("open the address")
        # The same address with a token: the page that is there loads itself anew.
        page.evaluate("document.isOld = true")
        page.goto(again.at(address(A, B)))
        page.wait_for_function("!document.isOld")
        expect(page.get_by_role("heading", name="Findings")).to_be_visible()
        expect(page.locator("#notice")).to_be_hidden()
        page.get_by_role("button", name="Remove OCZ Vertex 120 GB").click()
        expect(page.locator(".chip")).to_have_count(1)
    finally:
        noted.errors.clear()
        page.goto("about:blank")
        again.stop()


def test_names_are_text_whatever_they_say(page: Page, tmp_path: Path) -> None:
    """A model of somebody else's, with markup in its title."""
    name = "<img src=x onerror=document.title='owned'>"
    text = dl.Drive("intel-x25-v-40gb").model.name
    values = {"title": name, "name": "hostile"}
    lines = [
        f'{key} = {{ value = "{value}", source = "assumed: x" }}' for key, value in values.items()
    ]
    lines.insert(0, f'base = "{text}"')
    (tmp_path / "hostile.toml").write_text("\n".join(lines))
    from drivelab import database, model, review

    loaded = [model.load(str(tmp_path / "hostile.toml"), [("scale_divisor", "64")])]
    loaded.append(model.load(text, [("scale_divisor", "64")]))
    chosen = {
        item.name: review.plan_measurements(item, ["power-idle"], ["new"], print) for item in loaded
    }
    found = review.run(review.Plan(loaded, chosen, name, quick=True), shown=False)
    file = tmp_path / "lab.duckdb"
    database.append(file, database.Recorded.review(found))
    server = start(tmp_path, file)
    try:
        opened(page, server, "/compare?" + "&".join(f"drive={item.name}" for item in loaded))
        expect(page.locator(".chip").first).to_contain_text("onerror")
        expect(page.get_by_role("heading", name="Findings")).to_be_visible()
        opened(page, server, "/history")
        expect(page.locator("tr[data-run]")).to_have_count(1)
        expect(page.locator("img")).to_have_count(0)
        assert page.title() != "owned"
    finally:
        page.goto("about:blank")
        server.stop()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(standing_lab: Server, page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    for path in ("/compare", address(A, B, C), address(A, FRESH)):
        opened(page, standing_lab, path)
        expect(page.locator("section, table.drives, .missing").first).to_be_visible()
        assert serious(page) == []


@pytest.mark.parametrize("width", [360, 2560])
def test_it_fits_a_phone_and_a_wall(standing_lab: Server, page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    for path in ("/compare", address(A, B, C), address(A, FRESH)):
        opened(page, standing_lab, path)
        expect(page.locator("section, table.drives, .missing").first).to_be_visible()
        fits(page, width)
    opened(page, standing_lab, address(A, B, C))
    expect(page.locator("#time .plot").first).to_be_visible()
    # What is wider scrolls in a place of its own; nothing is cut off.
    fits(page, width)


def test_the_keyboard_is_enough(standing_lab: Server, page: Page) -> None:
    page.goto(standing_lab.at("/"))
    expect(page.get_by_role("searchbox")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("g1 80")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    field = page.get_by_role("combobox", name="Add a drive")
    expect(field).to_be_visible()
    while not field.evaluate("field => field === document.activeElement"):
        page.keyboard.press("Tab")
    page.keyboard.type("vertex 120")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Findings")).to_be_visible()
    summary = page.locator("article.test summary").first
    while not summary.evaluate("item => item === document.activeElement"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("article.test table").first).to_be_visible()


def test_runs_of_one_drive_have_letters_of_their_own(
    lab: Server, page: Page, tmp_path: Path
) -> None:
    laboratory.record(tmp_path / "lab.duckdb", [A], states=["new"], scale=128)
    opened(page, lab, address(f"{A}~1", f"{A}~2", more="&force=1"))
    expect(page.get_by_role("heading", name="Findings")).to_be_visible()
    expect(page.locator(".chip .letter")).to_have_text(["A", "B"])


def test_a_test_of_two_states_is_drawn(standing_lab: Server, page: Page) -> None:
    """By force, sides are compared across states."""
    opened(page, standing_lab, "/compare")
    test = {"id": "x", "title": "X", "group": "g", "state": "new / used", "metrics": []}
    words = page.evaluate(
        "test => import('/static/views/compare/parts.js').then(parts =>"
        " parts.pictures([test], { sides: [] }, '', [])[1].textContent)",
        test | {"headline": None, "charts": []},
    )
    assert "new / used" in words


def test_an_answer_after_the_view_was_left_draws_nothing(standing_lab: Server, page: Page) -> None:
    opened(page, standing_lab, "/compare")
    held: list[Route] = []
    page.route("**/api/compare/plots?*", lambda route: held.append(route))
    page.goto(standing_lab.at(address(A, B)))
    expect(page.get_by_role("heading", name="Findings")).to_be_visible()
    page.evaluate("scrollTo(0, 0)")
    count = "import('/static/plot.js').then(() => document.querySelectorAll('.plot').length)"
    page.get_by_role("link", name="Design").click()
    expect(page.get_by_role("heading", name="Design a drive")).to_be_visible()
    page.evaluate(
        "window.heard = 0; const add = addEventListener;"
        "window.addEventListener = (name, f) => { heard += name === 'theme'; add(name, f) }"
    )
    held_back(page, held)
    with page.expect_response("**/api/compare/plots?*"):
        held[0].continue_()
    page.wait_for_timeout(500)
    assert page.evaluate(count) == 0
    assert page.evaluate("heard") == 0, "a plot that nobody sees listens"
