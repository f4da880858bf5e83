"""Pages that are open while their server is stopped and started again, with a new token."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from web import laboratory
from web.conftest import FRAMES, Noted, Server, start
from web.test_compare import address, opened

QUIET_MS = 3000
"""Longer than a page waits before it tries again."""


@pytest.fixture
def restarted(lab: Server, tmp_path: Path) -> Iterator[Callable[[], Server]]:
    """Starts a server in the place of `lab`, which has been stopped."""
    begun: list[Server] = []

    def again() -> Server:
        begun.append(start(tmp_path, tmp_path / "lab.duckdb", lab.port))
        return begun[-1]

    yield again
    for server in begun:
        server.stop()


def says_what_to_do(page: Page, noted: Noted) -> None:
    """The page names the printed address, and then leaves the server and the console alone."""
    expect(page.locator("#notice")).to_contain_text("open the address")
    # What the same refusal writes on the console comes after the notice.
    page.evaluate(FRAMES)
    before = len(noted.errors)
    page.wait_for_timeout(QUIET_MS)
    assert noted.errors[before:] == []
    expect(page.locator("#notice")).to_contain_text("open the address")


A_DRIVE = "/watch?model=intel-x25-v-40gb&divisor=64"


@pytest.mark.parametrize("path", [A_DRIVE, address(*laboratory.DRIVES[:2])], ids=["watch", "jobs"])
def test_a_page_with_a_live_line_says_so_and_goes_on_with_another_tab(
    lab: Server, page: Page, noted: Noted, restarted: Callable[[], Server], path: str
) -> None:
    drawn = page.locator(".now b, .findings").first
    opened(page, lab, path)
    expect(drawn).to_be_visible()
    lab.stop()
    expect(page.locator("#notice")).to_contain_text("doesn't answer")
    again = restarted()
    says_what_to_do(page, noted)
    # One tab is enough.
    tab = page.context.new_page()
    opened(tab, again, "/learn")
    expect(page.locator("#notice")).to_be_hidden()
    expect(drawn).to_be_visible()
    if path == A_DRIVE:
        now = page.locator(".now b").inner_text()
        expect(page.locator(".now b")).not_to_have_text(now)
    noted.errors.clear()
    page.goto("about:blank")
    tab.close()


def test_what_could_not_be_drawn_is_drawn_when_the_server_is_back(
    lab: Server, page: Page, noted: Noted, restarted: Callable[[], Server]
) -> None:
    opened(page, lab, "/learn/trim")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    lab.stop()
    page.get_by_role("link", name="All lessons").click()
    expect(page.locator("#notice")).to_contain_text("doesn't answer")
    again = restarted()
    tab = page.context.new_page()
    opened(tab, again, "/learn")
    expect(page.locator(".lessons a").first).to_be_visible()
    expect(page.locator("#notice")).to_be_hidden()
    noted.errors.clear()
    page.goto("about:blank")
    tab.close()


def choose_a_number(page: Page) -> None:
    page.get_by_label("Number", exact=True).select_option("iops")


def open_a_lesson(page: Page) -> None:
    page.locator(".lessons .card").first.click()


@pytest.mark.parametrize(
    ("path", "act"),
    [("/history", choose_a_number), ("/learn", open_a_lesson)],
    ids=["history", "learn"],
)
def test_a_page_without_one_says_so_when_it_asks(
    lab: Server,
    page: Page,
    noted: Noted,
    restarted: Callable[[], Server],
    path: str,
    act: Callable[[Page], None],
) -> None:
    opened(page, lab, path)
    expect(page.locator(".lessons .card, .course canvas").first).to_be_visible()
    lab.stop()
    again = restarted()
    act(page)
    says_what_to_do(page, noted)
    page.evaluate("document.isOld = true")
    page.goto(again.at(path))
    page.wait_for_function("!document.isOld")
    expect(page.locator(".lessons .card, .course canvas").first).to_be_visible()
    expect(page.locator("#notice")).to_be_hidden()
    noted.errors.clear()
    page.goto("about:blank")
