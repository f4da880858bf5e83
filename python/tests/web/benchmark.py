"""How fast a watched drive is drawn, and what that costs its engine.

`make bench` runs it, at full size: a drive of many blocks, one of a terabyte, and two that merge,
which count valid pages otherwise. For each

- a frame: processor time that the drive's thread takes for one, in the middle of a run, every third
  with numbers; the mean;
- slower: how much less of its own time the drive works in a second while somebody takes every frame
  that comes than while nobody does, by turns, because what else the machine does moves both;
- frames/s: how many of them a page takes and draws in a browser, if there is one, at the speed at
  which a page begins;
- at full speed: the same while the drive goes as fast as it can, and takes a processor for itself.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pages import CHROMIUM
from playwright.sync_api import Page, sync_playwright
from web.conftest import WAIT_MS, start

from drivelab.progress import TaskProgress
from drivelab.targets import EngineTarget
from drivelab.targets.going import EngineRun
from drivelab.web import watch_choice, watch_preparing, watch_session
from drivelab.web.watch_choice import Choice
from drivelab.web.watch_frames import Frames
from drivelab.web.watch_session import Watched

MODELS = (
    "intel-x25-m-g1-80gb",
    "samsung-pm9a3-960gb",
    "jmicron-jmf602b-64gb",
    "samsung-slc-64gb",
)
WORKLOAD = "random-writes"
ROUNDS, SECONDS, WAIT_S = 5, 2.0, 120.0
FRAMES = 30
COUNTED = """() => {
  const add = WebSocket.prototype.addEventListener;
  document.framesSeen = 0;
  WebSocket.prototype.addEventListener = function (name, heard, ...more) {
    const counting = (event) => {
      document.framesSeen += typeof event.data === "object" ? 1 : 0;
      heard(event);
    };
    add.call(this, name, name === "message" ? counting : heard, ...more);
  };
}"""


@dataclass(frozen=True)
class Result:
    """What was measured of a drive."""

    model: str
    block_count: int
    frame_ms: float
    watched_ratio: float
    frames_per_s: Sequence[float]
    """In a browser, at the speed at which a page begins and at full speed; nothing without one."""

    def line(self) -> str:
        """For people."""
        drawn = "".join(f"{rate:>14.1f}" for rate in self.frames_per_s) or f"{'no browser':>28}"
        return (
            f"{self.model:<24}{self.block_count:>9,}{self.frame_ms:>10.2f}"
            f"{100 * (1 - self.watched_ratio):>9.1f} %{drawn}"
        )


_DRAWN = f"{'frames/s':>14}{'at full speed':>14}"
HEADING = f"{'drive':<24}{'blocks':>9}{'frame, ms':>10}{'slower':>11}{_DRAWN}"
NUMBERS_EVERY = 3


def frame_ms(target: EngineTarget, frames: int) -> float:
    """Mean of the processor time of a frame, while the drive works as fast as it goes."""
    [job] = watch_choice.workload(WORKLOAD, 100)
    part = job.on_drive(target.capacity_bytes, 1, 0).job
    run, drawn = EngineRun(target, [part], log=False, copy=False), Frames(target)
    costs_s = []
    for number in range(frames + 1):
        begun_s, from_ns = time.perf_counter(), target.now_ns
        while time.perf_counter() - begun_s < watch_session.FRAME_S:
            run.advance(target.now_ns + 1_000_000, TaskProgress("bench"))
        assert target.now_ns > from_ns
        begun_s = time.thread_time()
        drawn.frame(run, {}, number % NUMBERS_EVERY == 0)
        # The first has all blocks.
        costs_s += [time.thread_time() - begun_s] if number else []
    return 1000 * statistics.mean(costs_s)


class Viewer:
    """Who takes every frame that comes, or none."""

    def __init__(self, choice: Choice) -> None:
        self.drive = Watched(choice, self._take, WORKLOAD, None)
        self.is_watching = False
        self.now_s = 0.0
        self._came = threading.Event()
        self._said: object = None
        self.drive.start()
        self.ask()

    def _take(self, message: object) -> None:
        if not isinstance(message, bytes):
            self._said = message
        else:
            self._came.set()
            if self.is_watching:
                self.drive.want()

    def ask(self) -> None:
        """One frame."""
        self._came.clear()
        self.drive.want()
        if not self._came.wait(WAIT_S):
            raise TimeoutError(f"no frame in {WAIT_S:.0f} s: {self._said}")

    def works(self, seconds: float, *, is_watching: bool) -> float:
        """Seconds of the drive in a second."""
        self.is_watching = is_watching
        self.ask()
        begun_s, from_ns = time.perf_counter(), self.drive.now_ns
        time.sleep(seconds)
        worked_ns = self.drive.now_ns - from_ns
        found = worked_ns / 1e9 / (time.perf_counter() - begun_s)
        self.is_watching = False
        return found


def watched_ratio(choice: Choice, rounds: int, seconds: float) -> float:
    """How fast a drive works while somebody watches, of what it works while nobody does."""
    viewer = Viewer(choice)
    try:
        ratios = []
        for _ in range(rounds):
            alone = viewer.works(seconds, is_watching=False)
            ratios.append(viewer.works(seconds, is_watching=True) / alone)
        return statistics.median(ratios)
    finally:
        viewer.drive.close()
        viewer.drive.join(60)


def frames_per_s(page: Page, address: str, seconds: float) -> tuple[float, float]:
    """Frames that a page takes, each after the one before is on the screen; then at full speed."""
    page.goto(address)
    asked_s = time.perf_counter()
    while _seen(page) < 3:
        if time.perf_counter() - asked_s > 5 * WAIT_MS / 1000:
            raise TimeoutError(f"{address}: no frames")
        page.wait_for_timeout(100)
    at_first = _seen_per_s(page, seconds)
    slider = page.get_by_label("Speed", exact=True)
    slider.fill(str(slider.get_attribute("max")))
    page.wait_for_timeout(1000 * seconds / 4)
    return at_first, _seen_per_s(page, seconds)


def _seen_per_s(page: Page, seconds: float) -> float:
    begun_s, before = time.perf_counter(), _seen(page)
    page.wait_for_timeout(1000 * seconds)
    return (_seen(page) - before) / (time.perf_counter() - begun_s)


def _seen(page: Page) -> int:
    # The page's policy forbids Playwright's own way to wait for a condition.
    return int(page.evaluate("document.framesSeen"))


def measured(
    models: Sequence[str] = MODELS,
    divisor: int = 1,
    rounds: int = ROUNDS,
    seconds: float = SECONDS,
    frames: int = FRAMES,
    page: Page | None = None,
) -> list[Result]:
    """Every drive, full."""
    results = []
    if page is not None:
        page.add_init_script(f"({COUNTED})()")
    with tempfile.TemporaryDirectory() as folder:
        server = start(Path(folder))
        try:
            for model in models:
                choice = Choice.of({"model": model, "divisor": divisor})
                target = watch_preparing.prepared(choice, TaskProgress("bench"))
                count = Frames(target).layout()["block_count"]
                cost_ms = frame_ms(target, frames)
                del target
                ratio = watched_ratio(choice, rounds, seconds)
                address = server.at(f"/watch?model={model}&divisor={divisor}")
                drawn = () if page is None else frames_per_s(page, address, 2 * seconds)
                results.append(Result(model, count, cost_ms, ratio, drawn))
                if page is not None:
                    page.goto("about:blank")
        finally:
            server.stop()
    return results


def main() -> None:
    """Prints the table."""
    print(HEADING)
    if CHROMIUM is None:
        found = measured()
    else:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            found = measured(page=page)
            browser.close()
    for result in found:
        print(result.line())


if __name__ == "__main__":
    sys.exit(main())
