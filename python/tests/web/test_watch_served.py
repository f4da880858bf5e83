"""Served drives under watch: what their control sockets say, and that nobody but the user of the
command line says which."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect
from served.drive import ServedDrive
from served.wire import FLUSH, WRITE, Connection
from web.conftest import Server, serious, start

from drivelab import _engine, cli
from drivelab.errors import RequestError, WorkError
from drivelab.served.control import ControlLink, ask, place_of
from drivelab.web import watch_served
from drivelab.web.watch_frames import read_frame
from drivelab.web.watch_served import ServedFrames, ServedWatch

MODEL, SETS = "intel-x25-m-g2-80gb", ("scale_divisor=64",)
STANDING = {"paused": False, "speed": None, "workload": "", "achieved": 0.0, "is_on": True}
WAIT_S = 60.0
SLC_DRAWN = """() => {
    const map = document.querySelector("canvas.map");
    const copy = new OffscreenCanvas(map.width, map.height);
    const context = copy.getContext("2d", { willReadFrequently: true });
    context.drawImage(map, 0, 0);
    const { data } = context.getImageData(0, 0, map.width, map.height);
    for (let i = 0; i < data.length; i += 4)
        if (data[i] === 0xd5 && data[i + 1] === 0x5e && data[i + 2] === 0) return true;
    return false;
}"""
"""Whether something of the picture has the colour of one bit a cell."""


def write(served: ServedDrive, pages: int) -> None:
    """A client writes pages of 16 KiB, one after the other, and flushes."""
    client = Connection(served.socket)
    for page in range(pages):
        client.done(WRITE, page * 16384, 16384, b"x" * 16384)
    client.done(FLUSH, 0, 0)
    client.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ServedDrive]:
    drive = ServedDrive(tmp_path, MODEL, SETS, "instant")
    yield drive
    drive.discard()


def test_frames_are_what_the_drive_has_done(served: ServedDrive) -> None:
    with ControlLink(place_of(served.image)) as link:
        frames = ServedFrames(link)
        layout = frames.layout()
        assert layout["block_count"] == layout["blocks_per_die"] * len(layout["die"]) > 1000
        text, columns = read_frame(frames.frame(STANDING))
        assert (text["whole"], text["count"]) == (True, layout["block_count"])
        assert columns["written"].sum() == 0
        write(served, 512)
        text, columns = read_frame(frames.frame(STANDING))
        assert not text["whole"]
        assert 0 < text["count"] < layout["block_count"]
        assert columns["written"].sum() > 0
        assert text["host_write_bytes"] == 512 * 16384
        assert text["latency"]["ios"] == 512
        assert sum(text["latency"]["parts_us"]) == pytest.approx(text["latency"]["mean_us"])
        assert text["latency"]["p99_us"] >= text["latency"]["mean_us"] / 2
        text, _ = read_frame(frames.frame(STANDING))
        assert (text["count"], text["latency"]["ios"]) == (0, 0)


def test_a_layout_says_which_drive_it_is_and_whether_it_has_a_cache(
    served: ServedDrive, tmp_path: Path
) -> None:
    (tmp_path / "cached").mkdir()
    cached = ServedDrive(tmp_path / "cached", "adata-atom-50-1tb", SETS, "instant")
    try:
        for drive, title, has_cache in (
            (served, "Intel X25-M G2 80 GB (1/64)", False),
            (cached, "ADATA XPG Atom 50 1 TB (1/64)", True),
        ):
            with ControlLink(place_of(drive.image)) as link:
                frames = ServedFrames(link)
                assert (frames.about["title"], frames.layout()["cache"]) == (title, has_cache)
    finally:
        cached.discard()


@pytest.mark.parametrize(
    ("sets", "unit_bytes"),
    [
        (("scale_divisor=64",), 16384),
        (("scale_divisor=64", "ftl.map_unit_bytes=32768"), None),
        (("scale_divisor=64", "ftl.map_unit_bytes=16384"), 16384),
    ],
)
def test_how_a_drive_stores_data_is_said_only_where_it_is_known(
    tmp_path: Path, sets: tuple[str, ...], unit_bytes: int | None
) -> None:
    drive = ServedDrive(tmp_path, "ocz-vertex-120gb", sets, "instant")
    try:
        with ControlLink(place_of(drive.image)) as link:
            frames = ServedFrames(link)
            assert frames.layout()["unit_bytes"] == unit_bytes
            frames.frame(STANDING, has_span=True)
            client = Connection(drive.socket)
            for place in range(64):
                client.done(WRITE, place * 262144, 4096, b"x" * 4096)
            client.done(FLUSH, 0, 0)
            client.close()
            text, _ = read_frame(frames.frame(STANDING, has_span=True))
            causes = text["span"]["causes"]
            assert ("completing" in causes, "pages" in causes) == (bool(unit_bytes), not unit_bytes)
    finally:
        drive.discard()


def test_looks_change_nothing_and_viewers_do_not_disturb_each_other(served: ServedDrive) -> None:
    place = place_of(served.image)
    write(served, 4)
    before = ask(place, {"command": "smart"})
    counts = []
    for viewer in (1, 2, 1, 2, 3, 4, 5, 1):
        with ControlLink(place) as link:
            counts.append(link.ask({"command": "look", "viewer": viewer})["whole"])
    # Four are remembered: the fifth has put the first out.
    assert counts == [True, True, False, False, True, True, True, True]
    assert ask(place, {"command": "smart"}) == before
    for wrong in ({"command": "look"}, {"command": "look", "viewer": "../x"}):
        with pytest.raises(RequestError, match="viewer: missing"):
            ask(place, wrong)
    with pytest.raises(RequestError, match="no such block"):
        ask(place, {"command": "block", "member": 0, "die": 0, "block": 1 << 40})
    states = ask(place, {"command": "block", "member": 0, "die": 0, "block": 0})["states"]
    assert set(states) <= {0, 1, 2}


def test_a_viewer_may_only_look(served: ServedDrive) -> None:
    said: list[Any] = []
    came = threading.Event()

    def take(message: dict[str, Any] | bytes) -> None:
        said.append(message if isinstance(message, bytes) else json.loads(json.dumps(message)))
        came.set()

    watch = ServedWatch("my.drive", place_of(served.image), take)
    watch.start()
    for kind in ("erase", "trim", "cut", "pause", "workload", "step"):
        with pytest.raises(RequestError, match="only looked at"):
            watch.obey({"do": kind})
    watch.want()
    while not any(isinstance(message, bytes) for message in said):
        assert came.wait(WAIT_S)
        came.clear()
    came.clear()
    served.stop()
    watch.want()
    assert came.wait(WAIT_S)
    assert "my.drive" in said[-1]["failed"]
    assert watch.join(WAIT_S)


def test_only_what_the_command_line_named_is_found(tmp_path: Path) -> None:
    one, other = tmp_path / "a" / "my.drive", tmp_path / "b" / "my.drive"
    known = watch_served.by_name([one, other, tmp_path / "third.drive"])
    assert list(known) == [str(one), str(other), "third.drive"]
    for name in (
        "../my.drive",
        "my.drive",
        "/etc/passwd",
        "third.drive\0",
        None,
        1,
        ["third.drive"],
    ):
        with pytest.raises(RequestError, match="allowed"):
            watch_served.named(known, name)
    assert watch_served.named(known, "third.drive").name == "third.drive.control"
    with pytest.raises((WorkError, Exception), match=r"third\.drive"):
        ControlLink(watch_served.named(known, "third.drive"))


def test_a_served_drive_is_drawn_while_clients_write(
    served: ServedDrive, tmp_path: Path, page: Page
) -> None:
    server: Server = start(tmp_path, more=("--served", str(served.image)))
    try:
        page.goto(server.at("/watch?served=my.drive"))
        about = page.locator(".watch-head .about")
        expect(about).to_contain_text("my.drive, as it is served: only looked at")
        expect(page.locator(".watch-controls")).to_be_hidden()
        write(served, 2048)
        expect(page.locator(".dial").first).to_contain_text(re.compile(r"host\s*\d"))
        picture = page.locator("canvas.map")
        picture.focus()
        page.keyboard.press("Home")
        for _ in range(8):  # the first blocks are the log's of the map
            if re.search(r"\b[1-9]\d* % valid", page.locator(".told").inner_text()):
                break
            page.keyboard.press("ArrowRight")
        expect(page.locator(".told")).to_contain_text(re.compile(r"\b[1-9]\d* % valid"))
        page.keyboard.press("Enter")
        expect(page.locator(".pages i.valid").first).to_be_visible()
        assert serious(page) == []
        page.get_by_role("button", name="Another drive").click()
        expect(page.locator("select[name=model]")).to_have_value("served:my.drive")
        served.stop()
        expect(page.locator(".veil")).to_contain_text("my.drive")
    finally:
        # A page that is still there asks a server that has ended for another drive.
        page.goto("about:blank")
        server.stop()


CACHED, CACHED_SETS = (
    "intel-660p-1tb",
    (
        "flash.channel_count=2",
        "flash.dies_per_channel=1",
        "flash.pages_per_block=64",
        "flash.blocks_per_plane=100",
        "user_capacity_bytes=399998976",
        f"slc_cache.max_bytes={96 << 20}",
        f"slc_cache.static_bytes={16 << 20}",
    ),
)


def test_blocks_of_a_served_drive_are_shown_by_the_bits_of_their_cells(
    tmp_path: Path, page: Page
) -> None:
    drive = ServedDrive(tmp_path, CACHED, CACHED_SETS, "instant")
    server: Server = start(tmp_path, more=("--served", str(drive.image)))
    try:
        with ControlLink(place_of(drive.image)) as link:
            frames = ServedFrames(link)
            assert frames.layout()["cache"]
            write(drive, 256)
            text, columns = read_frame(frames.frame(STANDING))
            by_mode = dict(zip(*np.unique(columns["mode"], return_counts=True), strict=True))
            slc = _engine.cell_modes().index("slc")
            assert 0 < by_mode[slc] < text["count"], by_mode
        page.emulate_media(color_scheme="light")
        page.goto(server.at("/watch?served=my.drive"))
        page.get_by_role("button", name="Cells", exact=True).click()
        expect(page.locator(".legend")).to_contain_text("one bit a cell")
        page.wait_for_function(SLC_DRAWN)
    finally:
        page.goto("about:blank")
        server.stop()
        drive.discard()


def test_a_drive_without_a_cache_has_no_such_view(
    served: ServedDrive, tmp_path: Path, page: Page
) -> None:
    server: Server = start(tmp_path, more=("--served", str(served.image)))
    try:
        page.goto(server.at("/watch?served=my.drive"))
        expect(page.get_by_role("button", name="Roles", exact=True)).to_be_visible()
        expect(page.get_by_role("button", name="Cells", exact=True)).to_be_hidden()
    finally:
        page.goto("about:blank")
        server.stop()


def test_an_address_of_a_drive_that_nobody_named_is_refused(server: Server, page: Page) -> None:
    page.goto(server.at("/watch?served=/tmp/other.drive"))
    expect(page.locator(".watch-news")).to_contain_text("served = '/tmp/other.drive': allowed")


def test_a_served_drive_that_is_not_there_is_refused_at_the_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing, results = tmp_path / "missing.drive", tmp_path / "results.duckdb"
    assert cli.run(["web", str(results), "--served", str(missing)]) == 2
    assert f'--served "{missing}": no such file; allowed:' in capsys.readouterr().err
    assert not results.exists()
