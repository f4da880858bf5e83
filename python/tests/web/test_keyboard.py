"""Every view by keyboard alone: what a reader does there, without a pointer."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect
from web.conftest import Server

from drivelab.web.views import VIEWS

TABS_MAX = 60


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
    server: Server, page: Page, view: object
) -> None:
    page.goto(server.at(f"/{view.name}"))  # type: ignore[attr-defined]
    expect(page.locator("main h1").first).to_be_visible()
    # A heading may be there before what can have the focus.
    page.wait_for_load_state("networkidle")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    inside = "document.querySelector('main').contains(document.activeElement)"
    assert page.evaluate(inside), "the next Tab is in the view"
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none", "what has the focus shows it"


def test_a_view_is_chosen_from_the_menu(server: Server, page: Page) -> None:
    page.goto(server.at("/compare"))
    page.wait_for_load_state("networkidle")
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
