"""A server of its own for every test that wants one, and a browser that notes what goes wrong."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pages
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Route,
    expect,
)
from web import laboratory, wire
from web.running import Server, start

WAIT_MS = 180_000
"""Of browser tests: the machine may have other things to do. Only what fails waits so long."""
expect.set_options(timeout=WAIT_MS)


@dataclass
class Standing:
    """A server that many tests ask: it takes a second to start, and they leave nothing in it."""

    server: Server
    folder: Path

    @property
    def traces(self) -> Path:
        """Where its traces would lie."""
        found = self.folder / "XDG_DATA_HOME" / "drivelab" / "traces"
        found.mkdir(parents=True, exist_ok=True)
        return found

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Around a test: it queues nothing, and nothing goes wrong in the server meanwhile."""
        log = self.folder / "server.log"
        before = len(log.read_text())
        yield
        assert wire.ask(self.server, "/api/jobs").json == []
        said = log.read_text()[before:]
        assert "Traceback" not in said, said


@contextmanager
def serving(folder: Path, file: Path | None = None) -> Iterator[Server]:
    """A server of this folder, over a copy of this database; nothing goes wrong in it."""
    copies = [] if file is None else [Path(shutil.copy(file, folder / "lab.duckdb"))]
    found = start(folder, *copies)
    yield found
    found.stop()
    said = (folder / "server.log").read_text()
    assert "Traceback" not in said, said


@pytest.fixture(scope="session")
def one_for_all(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    """Of this process of tests; `standing` is what a test takes."""
    folder = tmp_path_factory.mktemp("standing")
    with serving(folder) as found:
        yield Standing(found, folder)


@pytest.fixture
def standing(one_for_all: Standing) -> Iterator[Standing]:
    """A server for tests that only read, or are refused: whoever leaves something in it fails."""
    with one_for_all.watched():
        yield one_for_all
    left = list(one_for_all.traces.iterdir())
    # Others aren't to fail with it.
    for path in left:
        path.unlink()
    assert left == []


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server over a database that isn't there yet."""
    with serving(tmp_path) as found:
        yield found


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with three small drives, reviewed quickly in two states; not to be changed."""
    file = tmp_path_factory.mktemp("measured") / "lab.duckdb"
    laboratory.record(file, states=("new", "used"))
    return file


@pytest.fixture(scope="session")
def lab_for_all(measured: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    """Of this process of tests; `standing_lab` is what a test takes."""
    folder = tmp_path_factory.mktemp("standing-lab")
    with serving(folder, measured) as found:
        yield Standing(found, folder)


@pytest.fixture
def standing_lab(lab_for_all: Standing) -> Iterator[Server]:
    """A server over a copy of `measured`, for tests that only look at it."""
    runs = wire.ask(lab_for_all.server, "/api/history").json
    with lab_for_all.watched():
        yield lab_for_all.server
    assert wire.ask(lab_for_all.server, "/api/history").json == runs


@pytest.fixture
def lab(measured: Path, tmp_path: Path) -> Iterator[Server]:
    """A server over a copy of it."""
    with serving(tmp_path, measured) as found:
        yield found


FRAMES = """new Promise(done =>
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))"""
"""Until what a key press, or the pointer, left for later frames is done."""
SETTLED = """async () => {
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    await Promise.allSettled(document.getAnimations().map(one => one.finished));
}"""


def fits(page: Page, width: int) -> None:
    """Waits until nothing is wider than a window of this width: what is drawn follows its size."""
    page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)


def serious(page: Page) -> list[str]:
    """What axe finds of a page that is serious or critical."""
    # Colours on their way to others have no contrast yet.
    page.evaluate(SETTLED)
    # Its script is put in past the content security policy, which is why pages of it are separate.
    found = Axe().run(page).response["violations"]
    return [
        f"{item['id']}: {item['help']}: {node['html'][:200]}"
        for item in found
        if item["impact"] in ("serious", "critical")
        for node in item["nodes"]
    ]


@pytest.fixture(scope="session")
def browser() -> Browser:
    """The browser of this process of tests."""
    return pages.chromium()


@dataclass
class Noted:
    """What pages of a browser's context did that no page may do."""

    errors: list[str]
    away: list[str]
    """Addresses outside this machine that were asked for."""

    def watch(self, context: BrowserContext) -> None:
        """Listens to every page of it, windows that pages open among them."""

        def away(url: str) -> None:
            if not re.match(r"(https?|ws)://127\.0\.0\.1[:/]|blob:|data:", url):
                self.away.append(url)

        def console(message: ConsoleMessage) -> None:
            if message.type in ("error", "warning"):
                self.errors.append(message.text)

        context.on("console", console)
        context.on("weberror", lambda error: self.errors.append(str(error.error)))
        context.on("request", lambda request: away(request.url))
        context.on("page", lambda page: page.on("websocket", lambda line: away(line.url)))


def held_back(page: Page, held: list[Route]) -> None:
    """Waits until a request was made that the test answers when it likes."""
    deadline = time.monotonic() + WAIT_MS / 1000
    while not held:
        assert time.monotonic() < deadline, "it was never asked for"
        page.wait_for_timeout(50)


def let_go(page: Page, held: list[Route], address: str) -> None:
    """Lets the server answer what was held back, and the page time to draw what it shouldn't."""
    with page.expect_response(address):
        for route in held:
            route.continue_()
    page.wait_for_timeout(500)


@pytest.fixture
def noted() -> Noted:
    """What `page` and its windows did; a test that provokes an error empties `errors` itself."""
    return Noted([], [])


@pytest.fixture
def page(browser: Browser, noted: Noted) -> Iterator[Page]:
    """A page of 1280 x 900; at the end there was no error, and no request left this machine."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    # Of all of its pages: a report opens in one of its own.
    context.set_default_timeout(WAIT_MS)
    noted.watch(context)
    opened = context.new_page()
    yield opened
    context.close()
    assert noted.errors == []
    assert noted.away == []
