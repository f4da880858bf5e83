"""Pictures of the page show what it shows now."""

from __future__ import annotations

import pytest
import screenshots
from playwright.sync_api import Browser

from drivelab.web.views import VIEWS


@pytest.mark.slow
def test_every_picture_shows_what_its_view_shows_now(browser: Browser) -> None:
    # The browser of the other tests: Playwright can't be begun twice in a process.
    with screenshots.served() as server:
        page = browser.new_page()
        for screen in screenshots.SCREENS:
            now = screenshots.opened(page, server, screen)
            then = screenshots.kept(screenshots.FOLDER / f"{screen.name}.png")
            assert then == now, f"docs/web/{screen.name}.png is old: `make screenshots` renews it"
        page.close()


def test_every_view_has_a_picture() -> None:
    shown = {screen.path.split("?")[0].strip("/").split("/")[0] for screen in screenshots.SCREENS}
    assert {view.name for view in VIEWS} <= shown
