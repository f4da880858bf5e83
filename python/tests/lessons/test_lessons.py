"""Lessons say what the engine did, and their last word is its own."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from drivelab import _engine, cli, example, lessons
from drivelab import model as models
from drivelab.errors import RequestError, WorkError
from drivelab.lessons import compression_torture, disk_arm, power_cut
from drivelab.lessons.drives import small
from drivelab.lessons.kept_stage import KeptStage
from drivelab.lessons.lesson import Step
from drivelab.lessons.pieces_stage import PartedPage, Piece


@pytest.fixture(params=lessons.NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


ON_FLASH = [name for name in lessons.NAMES if lessons.find(name).medium == "flash"]


def steps_of(name: str) -> dict[str, list[Step]]:
    return lessons.find(name).play().variants


def test_the_worked_example_takes_the_seconds_of_the_command() -> None:
    played = steps_of("five-pages")
    for scenario in example.SCENARIOS:
        own = {}
        for step in played[scenario.name]:
            if step.kind == "program":
                own[step.title] = step.command_s
        outcome = example.play(scenario)
        told = {step.title: step.seconds for step in outcome.steps if step.title in own}
        assert {title: own[title] for title in told} == told
    assert max(step.command_s for step in played["full"]) == 26.0


def test_the_worked_example_shows_what_its_text_skips() -> None:
    last = [step for step in steps_of("five-pages")["full"] if step.title == example.LAST_FILE]
    kinds = [step.kind for step in last if step.kind not in ("host", "look")]
    assert kinds == ["read"] * 3 + ["erase"] + ["program"] * 5
    assert [step.seconds for step in last if step.kind == "read"] == [2.0] * 3
    erased = next(step for step in last if step.kind == "erase")
    assert {page.state for block in erased.blocks for page in block.pages} == {"erased"}
    assert erased.cache == ("text", "picture 1", "picture 2")


@pytest.mark.parametrize("name", ON_FLASH)
def test_every_step_is_an_operation_that_flash_can_do(name: str) -> None:
    for steps in steps_of(name).values():
        for before, after in itertools.pairwise(steps):
            if after.kind not in ("program", "erase", "read"):
                continue
            changed = Counter(
                (old.state, new.state)
                for one, then in zip(before.blocks, after.blocks, strict=True)
                # A block that is opened with one bit a cell has fewer pages.
                for old, new in zip(one.pages, then.pages, strict=one.mode == then.mode)
                if old.state != new.state
            )
            if after.kind == "read":
                assert not changed
            elif after.kind == "program":
                block = after.blocks[after.touched[0][0]]
                pages = 3 if name == "slc-cache" and block.mode == "native" else 1
                assert changed.pop(("erased", "valid")) == pages, "a page or word line of a block"
                assert after.programmed_pages - before.programmed_pages == pages
                assert set(changed) <= {("valid", "invalid")}
            else:
                [number] = [block for block, _ in after.touched]
                assert {page.state for page in after.blocks[number].pages} == {"erased"}
                assert after.blocks[number].erase_count == before.blocks[number].erase_count + 1


@pytest.mark.parametrize("name", ON_FLASH)
def test_no_logical_page_is_lost(name: str) -> None:
    for steps in steps_of(name).values():
        known: set[int] = set()
        for step in steps:
            valid = [
                page.lpn
                for block in step.blocks
                for page in block.pages
                if page.state == "valid" and page.lpn is not None
            ]
            assert len(valid) == len(set(valid)), "two valid copies"
            if step.kind in ("program", "read"):
                known |= set(valid)
        last = {page.lpn for block in steps[-1].blocks for page in block.pages}
        assert known <= last | {None}


def test_predictions_have_an_answer_among_different_choices(name: str) -> None:
    record = lessons.record(name)
    assert record["predictions"], "each lesson ends with something to predict"
    for prediction in record["predictions"]:
        assert len(set(prediction["choices"])) == len(prediction["choices"])
        assert 0 <= prediction["answer"] < len(prediction["choices"])
        for knob in record["knobs"]:
            assert prediction["look"][knob["name"]] in dict(knob["choices"])


def test_the_formula_of_write_amplification_is_near_the_count() -> None:
    for steps in steps_of("write-amplification").values():
        formula, counted = re.findall(r"= (\d\.\d+)\. Counted: (\d\.\d+)", steps[-1].say)[0]
        assert float(formula) == pytest.approx(float(counted), rel=0.05)


def test_a_lesson_is_a_file_that_needs_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "example.html"
    assert cli.run(["example", "--html", str(file)]) == 0
    text = file.read_text()
    assert "import " not in re.sub(r'<script type="application/json".*?</script>', "", text)
    assert not re.search(r'(src|href)="', text)
    record = re.search(r'id="record">(.*?)</script>', text)
    assert record is not None
    assert json.loads(record[1])["name"] == "five-pages"
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("more", [["--json"], ["--set", "flash.read_ns=1"], ["--seed", "2"]])
def test_the_file_is_of_the_example_as_it_is(
    tmp_path: Path, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "example.html"
    assert cli.run(["example", "--html", str(file), *more]) == 2
    assert "--html" in capsys.readouterr().err
    assert not file.exists()


def test_an_unknown_lesson_is_named() -> None:
    with pytest.raises(RequestError, match='lesson "trimm" is unknown; did you mean "trim"'):
        lessons.find("trimm")


def seek_s(tracks: int) -> float:
    """a + b sqrt(d) + c d over eight tracks: half a second to the next one, 2 s over all of them,
    1.2 s in the mean of all pairs (docs/hard-disks.md)."""
    ways = np.arange(1, 8)
    share = 2 * (8 - ways) / (8 * 7)
    terms = np.stack([np.ones(7), np.sqrt(ways), ways], axis=1)
    a, b, c = np.linalg.solve(np.stack([terms[0], terms[-1], share @ terms]), [0.5, 2.0, 1.2])
    return float(a + b * tracks**0.5 + c * tracks) if tracks else 0.0


def test_a_disk_reads_every_place_once_as_its_arm_and_platter_can() -> None:
    for key, steps in steps_of("disk-arm").items():
        order, depth = key.split(",")
        reads = [step for step in steps if step.kind == "read"]
        places = [step.touched[0][0] * 8 + step.touched[0][1] for step in reads]
        assert sorted(places) == sorted(disk_arm.READS)
        if order == "first-come" or depth == "1":
            assert places == list(disk_arm.READS)
        ends_s = [0.0, *(step.command_s for step in reads)]
        before = 0
        for place, (before_s, end_s) in zip(places, itertools.pairwise(ends_s), strict=True):
            track, spot = divmod(place, 8)
            # A place ends under the head at its own angle; each track is turned against the one
            # before by the half second that the arm takes between them.
            assert (end_s - (spot + 1) / 8 - track / 2) % 1 == pytest.approx(0, abs=1e-6)
            way_s = end_s - before_s - 1 / 8 - seek_s(abs(track - before))
            assert -1e-6 < way_s < 1, "less than a turn of waiting"
            before = track
    last = {key: steps[-1].command_s for key, steps in steps_of("disk-arm").items()}
    assert last["shortest-positioning,8"] < last["first-come,8"] / 2
    assert last["shortest-positioning,1"] == last["first-come,1"] == last["first-come,8"]


def versions_read(steps: list[Step]) -> list[str]:
    """What the host reads at the end of the lesson on power cuts."""
    [said] = [step.say for step in steps if step.title == power_cut.LEFT]
    return re.findall("“(.+?)”", said)


def test_what_was_promised_is_there_after_a_power_cut() -> None:
    for key, steps in steps_of("power-cut").items():
        host, memory, when = key.split(",")
        found = versions_read(steps)
        told = " ".join(step.say for step in steps)
        if host == "flush" and "answers: the flush is done. After" in told:
            assert found == ["A2", "B2", "C2"]
        if memory == "capacitor" and host != "fua":
            assert found == ["A2", "B2", "C2"], "all was acknowledged, and kept by the capacitor"
        if (host, memory, when) == ("on", "plain", "6"):
            assert found == ["A2", "B1", "C1"], "one was programmed, one torn, one only in memory"
            assert "The user was told “saved”" in told
        if (host, memory, when) == ("fua", "plain", "6"):
            assert "Acknowledged, but not promised" not in told
        assert {version[0] for version in found} == set("ABC")
        assert {version[1] for version in found} <= set("12"), (
            "old or new, and never something else"
        )


def test_a_refused_command_is_refused_in_words() -> None:
    drive = _engine.KeptDrive(models.load(example.MODEL_NAME, small(12)).engine, 1)
    with pytest.raises(_engine.WorkloadError, match=r"^sectors \d+\.\.\d+ leave the drive"):
        drive.submit(1, 0, 1 << 40, 8, 0, False)
    drive.submit(1, 0, 0, 8, 0, False)


def test_a_drive_that_never_answers_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent:
        """A drive to which nothing happens."""

        now_ns = 0

        def __init__(self, *_: object) -> None: ...
        def submit(self, *_: object) -> None: ...
        def next_event(self) -> None: ...
        def flash(self) -> str:
            return "[]"

        def page_states(self) -> str:
            return "[]"

    monkeypatch.setattr(_engine, "KeptDrive", Silent)
    with pytest.raises(WorkError, match="never answers"):
        KeptStage(example.MODEL_NAME, ()).read_back("Left", [0])


def test_recovery_reads_every_page_that_was_programmed_once() -> None:
    for steps in steps_of("power-cut").values():
        [cut] = [at for at, step in enumerate(steps) if step.kind == "cut"]
        states = {
            (block.number, at): page.state
            for block in steps[cut].blocks
            for at, page in enumerate(block.pages)
        }
        read = [step.touched[0] for step in steps[cut:] if step.kind == "read"]
        assert sorted(read) == sorted(p for p, state in states.items() if state != "erased")
        torn = [place for place, state in states.items() if state == "torn"]
        assert len(torn) <= 1, "one die programs a page at a time"


def test_compression_saves_pages_and_trim_erases_none() -> None:
    played = steps_of("compression-torture")
    for key, steps in played.items():
        data, trims = key.split(",")
        full = next(step for step in steps if step.title == compression_torture.FULL)
        assert full.programmed_pages == (11 if data == "text" else 22)
        trimmed = [step for step in steps if step.title == compression_torture.TRIMMED][-1]
        before = next(s for s in steps if s.title == compression_torture.TORTURED_TITLE)
        assert erased_pages(trimmed) == erased_pages(before), "what is trimmed isn't erased yet"
        held = [part for part in parts_of(trimmed) if part.trimmed]
        # 43 of 100 ranges that come without a rest: 9 of 22.
        assert len(held) == (9 if trims == "loses" else 0)
        assert len(held) == len(parts_of(trimmed)), "all of it was trimmed"


@pytest.mark.parametrize("data", ["text", "random"])
def test_no_piece_is_lost_or_doubled_while_a_compressing_drive_cleans(data: str) -> None:
    steps = steps_of("compression-torture")[f"{data},works"]
    for step in steps:
        labels = [part.label for part in parts_of(step)]
        assert len(labels) == len(set(labels))
        if step.title.startswith("Overwrite") or step.title == compression_torture.TORTURED_TITLE:
            assert sorted(map(int, labels)) == list(range(22))
        for block in step.blocks:
            for page in block.pages:
                assert isinstance(page, PartedPage)
                assert sum(part.parts for part in page.parts) <= 2


def parts_of(step: Step) -> list[Piece]:
    """Everything that lies on the pages of a compressing drive."""
    return [
        part
        for block in step.blocks
        for page in block.pages
        if isinstance(page, PartedPage)
        for part in page.parts
    ]


def erased_pages(step: Step) -> int:
    return sum(page.state == "erased" for block in step.blocks for page in block.pages)
