"""A drive under watch: its frames are what is inside of it, and commands do what they say."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from drivelab import Job
from drivelab.errors import RequestError
from drivelab.lab.inside import Inside
from drivelab.progress import TaskProgress
from drivelab.targets import EngineTarget
from drivelab.targets.going import EngineRun
from drivelab.web import watch_choice, watch_preparing, watch_session
from drivelab.web.watch_choice import Choice
from drivelab.web.watch_frames import Frames, read_frame
from drivelab.web.watch_session import Watched

SMALL = {"model": "intel-x25-m-g1-80gb", "divisor": 128}
WAIT_S = 120.0
"""For what a drive does in a moment, if the machine has nothing else to do."""


def prepared(**asked: object) -> EngineTarget:
    return watch_preparing.prepared(Choice.of(SMALL | asked), TaskProgress("test"))


def begun(target: EngineTarget, log: bool = False, **options: Any) -> EngineRun:
    job = Job(time_based=True, runtime="10000s", norandommap=True, **options)
    part = job.on_drive(target.capacity_bytes, 1, 0).job
    return EngineRun(target, [part], log=log, copy=False)


@pytest.mark.parametrize(
    ("model", "state"),
    [
        ("intel-x25-m-g1-80gb", "new"),
        ("intel-x25-m-g1-80gb", "used"),
        ("jmicron-jmf602b-64gb", "new"),
        ("intel-x25-v-40gb-raid0-x2", "new"),
        ("intel-x25-v-40gb-raid0-x2", "used"),
    ],
)
def test_frames_add_up_to_what_is_inside(model: str, state: str) -> None:
    target = prepared(model=model, state=state)
    run, frames = begun(target, rw="randwrite", bs="4k", iodepth=8), Frames(target)
    seen: dict[str, Any] = {}
    kinds, valid_counts = [], []
    for _ in range(12):
        run.advance(target.now_ns + 20_000_000, TaskProgress("test"))
        text, columns = read_frame(frames.frame(run, {}))
        kinds.append(text["whole"])
        if text["whole"]:
            seen = {name: column.copy() for name, column in columns.items()}
        else:
            index, valid_index = columns.pop("index"), columns.pop("valid_index")
            valid_counts.append(valid_index.size)
            seen["valid"][valid_index] = columns.pop("valid_share")
            for name, column in columns.items():
                seen[name][index] = column
    assert kinds[0], "a viewer begins with all blocks"
    assert not all(kinds), "and then gets changes"
    if state == "used":
        assert sum(valid_counts) > 100, "of what is overwritten the valid share, and nothing else"
    blocks = Inside.of(target.inside()).blocks
    raw = target.inside()[0]
    assert seen["erase_count"].tolist() == blocks["erase_count"].to_list()
    assert seen["role"].tolist() == raw["role"].tolist()
    assert np.where(seen["stream"] == 255, -1, seen["stream"].astype(int)).tolist() == (
        raw["stream"].tolist()
    )
    assert np.ceil(blocks["valid_share"].to_numpy() * 255 - 1e-9).tolist() == seen["valid"].tolist()
    ages = [
        (text["next"][member] - int(born)) % 2**32 if written else None
        for member, born, written in zip(
            raw["member"], seen["born"], raw["written_pages"], strict=True
        )
    ]
    assert ages == blocks["age_programs"].to_list()


def test_latencies_are_those_of_every_request() -> None:
    target = prepared(state="filled")
    run, frames = begun(target, log=True, rw="randrw", bs="4k", iodepth=16), Frames(target)
    for _ in range(3):
        run.advance(target.now_ns + 500_000_000, TaskProgress("test"))
        said, _ = read_frame(frames.frame(run, {}))
        log = run.take_log()
        latency_us = (log["completed_ns"] - log["issued_ns"]) / 1e3
        assert said["latency"]["ios"] == latency_us.size > 1000
        assert said["latency"]["mean_us"] == pytest.approx(latency_us.mean(), rel=1e-9)
        assert said["latency"]["p99_us"] == pytest.approx(np.percentile(latency_us, 99), rel=0.13)
        assert sum(said["latency"]["parts_us"]) == pytest.approx(said["latency"]["mean_us"])


def test_the_pages_of_a_block_are_those_of_the_whole_drive() -> None:
    from drivelab import _engine

    target = prepared(state="used")
    words = {"erased": 0, "valid": 1, "invalid": 2}
    blocks = target.page_states()
    per_die = len(blocks) // (1 + max(block["die"] for block in blocks))
    for place in range(0, len(blocks), 7):
        block = blocks[place]
        pages = _engine.block_pages(target.engine, 0, block["die"], place % per_die)
        assert pages["state"].tolist() == [words[page["state"]] for page in block["pages"]]
        assert pages["lpn"].tolist() == [
            -1 if page["lpn"] is None else page["lpn"] for page in block["pages"]
        ]
    with pytest.raises(_engine.WorkloadError, match="no such block"):
        _engine.block_pages(target.engine, 0, 0, per_die)
    with pytest.raises(_engine.WorkloadError, match="no such block"):
        _engine.block_pages(target.engine, 1, 0, 0)


class Viewer:
    """Somebody who watches, and keeps what comes."""

    def __init__(self, **asked: object) -> None:
        workload = str(asked.pop("workload", "random-writes"))
        self.said: list[dict[str, Any]] = []
        self.frames: list[dict[str, Any]] = []
        self._came = threading.Condition()
        self.drive = Watched(Choice.of(SMALL | asked), self._take, workload)
        self.drive.start()

    def _take(self, message: dict[str, Any] | bytes) -> None:
        with self._came:
            if isinstance(message, bytes):
                self.frames.append(read_frame(message)[0])
            else:
                self.said.append(json.loads(json.dumps(message)))
            self._came.notify_all()

    def until(self, found: Callable[[], object]) -> None:
        with self._came:
            assert self._came.wait_for(found, WAIT_S), (self.said[-3:], self.frames[-1:])

    def heard(self, key: str) -> dict[str, Any]:
        self.until(lambda: any(key in said for said in self.said))
        return next(said for said in reversed(self.said) if key in said)

    def frame(self) -> dict[str, Any]:
        """The next one that has numbers."""
        while "now_s" not in (found := self.any_frame()):
            pass
        return found

    def any_frame(self) -> dict[str, Any]:
        before = len(self.frames)
        self.drive.want()
        self.until(lambda: len(self.frames) > before)
        return self.frames[-1]

    def ask_until(self, found: Callable[[dict[str, Any]], object]) -> None:
        """Asks for frame after frame: one that comes too early is followed by none by itself."""
        end = time.monotonic() + WAIT_S
        while not found(self.frame()):
            assert time.monotonic() < end, self.frames[-1]
            time.sleep(0.01)

    def do(self, kind: str, **more: object) -> None:
        before = len(self.said)
        self.drive.obey({"do": kind, **more})
        self.until(lambda: any(said.get("did") == kind for said in self.said[before:]))


@pytest.fixture
def viewer(request: pytest.FixtureRequest) -> Iterator[Viewer]:
    found = Viewer(**getattr(request, "param", {}))
    found.heard("watching")
    yield found
    found.drive.close()
    assert found.drive.join(WAIT_S)


def test_a_frame_is_made_only_for_who_wants_one(viewer: Viewer) -> None:
    first = viewer.frame()
    for pause_s in (0.3, 3.0, 30.0):  # a busy machine leaves the drive less time
        asked = len(viewer.frames)
        time.sleep(pause_s)
        assert len(viewer.frames) == asked, "nobody asked for another one"
        before, last = viewer.frames[-1], viewer.frame()
        assert last["since_s"] == pytest.approx(last["now_s"] - before["now_s"])
        if last["now_s"] > first["now_s"] + 0.05:
            return
    pytest.fail("the drive didn't go on in between")


def test_numbers_come_less_often_than_blocks_and_leave_nothing_out(
    viewer: Viewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 0.05 <= watch_session.NUMBERS_S <= 0.5, "a few times a second"
    # So long that frames come in between on any machine, and numbers twice.
    every_s = 2.0
    monkeypatch.setattr(watch_session, "NUMBERS_S", every_s)
    begun_s, first = time.monotonic(), viewer.frame()
    start = next(index for index, frame in enumerate(viewer.frames) if frame is first)
    told = [first]
    while len(told) < 2 or time.monotonic() < begun_s + 1.25 * every_s:
        viewer.any_frame()
        told = [frame for frame in viewer.frames[start:] if "now_s" in frame]
    passed_s = time.monotonic() - begun_s
    assert len(told) <= 1 + passed_s / every_s
    assert len(told) < len(viewer.frames[start:]), "blocks are told more often"
    assert all("latency" not in frame for frame in viewer.frames if "now_s" not in frame)
    spent_s = sum(frame["since_s"] for frame in told[1:])
    assert spent_s == pytest.approx(told[-1]["now_s"] - first["now_s"])


def test_pause_and_step(viewer: Viewer) -> None:
    viewer.do("pause")
    stands = viewer.frame()["now_s"]
    time.sleep(0.1)
    assert viewer.frame()["now_s"] == stands
    viewer.do("step", seconds=0.005)
    viewer.ask_until(lambda frame: frame["now_s"] > stands)
    assert viewer.frame()["now_s"] == pytest.approx(stands + 0.005, abs=1e-9)
    viewer.do("play")
    viewer.ask_until(lambda frame: frame["now_s"] > stands + 0.006)


def test_speed_is_kept(viewer: Viewer) -> None:
    viewer.do("speed", speed=0.5)
    begun_at = time.perf_counter()
    begun_s = viewer.frame()["now_s"]
    for pause_s in (0.6, 2.0, 6.0, 20.0):
        time.sleep(pause_s)
        worked_s = viewer.frame()["now_s"] - begun_s
        # A machine that is busy lets the drive fall behind, never run ahead.
        passed_s = time.perf_counter() - begun_at
        assert worked_s < 0.5 * passed_s + 0.05
        if worked_s > 0.1:
            return
    pytest.fail(f"{worked_s} s of the drive in {passed_s} s")


@pytest.mark.parametrize("viewer", [{"model": "intel-x25-m-g2-80gb"}], indirect=True)
def test_trim_and_secure_erase(viewer: Viewer) -> None:
    viewer.do("pause")
    full = viewer.frame()
    viewer.do("trim", from_percent=0, to_percent=100)
    viewer.do("workload", name="idle")
    viewer.do("step", seconds=10)
    viewer.ask_until(lambda frame: frame["now_s"] >= full["now_s"] + 10)
    cleaned = viewer.frame()["free_blocks"]
    viewer.do("erase")
    assert viewer.frame()["free_blocks"] >= cleaned >= full["free_blocks"]
    assert viewer.frame()["free_blocks"] > full["free_blocks"]


def test_another_workload(viewer: Viewer) -> None:
    viewer.do("workload", name="random-reads")
    viewer.frame()
    viewer.ask_until(lambda frame: frame["host_read_bytes"] > 0)
    assert viewer.frame()["host_write_bytes"] == 0
    assert viewer.frame()["workload"] == "random-reads"


def test_a_click_opens_a_block(viewer: Viewer) -> None:
    viewer.drive.obey({"do": "block", "die": 1, "block": 3})
    block = viewer.heard("block")["block"]
    assert (block["die"], block["block"]) == (1, 3)
    assert len(block["states"]) == len(block["units"]) > 0
    viewer.drive.obey({"do": "block", "die": 1, "block": 3_000_000})
    assert "no such block" in viewer.heard("error")["error"]


def test_a_viewer_who_comes_anew_gets_all_blocks(viewer: Viewer) -> None:
    assert viewer.frame()["whole"]
    assert not viewer.frame()["whole"]
    viewer.drive.attach(viewer._take)
    assert viewer.frame()["whole"]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"do": "format"}, "do = 'format': allowed: play, pause"),
        ({"do": "play", "x": 1}, '"x" is unknown'),
        ({"do": "speed", "speed": 1e9}, "speed = '1000000000.0': allowed: 1e-06 to 1000"),
        ({"do": "speed", "speed": float("nan")}, "speed = 'nan'"),
        ({"do": "step", "seconds": "1"}, "seconds = '1'"),
        ({"do": "workload", "name": "../x"}, "workload = '../x'"),
        ({"do": "trim"}, "takes no TRIM"),
        ({"do": "block", "die": -1}, "die = -1"),
        ({"do": "cut"}, "keeps nothing that a recovery would read"),
        ({"do": "on"}, "keeps nothing that a recovery would read"),
    ],
)
def test_a_wrong_command_is_named_and_changes_nothing(
    viewer: Viewer, asked: dict[str, Any], told: str
) -> None:
    with pytest.raises(RequestError) as error:
        viewer.drive.obey(asked)
    assert told in str(error.value)
    viewer.frame()


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"model": "/etc/passwd"}, "model = '/etc/passwd': there is no such model (allowed"),
        (
            {"model": "ocz-vertex-12"},
            "model = 'ocz-vertex-12': there is no such model; did you mean",
        ),
        ({"model": "wd-velociraptor-300gb"}, "a hard disk has no blocks to look at"),
        ({"model": "hypothetical", "members": []}, '"members" is unknown'),
        ({**SMALL, "spare_percent": -1}, "spare_percent = '-1': allowed: 0.5 to 400"),
        ({**SMALL, "victims": "best"}, "victims = 'best': allowed: greedy"),
        ({"model": "jmicron-jmf602b-64gb", "victims": "greedy"}, "chooses none"),
        ({**SMALL, "fill_percent": 0}, "fill_percent = 0"),
        ({**SMALL, "divisor": 1.5}, "divisor = 1.5"),
        ({**SMALL, "power": "off"}, "power = 'off': allowed: steady, cuts, volatile, capacitor"),
        ({**SMALL, "state": "broken"}, "state = 'broken': allowed: new, filled, used, tortured"),
    ],
)
def test_a_wrong_choice_is_named(asked: dict[str, Any], told: str) -> None:
    with pytest.raises(RequestError) as error:
        Choice.of(asked)
    assert told in str(error.value)


def test_every_model_with_flash_can_be_chosen() -> None:
    for name in watch_choice.watchable():
        about = watch_choice.offered(name)
        assert about["model"] == name
        assert {state["name"] for state in about["states"]} == set(watch_choice.STATES)


def test_fullness_is_what_is_written() -> None:
    half = prepared(state="filled", fill_percent=50)
    share = half.counters()["host_write_bytes"] / half.capacity_bytes
    assert share == pytest.approx(0.5, abs=0.01)


def test_a_drive_with_several_queues_tells_what_waits_in_each() -> None:
    choice = Choice.of({"model": "samsung-pm9a3-960gb", "divisor": 64, "state": "new"})
    target = choice.drive.in_state("new").make_with(TaskProgress("new"))
    jobs = watch_choice.workload("queues", 100)
    parts = [job.on_drive(target.capacity_bytes, 1, at).job for at, job in enumerate(jobs)]
    run, frames = EngineRun(target, parts, log=False, copy=False), Frames(target)
    room = target.model.value("controller.queue_depth")
    assert (frames.layout()["queues"], frames.layout()["room"]) == (64, room)
    run.advance(target.now_ns + 50_000_000, TaskProgress("run"))
    text, _ = read_frame(frames.frame(run, {}))
    inside, waiting = text["queues"]["inside"], text["queues"]["waiting"]
    # Three writers with 256 commands each and a reader with one: what is outstanding is somewhere.
    assert inside + sum(waiting) == 3 * 256 + 1
    assert inside == room
    assert all(count > 0 for count in waiting[:3])
    assert waiting[3] <= 1
    assert waiting[4:] == [0] * len(waiting[4:])


def test_a_drive_with_one_line_has_no_queues_to_show() -> None:
    choice = Choice.of({"model": "intel-x25-v-40gb", "divisor": 64, "state": "new"})
    frames = Frames(choice.drive.in_state("new").make_with(TaskProgress("new")))
    text, _ = read_frame(frames.frame(None, {}))
    assert frames.layout()["queues"] == 1
    assert "queues" not in text
