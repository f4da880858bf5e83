"""Every view by keyboard alone: what a reader does there, without a pointer."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect
from web.conftest import Server, Standing

from drivelab.web.views import VIEWS, View

TABS_MAX = 60
FRAMES = """new Promise(done =>
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))"""
"""Until what a key press left for later frames is done."""


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
