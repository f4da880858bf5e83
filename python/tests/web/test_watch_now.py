"""What Watch says of a drive in words, against its counters and against what the dials show."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from web.conftest import Standing
from web.test_watch import button, opened

from drivelab import Job, counters
from drivelab.progress import TaskProgress
from drivelab.quantities import NS_PER_S
from drivelab.targets import EngineTarget
from drivelab.targets.going import FOR_EVER_NS, EngineRun
from drivelab.web import watch_choice, watch_preparing
from drivelab.web.watch_choice import Choice
from drivelab.web.watch_frames import Frames, read_frame

MIB = 2**20
KINDS = {
    "page map": "intel-x25-m-g2-80gb",
    "coarse page map": "ocz-vertex-120gb",
    "compressed map": "corsair-force-f100-100gb",
    "coarse compressed map": "corsair-force-gs-480gb",
    "superblock map": "jmicron-jmf602b-64gb",
    "log-block map": "ocz-summit-128gb",
    "SLC cache": "crucial-t500-2tb",
    "superblocks": "samsung-pm9a3-960gb",
    "array": "intel-x25-v-40gb-raid0-x2",
    "array that merges": "gskill-titan-128gb",
}
WORKLOADS = ("random-writes", "sequential-writes", "mixed", "random-reads", "idle")
LENGTHS_NS = (5_000_000, 50_000_000, 500_000_000)
"""One after the other; the first is less than many drives need for a write."""
WORDS = {
    "folding": "fold the cache",
    "map": "for the map",
    "parity": "for parity",
    "wear": "to even out wear",
}
NUMBER = r"([\d.]+(?:\s\d{3})*)"
SAID = f"the host wrote {NUMBER} MiB/s, the flash programmed {NUMBER} MiB/s, "

DRAWN = """async ([said, layout]) => {
  const { nowWords } = await import("/static/views/watch-now.js");
  const { Instruments } = await import("/static/views/watch-plots.js");
  const place = document.createElement("div");
  const instruments = new Instruments(place);
  instruments.show(said.span);
  const line = document.createElement("p");
  line.append(...nowWords(said.span, said, layout));
  return [line.textContent, ...[...place.querySelectorAll(".reading b")].map(e => e.textContent)];
}"""
SHOWN = """() => {
  const now = document.querySelector(".now").textContent;
  return [now, ...[...document.querySelectorAll(".dial .reading b")].map(e => e.textContent)];
}"""


@dataclass(frozen=True)
class Told:
    """What a page shows at one moment: the sentence, and the first of the dials."""

    sentence: str
    host: str
    flash: str
    amplification: str
    free: str
    busy: str

    @classmethod
    def of(cls, texts: list[str]) -> Told:
        return cls(*texts[:5], busy=texts[-1])

    @property
    def shares(self) -> float:
        """More and less for each byte of the host, added up."""
        more = re.findall(rf"{NUMBER} more\b", self.sentence)
        less = re.findall(rf"{NUMBER} less\b", self.sentence)
        return sum(map(number, more)) - sum(map(number, less))


def number(text: str) -> float:
    return float(re.sub(r"[\s,]", "", text))


def worked_s(target: EngineTarget) -> float:
    """How long a die has worked, on average."""
    return float(target.inside()[1]["worked_ns"].mean()) / NS_PER_S


def near(text: str, value: float) -> bool:
    """Whether this is the number, with the digits that it has."""
    return number(text) == pytest.approx(value, rel=0.006, abs=0.006)


def agrees(told: Told) -> bool:
    """The sentence says the numbers that the dials show; whether it is of writes."""
    said = re.search(SAID, told.sentence)
    if said is None:
        assert "wrote" not in told.sentence, told
        assert told.amplification == "–", told
        return False
    assert said.groups() == (told.host, told.flash), told
    ratio = number(told.amplification)
    if "about as much" in told.sentence:
        assert 0.975 <= ratio <= 1.025, told
        assert told.shares == 0
    else:
        assert f"{told.amplification} times as much" in told.sentence, told
        # What is too little for a word is left out, once or twice.
        assert told.shares == pytest.approx(ratio - 1, abs=0.06 * max(1, ratio)), told
    return True


def holds(told: Told, used: Mapping[str, Any], seconds: float, merges: bool) -> None:
    """The sentence is true of a drive that did this meanwhile; nothing of it goes by the page's."""
    about = (told, {key: value for key, value in used.items() if value})
    programs = {key: used.get(f"program_bytes_{key}", 0) for key in ("host", "cleaning", *WORDS)}
    host, flash = used["host_write_bytes"], sum(programs.values())
    if agrees(told):
        assert near(told.host, host / MIB / seconds), about
        assert near(told.flash, flash / MIB / seconds), about
        assert near(told.amplification, flash / host), about
        assert near(told.free, used["free_blocks"]), about
    else:
        assert host == 0, about
        assert ("only read" in told.sentence) == (used["host_read_bytes"] > 0), about
        rate = re.search(f"The flash programmed {NUMBER} MiB/s", told.sentence)
        assert (rate is not None) == (flash > 0), about
        assert rate is None or near(rate[1], flash / MIB / seconds), about
    worth_a_word = 0.03 * max(host, flash)
    for purpose, words in WORDS.items():
        assert programs[purpose] <= worth_a_word or words in told.sentence, (purpose, about)
        assert programs[purpose] or words not in told.sentence, (purpose, about)
        share = re.search(rf"{NUMBER} more[^;]*{words}", told.sentence)
        assert share is None or near(share[1], programs[purpose] / host), (purpose, about)
    moving = "superblocks anew" if merges else "move valid pages"
    assert programs["cleaning"] <= worth_a_word or moving in told.sentence, about
    assert not programs["cleaning"] or "nothing had to be" not in told.sentence, about


@pytest.mark.parametrize("state", ["new", "filled", "used"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_sentence_says_what_the_flash_did_and_what_the_dials_show(
    standing: Standing, page: Page, kind: str, state: str
) -> None:
    choice = Choice.of({"model": KINDS[kind], "divisor": 64, "state": state})
    target = watch_preparing.prepared(choice, TaskProgress("test"))
    frames = Frames(target)
    layout = frames.layout()
    merges = "merge" in kind or "block map" in kind
    page.goto(standing.server.at("/learn"))
    said: list[Told] = []
    for workload in WORKLOADS:
        parts = [
            job.on_drive(target.capacity_bytes, 1, place).job
            for place, job in enumerate(watch_choice.workload(workload, 100))
        ]
        run = EngineRun(target, parts, log=False, copy=False) if parts else None
        frames.begin_span(run)
        for length_ns in LENGTHS_NS:
            before, begun_ns, worked = target.counters(), target.now_ns, worked_s(target)
            if run is None:
                target.idle(length_ns)
            else:
                run.advance(target.now_ns + length_ns, TaskProgress("test"))
            standing_now = {"paused": False, "is_on": True, "workload": workload}
            text, _ = read_frame(frames.frame(run, standing_now, has_span=True))
            after = target.counters()
            told = Told.of(page.evaluate(DRAWN, [text, layout]))
            used = counters.spent(before, after) | {"free_blocks": after["free_blocks"]}
            seconds = (target.now_ns - begun_ns) / NS_PER_S
            holds(told, used, seconds, merges)
            busy = 100 * (worked_s(target) - worked) / seconds
            # What a die has reserved ahead moves a little: too much for the shorter times.
            is_long = length_ns == max(LENGTHS_NS)
            assert not is_long or number(told.busy) == pytest.approx(busy, abs=2), told
            said.append(told)
            asked = "nobody asked" in told.sentence
            assert not asked or workload == "idle", (workload, told)
        if run is not None:
            run.stop()
            run.advance(FOR_EVER_NS, TaskProgress("test"))
            frames.latencies.end(run)
    sentences = " ".join(told.sentence for told in said)
    if kind.startswith("coarse"):
        unit = layout["unit_bytes"] // 1024
        assert f"a write of 4 KiB changes only a part of a map unit of {unit} KiB" in sentences
    else:
        assert "changes only a part" not in sentences
    assert ("superblocks anew" in sentences) == merges


@pytest.mark.parametrize(
    "model",
    ["gskill-titan-128gb", "ocz-summit-128gb", "samsung-slc-64gb", "jmicron-jmf602b-64gb"],
)
def test_a_small_write_that_is_stored_later_has_no_size(
    standing: Standing, page: Page, model: str
) -> None:
    choice = Choice.of({"model": model, "divisor": 64, "state": "filled"})
    target = watch_preparing.prepared(choice, TaskProgress("test"))
    frames = Frames(target)
    layout = frames.layout()
    page.goto(standing.server.at("/learn"))
    small = Job(rw="randwrite", bs="512", size="100%", io_size="32k", norandommap=True)
    target.run([small.on_drive(target.capacity_bytes, 1, 0).job], TaskProgress("test"))
    standing_now = {"paused": False, "is_on": True, "workload": "idle"}
    sentences = []
    frames.begin_span(None)
    for _ in range(1000):
        target.idle(2_000_000)
        text, _columns = read_frame(frames.frame(None, standing_now, has_span=True))
        assert text["span"]["host_write_commands"] == 0
        if text["span"]["causes"]:
            sentences.append(Told.of(page.evaluate(DRAWN, [text, layout])).sentence)
    wrong = [said for said in sentences if re.search("NaN|Infinity|undefined", said)]
    assert wrong == []
    assert any("as a small write changes only a part" in said for said in sentences)


@pytest.mark.parametrize("kind", ["coarse page map", "superblock map", "SLC cache"])
def test_a_page_never_contradicts_itself(standing: Standing, page: Page, kind: str) -> None:
    opened(standing.server, page, f"/watch?model={KINDS[kind]}&divisor=64&state=filled")
    page.get_by_label("Speed").fill("30")  # a second of the drive takes one
    told = []
    for workload in ("random-writes", "sequential-writes"):
        page.get_by_label("Workload").select_option(workload)
        for _ in range(3):
            expect(page.locator(".now")).not_to_have_text(page.locator(".now").inner_text())
            told.append(agrees(Told.of(page.evaluate(SHOWN))))
    assert any(told), "of writes something was said"
    # What a step did is said of that step alone, and by both.
    button(page, "Pause").click()
    expect(page.locator(".now")).to_contain_text("stands still")
    page.get_by_label("Length of a step").select_option("0.1")
    button(page, "Step").click()
    expect(page.locator(".now")).to_contain_text("In its last 100 ms")
    agrees(Told.of(page.evaluate(SHOWN)))
