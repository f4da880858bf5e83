"""The frame of the page: menu, themes, and the token that it needs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect
from web.conftest import Noted, Server, Standing, held_back, let_go

from drivelab.web.app import STATIC
from drivelab.web.views import VIEWS, View


@pytest.fixture
def server(standing: Standing) -> Server:
    """One for all tests: none here leaves anything in it."""
    return standing.server


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_every_view_opens_from_the_menu_and_from_its_address(
    server: Server, page: Page, view: View
) -> None:
    page.goto(server.address)
    page.get_by_role("navigation").get_by_role("link", name=view.title, exact=True).click()
    expect(page).to_have_title(f"{view.title} · drivelab")
    expect(page).to_have_url(f"{server.origin}/{view.name}")
    page.reload()
    expect(page.locator("main h1").first).to_be_visible()


STRANGE = {
    "/learn?lesson=trim": '"lesson" is unknown in the address of this page. Allowed: nothing',
    "/learn/trim?x=1": '"x" is unknown in the address of this page. Allowed: step, told',
    "/learn/trim?told=zz": 'told "zz" of the address: allowed: ',
    "/learn/trim?step=abc": 'step "abc" of the address: allowed: 0 to ',
    "/learn/trim?step=-5": 'step "-5" of the address: allowed: 0 to ',
    "/learn/trim?step=999": 'step "999" of the address: allowed: 0 to ',
    "/watch?x=1": '"x" is unknown',
    "/traces?x=1": '"x" is unknown in the address of this page. Allowed: trace, run',
    "/history?x=1": '"x" is unknown in the address of this page. Allowed: filter, model, test',
    "/compare?foo=1": '"foo" is unknown in the address of this page. Allowed: drive, kind, test',
    "/design?part=bogus": 'part "bogus" of the address: allowed: parameters, sensitivity, figure',
    "/design?part=sweep&study=x": 'study "x" of the address: allowed: the name of one',
    "/design?foo=1": '"foo" is unknown in the address of this page. Allowed: drive, set',
}


@pytest.mark.parametrize("address", STRANGE)
def test_what_of_an_address_is_not_of_its_page_is_said(
    server: Server, page: Page, address: str
) -> None:
    page.goto(server.address)
    page.goto(f"{server.origin}{address}")
    expect(page.locator(".warning").filter(has_text=STRANGE[address])).to_be_visible()
    expect(page.locator("main h1").first).to_be_visible()


@pytest.mark.parametrize("address", ["/learn/trim?x=1", "/traces?x=1", "/history?x=1"])
def test_what_was_said_of_an_address_is_gone_with_it(
    server: Server, page: Page, address: str
) -> None:
    page.goto(server.address)
    path = address.partition("?")[0]
    page.goto(f"{server.origin}{path}")
    expect(page.locator("main h1").first).to_be_visible()
    page.evaluate("to => import('/static/app.js').then((app) => app.go(to))", address)
    told = page.get_by_role("alert").filter(has_text=STRANGE.get(address, "is unknown"))
    expect(told).to_be_visible()
    page.evaluate("to => import('/static/app.js').then((app) => app.go(to))", path)
    expect(told).to_be_hidden()


NOWHERE = ["/learn/trim/extra", "/design/nope", "/compare/x/y", "/nonsense", "/non/sense"]


@pytest.mark.parametrize("address", NOWHERE)
def test_a_path_that_leads_nowhere_is_no_page(
    server: Server, page: Page, noted: Noted, address: str
) -> None:
    page.goto(server.address)
    answer = page.goto(f"{server.origin}{address}")
    assert answer is not None
    assert answer.status == (404 if "sense" in address else 200)
    expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
    expect(page).to_have_title("No such page · drivelab")
    # The browser itself tells of a status 404.
    noted.errors.clear()


def modules(file: Path) -> set[Path]:
    """A module with all that it imports."""
    found, new = set[Path](), {file}
    while new:
        found |= new
        texts = {path: path.read_text(encoding="utf-8") for path in new}
        named = {
            (path.parent / name).resolve()
            for path, text in texts.items()
            for name in re.findall(r'from "(\.[^"]+)"', text)
        }
        new = named - found
    return found


def styled(file: Path, beginning: str = "") -> set[str]:
    """The classes that a style sheet names, or those at the beginning of a rule: `.jobs`, which it
    styles wherever it stands, but not the `cut` of `.kind.cut`."""
    text = file.read_text(encoding="utf-8")
    return set(re.findall(rf"{beginning}\.([a-z][\w-]*)", text, re.MULTILINE))


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_a_view_loads_the_styles_of_what_it_draws(view: View) -> None:
    """Those of another view are there only where that was looked at before."""
    text = "".join(path.read_text("utf-8") for path in modules(STATIC / f"views/{view.name}.js"))
    drawn = {
        name
        for element in re.findall(r"\bh\(\s*[`\"][a-z0-9]*((?:\.[a-z][\w-]*)+)", text)
        for name in element.split(".")[1:]
    }
    loaded = [STATIC / path for path in re.findall(r"/static/(views/[\w-]+\.css)", text)]
    assert loaded
    own = set.union(*map(styled, [STATIC / "style.css", *loaded]))
    of_others = [styled(path, "^ *") for path in (STATIC / "views").glob("*.css")]
    assert drawn & own
    assert drawn & set.union(*of_others) - own == set()


def test_the_readers_theme_comes_before_the_systems_and_is_kept(server: Server, page: Page) -> None:
    page.emulate_media(color_scheme="light")
    page.goto(server.address)
    page.get_by_role("button", name="Use the dark theme").click()
    page.reload()
    expect(page.get_by_role("button", name="Use the light theme")).to_be_visible()
    expect(page.locator("body")).to_have_css("background-color", "rgb(20, 23, 26)")


def test_a_page_without_the_token_says_where_it_is(
    server: Server, page: Page, noted: Noted
) -> None:
    page.goto(f"{server.origin}/compare")
    expect(page.locator("#notice")).to_contain_text("has no token")
    page.goto(server.at("/compare"))
    expect(page.get_by_role("heading", name="Compare drives")).to_be_visible()
    expect(page).not_to_have_url(re.compile("token"))
    noted.errors.clear()


def test_a_view_that_can_not_be_loaded_says_so(server: Server, page: Page, noted: Noted) -> None:
    page.goto(server.at("/learn"))
    expect(page.locator("main .card").first).to_be_visible()
    page.route("**/api/drives*", lambda route: route.fulfill(status=500, json={"error": "broken"}))
    page.get_by_role("link", name="Design").click()
    expect(page.get_by_role("alert")).to_have_text("This can't be shown: broken.")
    page.unroute("**/api/drives*")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", name="Design a drive")).to_be_visible()
    noted.errors.clear()


def test_a_view_that_was_left_draws_nothing_below_the_next_one(server: Server, page: Page) -> None:
    held: list[Route] = []  # A method of a list is none that playwright takes.
    page.route("**/api/drives*", lambda route: held.append(route))
    page.goto(server.at("/compare"))
    menu = page.get_by_role("navigation")
    held_back(page, held)
    menu.get_by_role("link", name="Learn", exact=True).click()
    expect(page.locator("main .card").first).to_be_visible()
    before = page.locator("main").inner_text()
    let_go(page, held, "**/api/drives*")
    assert page.locator("main").inner_text() == before


def test_a_list_that_comes_late_does_not_replace_what_was_opened_since(
    server: Server, page: Page
) -> None:
    held: list[Route] = []
    page.goto(server.at("/learn/five-pages"))
    expect(page.locator(".say")).to_be_visible()
    page.route("**/api/lessons", lambda route: held.append(route))
    page.get_by_role("link", name="All lessons").click()
    page.wait_for_url("**/learn")
    held_back(page, held)
    page.go_back()
    expect(page.locator(".say")).to_be_visible()
    let_go(page, held, "**/api/lessons")
    expect(page.locator(".say")).to_be_visible()


def test_windows_and_live_lines_of_a_page_are_listened_to(
    server: Server, page: Page, noted: Noted
) -> None:
    page.goto(server.at("/learn"))
    with page.expect_popup() as opening:
        page.evaluate("() => { open('about:blank') }")
    window = opening.value
    with window.expect_console_message():
        window.evaluate("console.error('in a window')")
    assert noted.errors == ["in a window"]
    page.goto("about:blank")
    with page.expect_console_message():
        page.evaluate("() => { new WebSocket('ws://localhost:9/') }")
    assert noted.away == ["ws://localhost:9/"]
    noted.errors.clear()
    noted.away.clear()
