"""The pictures of docs/web/: a screenshot of each view, made here by `make screenshots`.

A picture can't be read by a test. So the words and numbers that its view shows go into the file as
text, as those of docs/report.png do: `web/test_screenshots.py` opens the views again and compares.
"""

from __future__ import annotations

import io
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, PngImagePlugin
from playwright.sync_api import Page, sync_playwright
from web import laboratory
from web.conftest import Server, start

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "web"
KEY = "drivelab"
WIDTH, HEIGHT = 1280, 860
WAIT_MS = 600_000
"""Of a machine that does other things; a whole drive is prepared and works for a while."""
DRIVES = (*laboratory.DRIVES, "crucial-m4-256gb")


@dataclass(frozen=True)
class Screen:
    """One picture: the address of a view, and what is done there before it is taken."""

    name: str
    path: str
    words: str
    """Selects what a test reads again."""
    act: Callable[[Page], None] = lambda page: None
    theme: str = "light"


def _down_to(selector: str) -> Callable[[Page], None]:
    def act(page: Page) -> None:
        page.locator(selector).first.wait_for()
        page.locator(selector).first.evaluate("place => place.scrollIntoView()")
        page.mouse.wheel(0, -64)

    return act


def _at_work(page: Page) -> None:
    """A drive that has been writing for more than half an hour of its own time."""
    page.locator(".now b").wait_for()
    page.get_by_label("Speed").fill("61")
    worked = page.locator(".now b", has_text=re.compile(r"([4-9]\d|1\d\d) min|h"))
    worked.wait_for()


def _studied(page: Page) -> None:
    """What a tenth of each parameter does, measured on small versions."""
    page.get_by_role("button", name="Vary each parameter by 10 %").click()
    page.locator(".effects li").first.wait_for()
    _down_to("h1")(page)


def _figure_varied(page: Page) -> None:
    """What becomes of a published figure with a tenth of each parameter."""
    page.get_by_label("Published figure", exact=True).select_option("AN-149")
    page.get_by_label("cited", exact=True).check()
    page.get_by_role("button", name="Vary each parameter by 10 %").click()
    page.locator(".effects li").first.wait_for()
    _down_to("h1")(page)


def _replayed(page: Page) -> None:
    """A trace on four drives."""
    page.get_by_label("State of the drives").select_option("filled")
    page.get_by_role("button", name="Replay on 4 drives").click()
    page.locator(".verdict").wait_for()
    _down_to("h1")(page)


def _desk() -> str:
    """A trace as the MSR ones are written: reads and writes of a few sizes over 16 GiB."""
    draw = np.random.default_rng(9)
    at = 128166372003061629 + np.cumsum(draw.integers(5_000, 200_000, size=4000))
    rows = zip(
        at.tolist(),
        draw.choice(["Read", "Write", "Write"], size=4000).tolist(),
        (draw.integers(2**22, size=4000) * 4096).tolist(),
        draw.choice([4096, 4096, 8192, 65536], size=4000).tolist(),
        strict=True,
    )
    return "".join(f"{when},desk,0,{way},{place},{size},1000\n" for when, way, place, size in rows)


FIGURE = "/design?drive=intel-x25-m-g1-80gb&part=figure"
SENSITIVITY = f"/design?drive={DRIVES[0]}&part=sensitivity"
WATCHED = "/watch?model=intel-x25-m-g1-80gb&state=filled&workload=hot-and-cold"
COMPARED = "/compare?" + "&".join(f"drive={name}" for name in DRIVES) + "&state=used"
DESIGNED = f"/design?drive={DRIVES[0]}&set=flash.channel_count%3D8&set=spare_ratio%3D0.28"
SCREENS = (
    Screen(
        "compare",
        COMPARED,
        ".findings li",
        lambda page: page.locator("#time .plot").nth(0).wait_for(),
    ),
    Screen("bars", COMPARED, "article.test .value", _down_to("#performance")),
    Screen("plots", COMPARED, "#time figcaption", _down_to("#time"), "dark"),
    Screen("design", DESIGNED, ".summary dd", _down_to("h1")),
    Screen("watch", WATCHED, ".about", _at_work, "dark"),
    Screen("learn", "/learn/five-pages?step=12", ".say, .chip"),
    Screen("history", "/history", "tr[data-run] th", _down_to("h1")),
    Screen("sensitivity", SENSITIVITY, ".tabs button, .effects code, .effects b", _studied),
    Screen("figure", FIGURE, ".published, .effects code, .effects small", _figure_varied),
    # The last: its replays are runs like all others.
    Screen("traces", "/traces?trace=desk.csv", "h1, .verdict, .replays th", _replayed),
)


@contextmanager
def served() -> Iterator[Server]:
    """A page over small versions of four drives."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        laboratory.record(folder / "lab.duckdb", DRIVES[:2], states=("new", "used"))
        laboratory.record(folder / "lab.duckdb", DRIVES[2:], states=("new", "used"))
        (folder / "traces").mkdir()
        (folder / "traces" / "desk.csv").write_text(_desk())
        server = start(folder, folder / "lab.duckdb")
        try:
            yield server
        finally:
            server.stop()


def opened(page: Page, server: Server, screen: Screen) -> list[str]:
    """Opens a view as its picture has it; returns its words and numbers."""
    page.set_default_timeout(WAIT_MS)
    page.emulate_media(color_scheme=screen.theme, reduced_motion="reduce")  # type: ignore[arg-type]
    page.goto(server.at(screen.path))
    page.locator(screen.words).first.wait_for()
    screen.act(page)
    page.wait_for_load_state("networkidle")
    return [" ".join(text.split()) for text in page.locator(screen.words).all_inner_texts()]


def kept(path: Path) -> list[str]:
    """What a picture showed when it was made."""
    with Image.open(path) as picture:
        found: list[str] = json.loads(picture.info[KEY])
    return found


def main(browser: str) -> None:
    """Makes docs/web/."""
    FOLDER.mkdir(exist_ok=True)
    with served() as server, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        for screen in SCREENS:
            words = opened(page, server, screen)
            picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            text = PngImagePlugin.PngInfo()
            text.add_itxt(KEY, json.dumps(words, ensure_ascii=False))
            picture.save(FOLDER / f"{screen.name}.png", optimize=True, pnginfo=text)
            print(f"Written: {FOLDER / screen.name}.png", file=sys.stderr)
        chromium.close()


if __name__ == "__main__":
    main(sys.argv[1])
