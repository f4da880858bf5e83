"""Pictures of the page show what it shows now."""

from __future__ import annotations

import pytest
import screenshots
from playwright.sync_api import sync_playwright
from web.conftest import CHROMIUM

from drivelab.web.views import VIEWS


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium")
def test_every_picture_shows_what_its_view_shows_now() -> None:
    with screenshots.served() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        for screen in screenshots.SCREENS:
            now = screenshots.opened(page, server, screen)
            then = screenshots.kept(screenshots.FOLDER / f"{screen.name}.png")
            assert then == now, f"docs/web/{screen.name}.png is old: `make screenshots` renews it"
        browser.close()


def test_every_view_has_a_picture() -> None:
    shown = {screen.path.split("?")[0].strip("/").split("/")[0] for screen in screenshots.SCREENS}
    assert {view.name for view in VIEWS} <= shown
