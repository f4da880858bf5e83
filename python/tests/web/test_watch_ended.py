"""Watch when there is no drive to watch: a refused address, a lost connection, a drive that is
another one, a tab too many."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, WebSocketRoute, expect
from web import wire
from web.conftest import Noted, Server, Standing, held_back, serious, start
from web.test_watch import button, goes_on, opened

from drivelab.web import watch_choice
from drivelab.web.security import SOCKETS_MAX

SMALL = "/watch?model=intel-x25-v-40gb&divisor=64"
REFUSED = {
    "model=ocz-vertex-12": ("model = 'ocz-vertex-12'", 'did you mean "ocz-vertex-120gb"'),
    "model=nonsense": ("model = 'nonsense'", "one of the "),
    "model=wd-velociraptor-300gb": ("model = 'wd-velociraptor-300gb'", "a hard disk has no blocks"),
    "modell=ocz-vertex-120gb": ('"modell" is unknown', 'did you mean "model"'),
    "divisor=half": ("divisor = 'half'", "whole numbers from 1"),
    "divisor=60000": ("60000", "must be at most 584"),
    "state=brand-new": ("state = 'brand-new'", 'did you mean "new"'),
    "fill_percent=0": ("fill_percent = 0", "whole numbers from 1 to 100"),
    "spare_percent=much": ("spare_percent = 'much'", "0.5 to 400"),
    "workload=writes": ("workload = 'writes'", "random-writes"),
    "victims=best": ("victims = 'best'", "greedy"),
    "power=of": ("power = 'of'", "steady"),
    "speed=2": ('"speed" is unknown', "Allowed: model"),
    "served=my.drive": ("served = 'my.drive'", "drivelab web --served"),
}


def news(page: Page) -> str:
    return page.locator(".watch-news").inner_text()


@pytest.mark.parametrize("asked", REFUSED)
def test_what_an_address_asks_for_in_vain_is_named_and_a_list_is_offered(
    standing: Standing, page: Page, asked: str
) -> None:
    page.goto(standing.server.at(f"/watch?{asked}"))
    expect(page.locator(".watch-news")).to_be_visible()
    for words in REFUSED[asked]:
        assert words in news(page), (words, news(page))
    expect(page.locator("select[name=model] option")).to_have_count(len(watch_choice.watchable()))
    for name in ("Pause", "Step", "Secure erase", "Power cut"):
        expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)
    expect(page.locator(".watch-controls")).to_have_js_property("disabled", True)


def test_another_drive_is_chosen_after_a_refusal(standing: Standing, page: Page) -> None:
    page.goto(standing.server.at("/watch?model=ocz-vertex-12&state=new"))
    expect(page.locator(".watch-form")).to_be_visible()
    assert serious(page) == []
    page.locator("select[name=model]").select_option("ocz-vertex-120gb")
    page.get_by_label("Size").select_option("64")
    page.get_by_role("button", name="Watch this drive").click()
    expect(page.locator(".about")).to_contain_text("OCZ Vertex 120 GB (1/64)")
    expect(page.locator(".watch-news")).to_be_hidden()
    goes_on(page)
    button(page, "Pause").click()
    expect(page.locator(".now")).to_contain_text("stands still")


def test_nothing_can_be_done_to_a_drive_that_could_not_be_made(
    standing: Standing, page: Page
) -> None:
    page.goto(standing.server.at("/watch?model=hypothetical&power=cuts"))
    expect(page.locator(".veil")).to_contain_text("rewrites its block in place")
    expect(button(page, "Pause")).to_be_disabled()
    page.locator(".veil").get_by_role("button", name="Try again").click()
    expect(page.locator(".veil")).to_contain_text("rewrites its block in place")


@pytest.fixture
def restarted(server: Server, tmp_path: Path) -> Iterator[Callable[[], Server]]:
    """Starts a server in the place of `server`, which has been stopped."""
    begun: list[Server] = []

    def again() -> Server:
        begun.append(start(tmp_path, port=server.port))
        return begun[-1]

    yield again
    for one in begun:
        one.stop()


def test_a_lost_drive_looks_lost_and_a_new_one_says_that_it_is_new(
    server: Server, page: Page, noted: Noted, restarted: Callable[[], Server]
) -> None:
    opened(server, page, SMALL)
    expect(page.locator(".watch-news")).to_be_hidden()
    goes_on(page, 60)
    button(page, "Pause").focus()
    server.stop()
    veil = page.locator(".veil")
    expect(veil).to_contain_text("The connection to the server is lost.")
    expect(veil).to_contain_text(re.compile(r"This is how the drive was at \d"))
    expect(page.locator(".now")).to_contain_text("Not at work: picture and numbers are of")
    for name in ("Pause", "Step", "Secure erase"):
        expect(button(page, name)).to_be_disabled()
    expect(page.get_by_label("Workload")).to_be_disabled()
    assert serious(page) == []

    again = restarted()
    tab = page.context.new_page()
    tab.goto(again.at("/learn"))
    expect(page.locator(".watch-news")).to_contain_text("This is a new drive, from its beginning.")
    expect(veil).to_be_hidden()
    goes_on(page)
    expect(button(page, "Pause")).to_be_enabled()
    expect(button(page, "Pause")).to_be_focused()
    assert "new drive" in news(page), "it stays"
    page.locator(".watch-news").get_by_role("button", name="Close").click()
    expect(page.locator(".watch-news")).to_be_hidden()
    noted.errors.clear()
    tab.close()
    page.goto("about:blank")


def test_a_reloaded_page_whose_drive_has_ended_says_so(
    server: Server, page: Page, noted: Noted, restarted: Callable[[], Server]
) -> None:
    opened(server, page, SMALL)
    page.reload()
    expect(page.locator(".now b")).to_be_visible()
    expect(page.locator(".watch-news")).to_be_hidden()
    page.goto("about:blank")
    server.stop()
    again = restarted()
    opened(again, page, SMALL)
    expect(page.locator(".watch-news")).to_contain_text("This is a new drive")
    # Who asks for another drive knows that it is one.
    page.goto(again.at(f"{SMALL}&state=new"))
    expect(page.locator(".about")).to_contain_text("new")
    expect(page.locator(".now b")).to_be_visible()
    expect(page.locator(".watch-news")).to_be_hidden()
    noted.errors.clear()
    page.goto("about:blank")


def test_a_copy_of_a_tab_takes_its_drive_over_and_both_say_so(server: Server, page: Page) -> None:
    opened(server, page, SMALL)
    key = page.evaluate("sessionStorage.getItem('drivelab.watch')")
    copy = page.context.new_page()
    copy.add_init_script(f"sessionStorage.setItem('drivelab.watch', '{key}')")
    copy.add_init_script(
        "sessionStorage.setItem('drivelab.watched', "
        f"{page.evaluate('JSON.stringify(sessionStorage.getItem(`drivelab.watched`))')})"
    )
    opened(server, copy, SMALL)
    expect(page.locator(".veil")).to_contain_text("Another tab watches this drive now.")
    expect(button(page, "Pause")).to_be_disabled()
    goes_on(copy)
    page.get_by_role("button", name="Watch it here").click()
    goes_on(page)
    expect(button(page, "Pause")).to_be_enabled()
    expect(page.locator(".watch-news")).to_be_hidden()
    expect(copy.locator(".veil")).to_contain_text("Another tab watches this drive now.")
    copy.close()
    goes_on(page)


@pytest.mark.parametrize("path", [SMALL, "/compare"], ids=["watch", "jobs"])
def test_a_page_for_which_there_is_no_room_says_so_and_goes_on_when_there_is(
    server: Server, page: Page, path: str
) -> None:
    with contextlib.ExitStack() as others:
        for _ in range(SOCKETS_MAX):
            status, line = wire.opened(server)
            others.enter_context(line)
            assert status == 101
        page.goto(server.at(path))
        notice = page.locator("#notice")
        expect(notice).to_contain_text(f"All {SOCKETS_MAX} live connections")
        expect(notice).to_contain_text("close another page")
        page.evaluate(
            "document.noticed = 0; new MutationObserver(() => document.noticed++)"
            ".observe(document.querySelector('#notice'),"
            " { attributes: true, childList: true, characterData: true, subtree: true })"
        )
        # It tries again, and what it says stands still meanwhile.
        with page.expect_websocket():
            pass
        with page.expect_websocket():
            pass
        assert page.evaluate("document.noticed") == 0
        if path == SMALL:
            expect(page.locator(".watch-controls")).to_have_js_property("disabled", True)
        # Elsewhere there is no need of one.
        page.get_by_role("navigation").get_by_role("link", name="Learn", exact=True).click()
        expect(page.locator(".lessons .card").first).to_be_visible()
        expect(notice).to_be_hidden()
        page.go_back()
        expect(notice).to_contain_text("live connections")
    expect(notice).to_be_hidden()
    if path == SMALL:
        goes_on(page)


@pytest.mark.parametrize("path", [SMALL, "/compare"], ids=["watch", "jobs"])
def test_a_connection_that_closed_for_another_reason_is_not_one_too_many(
    server: Server, page: Page, path: str
) -> None:
    lines: list[WebSocketRoute] = []

    def opens(line: WebSocketRoute) -> None:
        lines.append(line)
        line.connect_to_server()

    page.route_web_socket(re.compile("/socket/"), opens)
    page.goto(server.at(path))
    expect(page.locator(".now b" if path == SMALL else "main h1").first).to_be_visible()
    deadline = time.monotonic() + wire.WAIT_S
    while not lines:
        assert time.monotonic() < deadline, "it has no connection"
        page.wait_for_timeout(50)
    page.evaluate(
        "document.noticed = []; new MutationObserver(() => document.noticed.push("
        "document.querySelector('#notice').textContent)).observe("
        "document.querySelector('#notice'),"
        " { childList: true, characterData: true, subtree: true })"
    )
    held: list[Route] = []
    page.route("**/api/views", lambda request: held.append(request))
    # As uvicorn does where a page sleeps.
    begun = len(lines)
    for line in lines[:begun]:
        line.close(code=1011, reason="keepalive ping timeout")
    held_back(page, held)
    if path == SMALL:
        expect(page.locator(".veil")).to_contain_text("The connection to the server is lost.")
    for request in held:
        request.continue_()
    deadline = time.monotonic() + wire.WAIT_S
    while len(lines) == begun:
        assert time.monotonic() < deadline, "it doesn't try again"
        page.wait_for_timeout(50)
    if path == SMALL:
        goes_on(page)
    assert page.evaluate("document.noticed") == []


def test_an_address_that_asks_for_nothing_begins_the_drive_of_before_anew(
    server: Server, page: Page, noted: Noted, restarted: Callable[[], Server]
) -> None:
    opened(server, page, f"{SMALL}&state=new")
    page.get_by_role("navigation").get_by_role("link", name="Learn", exact=True).click()
    expect(page.locator(".lessons .card").first).to_be_visible()
    page.get_by_role("navigation").get_by_role("link", name="Watch", exact=True).click()
    expect(page.locator(".about")).to_contain_text("Intel X25-V 40 GB (1/64)")
    expect(page.locator(".now b")).to_be_visible()
    expect(page.locator(".watch-news")).to_be_hidden()
    page.goto("about:blank")
    server.stop()
    again = restarted()
    page.goto(again.at("/watch"))
    expect(page.locator(".watch-news")).to_contain_text("This is a new drive")
    expect(page.locator(".about")).to_contain_text("Intel X25-V 40 GB (1/64)")
    expect(page.locator(".about")).to_contain_text("· new ·")
    noted.errors.clear()
    page.goto("about:blank")


def test_who_begins_another_drive_leaves_no_tab_with_one_that_only_looks_alive(
    server: Server, page: Page
) -> None:
    opened(server, page, SMALL)
    key = page.evaluate("sessionStorage.getItem('drivelab.watch')")
    copy = page.context.new_page()
    copy.add_init_script(f"sessionStorage.setItem('drivelab.watch', '{key}')")
    # Another address: the drive of this key is replaced.
    opened(server, copy, f"{SMALL}&state=new")
    expect(page.locator(".veil")).to_contain_text("Another tab watches this drive now.")
    page.get_by_role("button", name="Another drive").click()
    page.get_by_label("Size").select_option("64")
    page.get_by_role("button", name="Watch this drive").click()
    goes_on(page)
    expect(copy.locator(".veil")).to_contain_text("Another tab watches this drive now.")
    copy.close()
