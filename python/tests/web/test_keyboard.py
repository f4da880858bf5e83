"""Every view by keyboard alone: what a reader does there, without a pointer."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect
from web.conftest import FRAMES, Server, Standing
from web.test_traces import recorded

from drivelab.web.views import VIEWS, View

TABS_MAX = 60


@pytest.fixture
def server(standing: Standing) -> Server:
    """One for all tests: none here leaves anything in it."""
    return standing.server


def tab_to(page: Page, name: str) -> None:
    """Presses Tab until the element of this name has the focus."""
    seen = []
    for _ in range(TABS_MAX):
        page.keyboard.press("Tab")
        own = page.evaluate(
            "() => { const e = document.activeElement;"
            "return (e.getAttribute('aria-label') || e.labels?.[0]?.textContent || e.textContent)"
            ".trim(); }"
        )
        if re.search(name, own):
            return
        seen.append(own)
    raise AssertionError(f"{name}: not reached; there are {seen}")


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_the_first_tab_leads_past_the_menu_and_what_has_the_focus_shows_it(
    server: Server, page: Page, view: View
) -> None:
    page.goto(server.at(f"/{view.name}"))
    # A heading may be there before what can have the focus; the view's name is said when all is.
    expect(page.locator("#said")).to_have_text(view.title)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    # In one task, as fast as any reader: what the browser leaves for its next frame is too late.
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    # That it was never lost, too: a view that is drawn again would have lost it for good.
    page.evaluate(FRAMES)
    focused = page.locator("main :focus")
    expect(focused).to_have_count(1)
    assert focused.evaluate("e => getComputedStyle(e).outlineStyle") != "none", "it is seen"


def test_what_has_the_focus_keeps_it_when_only_the_part_behind_the_hash_changes(
    server: Server, page: Page
) -> None:
    page.goto(server.at("/learn"))
    card = page.locator(".lessons .card").first
    card.focus()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate(
        "new Promise(done => { addEventListener('hashchange', done); location.hash = 'below'; })"
    )
    page.evaluate(FRAMES)
    expect(card).to_be_focused()
    assert [url for url in asked if "/api/" in url] == []


def test_a_view_is_chosen_from_the_menu(server: Server, page: Page) -> None:
    page.goto(server.at("/compare"))
    expect(page.locator("#said")).to_have_text("Compare")
    tab_to(page, "^Learn$")
    page.keyboard.press("Enter")
    expect(page).to_have_title("Learn · drivelab")
    expect(page.locator(".lessons .card").first).to_be_visible()
    tab_to(page, "power cut")
    page.keyboard.press("Enter")
    expect(page.locator(".say")).to_be_visible()
    tab_to(page, r"^The drive\.")
    page.keyboard.press("End")
    expect(page.locator(".ending")).to_be_visible()
    tab_to(page, "A1, B1, C1")
    page.keyboard.press("Space")
    expect(page.locator(".verdict").first).to_contain_text(re.compile("Right|Not so"))


def test_drives_and_states_are_chosen_and_the_focus_stays(standing_lab: Server, page: Page) -> None:
    page.goto(standing_lab.at("/compare"))
    expect(page.locator("#said")).to_have_text("Compare")
    tab_to(page, "^Intel X25-M G1 80 GB$")
    page.keyboard.press("Enter")
    field = page.get_by_role("combobox", name="Add a drive")
    expect(field).to_be_focused()
    page.keyboard.type("vertex 120")
    expect(page.get_by_role("option", name=re.compile("^OCZ Vertex 120 GB")).first).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Findings")).to_be_visible()
    expect(field).to_be_focused()
    tab_to(page, "^used$")
    used = page.get_by_role("button", name="used", exact=True)
    for pressed in ("false", "true"):
        page.keyboard.press("Enter")
        expect(used).to_have_attribute("aria-pressed", pressed)
        expect(used).to_be_focused()


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_on_a_phone_the_menu_shows_where_one_is(server: Server, page: Page, view: View) -> None:
    page.set_viewport_size({"width": 360, "height": 720})
    page.goto(server.at(f"/{view.name}"))
    expect(page.locator("#said")).to_have_text(view.title)
    expect(page.locator(".bar nav a[aria-current]")).to_be_in_viewport(ratio=0.99)


def test_a_parameter_is_changed_and_a_study_chosen(server: Server, page: Page) -> None:
    page.goto(server.at("/design?drive=intel-x25-v-40gb"))
    expect(page.locator(".parameter").first).to_be_visible()
    tab_to(page, "Filter the parameters")
    page.keyboard.type("cleaning_stop")
    tab_to(page, "^cleaning_stop_blocks")
    page.keyboard.press("Control+a")
    page.keyboard.type("5")
    page.keyboard.press("Tab")
    expect(page.locator(".changes")).to_contain_text("3 → 5")
    page.keyboard.press("Control+Home")
    page.evaluate("document.activeElement.blur()")
    tab_to(page, "^What follows from what$")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Vary each parameter")).to_be_visible()
    expect(page).to_have_url(re.compile("part=sensitivity"))


def test_a_watched_drive_is_paused_stepped_and_opened(server: Server, page: Page) -> None:
    page.goto(server.at("/watch?model=intel-x25-v-40gb&divisor=64"))
    expect(page.locator(".now b")).to_be_visible()
    tab_to(page, "^Pause$")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_focused()
    tab_to(page, "^Step$")
    page.keyboard.press("Enter")
    tab_to(page, "Blocks of the drive")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".told")).to_contain_text("block")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=re.compile("Block .* of die"))).to_be_visible()


def test_a_run_is_tagged_chosen_and_drawn(standing_lab: Server, page: Page) -> None:
    page.goto(standing_lab.at("/history"))
    expect(page.locator(".course canvas")).to_be_visible()
    tab_to(page, "^Filter the runs$")
    page.keyboard.type("review")
    expect(page.get_by_text("1 of 1")).to_be_visible()
    tab_to(page, "^Choose run 1$")
    page.keyboard.press("Space")
    expect(page.get_by_label("Choose run 1")).to_be_checked()
    tab_to(page, "^Tag run 1$")
    page.keyboard.type("mine")
    page.keyboard.press("Enter")
    off = page.get_by_role("button", name="Take mine off run 1")
    expect(off).to_be_visible()
    field = page.get_by_label("Tag run 1", exact=True)
    expect(field).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(off).to_be_focused()
    page.keyboard.press("Enter")
    expect(off).to_have_count(0)
    expect(field).to_be_focused()
    tab_to(page, "^Report of run 1$")
    with page.expect_popup() as opening:
        page.keyboard.press("Enter")
    expect(opening.value.get_by_role("heading", name="Findings")).to_be_visible()
    opening.value.close()
    tab_to(page, "^Number$")
    page.keyboard.type("Mean")
    # The address is new at once; the chart is when its numbers have come.
    expect(page.get_by_label(re.compile("^Mean latency, by run"))).to_be_visible()
    expect(page).to_have_url(re.compile("number=latency_mean_us"))
    tab_to(page, "^Mean latency")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".course .readout")).to_contain_text("run 1, engine")
    tab_to(page, "^As a table$")
    page.keyboard.press("Enter")
    expect(page.locator(".course table")).to_be_visible()
    page.evaluate("document.activeElement.blur(); document.querySelector('h1').focus()")
    tab_to(page, "^Compare the chosen$")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Findings")).to_be_visible()


def test_a_trace_is_chosen_with_its_drives_and_ordered(standing: Standing, page: Page) -> None:
    trace = standing.traces / "mail.csv"
    trace.write_text(recorded())
    ordered: list[dict[str, object]] = []

    def take(route: Route) -> None:
        ordered.append(route.request.post_data_json)
        route.fulfill(status=201, json={"id": 1, "title": "a replay"})

    try:
        page.goto(standing.server.at("/traces"))
        expect(page.locator(".picked li").first).to_be_visible()
        page.route("**/api/jobs", take)
        tab_to(page, "^Trace$")
        page.keyboard.type("mail")
        expect(page.locator(".about")).to_contain_text("msr")
        while page.locator(".picked li").count() > 1:
            tab_to(page, "^Without ")
            page.keyboard.press("Enter")
            # The button has gone, and left the focus to what adds another.
            expect(page.get_by_label("Add a drive")).to_be_focused()
            page.evaluate("document.querySelector('h1').focus(); document.activeElement.blur()")
        page.keyboard.press("Home")
        tab_to(page, "^State")
        page.keyboard.type("new")
        tab_to(page, "^Replay on 1 drive$")
        page.keyboard.press("Enter")
        expect(page.get_by_role("status").filter(has_text="Queued")).to_have_count(1)
        assert [(one["trace"], one["state"]) for one in ordered] == [("mail.csv", "new")]
    finally:
        trace.unlink()
