"""The worked example: what a deleted file costs on a drive of one block of five pages.

A text file of 4 KB and a picture of 8 KB are written, the text file is deleted, and a picture of
12 KB is written to the freed logical page and the two that were never used. Three scenarios: the
drive as it is (`full`), with one page of spare area (`spare`), and with TRIM on delete (`trim`).
The engine computes every number; here are only the host's commands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from drivelab import model as models
from drivelab.model import Overrides
from drivelab.progress import TaskProgress
from drivelab.quantities import KIB, NS_PER_S, SECTOR_BYTES
from drivelab.targets import EngineTarget
from drivelab.workload import FLUSH, TRIM, WRITE, Job, Recorded, Requests

MODEL_NAME = "hypothetical"
PAGE_SECTORS = 4 * KIB // SECTOR_BYTES

LAST_FILE = "Write a picture of 12 KB"
PAUSE_NS = 120 * NS_PER_S
"""Pause of the host after each step: long enough for the drive to clean by itself."""

Command = tuple[int, int, int]
"""Kind, first logical page, number of logical pages."""


@dataclass(frozen=True)
class Scenario:
    """A way to tell the story."""

    name: str
    title: str
    overrides: tuple[tuple[str, str], ...] = ()
    trims: bool = False


SCENARIOS = (
    Scenario("full", "{pages}, {share}"),
    Scenario("spare", "{pages}, {share}", (("flash.pages_per_block", "6"),)),
    Scenario("trim", "{pages}, and the operating system trims what it deletes", trims=True),
)
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def _word(count: int) -> str:
    return _WORDS[count] if count < len(_WORDS) else str(count)


def _title(scenario: Scenario, model: models.Model) -> str:
    """The scenario's title for a drive, which somebody may have changed."""
    page_bytes = int(model.value("flash.page_bytes"))
    pages = model.raw_capacity_bytes // page_bytes
    spare = pages - model.user_capacity_bytes // page_bytes
    share = f"{_word(spare)} of them spare area" if spare else "all of them the user's"
    return scenario.title.format(pages=f"{_word(pages).capitalize()} pages", share=share)


@dataclass(frozen=True)
class Step:
    """One step of the host and what the drive looks like after it."""

    title: str
    seconds: float
    """From the first command to all data in flash, in the drive's time; 0 for what the drive does
    by itself while the host waits."""
    full_percent: float
    """Share of the logical pages that the drive believes in use."""
    blocks: list[dict[str, Any]]


@dataclass(frozen=True)
class Outcome:
    """A scenario that has been played."""

    scenario: Scenario
    title: str
    steps: tuple[Step, ...]
    file_kb: int

    def record(self) -> dict[str, Any]:
        """As in the JSON document; KB are 2^10 bytes, as in the example's own arithmetic."""
        delete = next(step for step in self.steps if step.title.startswith("Delete"))
        write = next(step for step in self.steps if step.title.startswith(LAST_FILE))
        return {
            "title": self.title,
            "seconds": write.seconds,
            "kb_per_s": round(self.file_kb / write.seconds, 4) if write.seconds else None,
            "full_percent_after_delete": delete.full_percent,
            "steps": [asdict(step) for step in self.steps],
        }


def play(scenario: Scenario, overrides: Overrides = (), seed: int = 1) -> Outcome:
    """Plays a scenario on a new drive."""
    model = models.load(MODEL_NAME, [*scenario.overrides, *overrides])
    stage = _Stage(EngineTarget(model, seed))
    delete: list[Command] = [(TRIM, 0, 1)] if scenario.trims else []
    told = "and the drive is told" if scenario.trims else "of which the drive learns nothing"
    host: tuple[tuple[str, list[Command]], ...] = (
        ("New drive", []),
        ("Write a text file of 4 KB", [(WRITE, 0, 1)]),
        ("Write a picture of 8 KB", [(WRITE, 1, 2)]),
        (f"Delete the text file, {told}", delete),
        (LAST_FILE, [(WRITE, 0, 1), (WRITE, 3, 2)]),
    )
    steps: list[Step] = []
    for title, commands in host:
        steps.append(stage.step(title, commands))
        steps.extend(stage.pause())
    return Outcome(scenario, _title(scenario, model), tuple(steps), 12)


class _Stage:
    def __init__(self, target: EngineTarget) -> None:
        self._target = target

    def step(self, title: str, commands: Sequence[Command]) -> Step:
        """Hands over all commands at the same instant, then a flush; waits for its end."""
        target, start_ns = self._target, self._target.now_ns
        if commands:
            self._run(commands)
            self._run([(FLUSH, 0, 0)])
        return self._step(title, (target.now_ns - start_ns) / NS_PER_S)

    def pause(self) -> list[Step]:
        """Lets the drive stand idle; a step if it used the time to clean."""
        erases = self._erases()
        self._target.idle(PAUSE_NS)
        if self._erases() == erases:
            return []
        return [
            self._step("Idle: the drive reads its block, erases it and writes the rest back", 0.0)
        ]

    def _erases(self) -> float:
        return float(self._target.counters()["erases_cleaning"])

    def _step(self, title: str, seconds: float) -> Step:
        target = self._target
        logical_pages = target.capacity_bytes // (PAGE_SECTORS * SECTOR_BYTES)
        full_percent = 100 * target.counters()["valid_units"] / logical_pages
        return Step(title, seconds, full_percent, target.page_states())

    def _run(self, commands: Sequence[Command]) -> None:
        rows = [(op, page * PAGE_SECTORS, count * PAGE_SECTORS) for op, page, count in commands]
        job = Job(name="host", source=Recorded(pacing="closed"), queue_depth=len(rows))
        self._target.run_requests(job, Requests.of(rows), TaskProgress("host"))
