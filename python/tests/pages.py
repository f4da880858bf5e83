"""A browser for tests that look at pages: one for each process of tests, started when wanted."""

from __future__ import annotations

import atexit
import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser")
"""The first that is there. The shell has no windows, which take as much processor time as pages."""
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
MISSING = "no chromium (Debian: as root, apt-get install chromium-headless-shell)"
DRAWN_MS = 300
"""Until what a page draws by itself is there: nothing that a test waits for itself."""
READY = """() => !document.getElementById("library")
    || document.documentElement.dataset.charts === "ready" """
"""Its charts, if any, hear what a reader does: unpacking them takes long on a busy machine."""
TALL_PX = 12_000
"""Of a page that is drawn whole: charts are when they come into view."""
InPage = Callable[..., Any]
"""What a script returns that runs in a page: (text of the page, script, width_px=1200)."""


@cache
def chromium() -> Browser:
    """The browser; a test is skipped without one, but not in CI."""
    if CHROMIUM is None:
        if os.environ.get("CI"):
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    playwright = sync_playwright().start()
    atexit.register(playwright.stop)
    found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
    atexit.register(found.close)
    return found


def runner(folder: Path) -> InPage:
    """Runs scripts in pages that are a file each; `page` and `own` are document and window."""

    def found(text: str, script: str, width_px: int = 1200) -> Any:
        file = folder / "page.html"
        file.write_text(text, encoding="utf-8")
        context = chromium().new_context(viewport={"width": width_px, "height": TALL_PX})
        page = context.new_page()
        page.goto(file.as_uri())
        page.wait_for_function(READY)
        page.wait_for_timeout(DRAWN_MS)
        value = page.evaluate(f"async () => {{ const page = document, own = window; {script} }}")
        context.close()
        return value

    return found
