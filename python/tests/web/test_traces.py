"""Traces, as their readers use them, and as nobody should."""

from __future__ import annotations

import gzip
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, Route, expect
from web import wire
from web.conftest import Noted, Server, Standing, fits, held_back, let_go, serious, start
from web.test_compare import opened

from drivelab import cli, database

DRIVES = ("intel-x25-v-40gb", "jmicron-jmf602b-64gb")
ORDER = {"kind": "replay", "trace": "mail.csv", "models": list(DRIVES), "state": "new"}
PATIENCE_S = 300


def recorded(count: int = 400) -> str:
    """Requests as those of the MSR traces are written: 4 KiB at random over 1 GiB."""
    draw = np.random.default_rng(5)
    at = 128166372003061629 + np.cumsum(draw.integers(10_000, 200_000, size=count))
    places = draw.integers(2**18, size=count) * 4096
    ways = draw.choice(["Read", "Write"], size=count)
    rows = zip(at.tolist(), ways.tolist(), places.tolist(), strict=True)
    return "".join(f"{when},mail,0,{way},{place},4096,1000\n" for when, way, place in rows)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the traces of the fixture `server` lie."""
    found = tmp_path / "XDG_DATA_HOME" / "drivelab" / "traces"
    found.mkdir(parents=True)
    return found


def send(server: Server, name: str, body: bytes, **more: Any) -> wire.Answer:
    return wire.ask(server, f"/api/traces?name={name}", "POST", body, **more)


def queue(server: Server, order: Any) -> wire.Answer:
    return wire.ask(server, "/api/jobs", "POST", json.dumps(order).encode())


def done(server: Server, job: dict[str, Any]) -> dict[str, Any]:
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        [found] = [one for one in wire.ask(server, "/api/jobs").json if one["id"] == job["id"]]
        if found["state"] not in ("waiting", "running"):
            return dict(found)
        time.sleep(0.2)
    raise AssertionError("it is never done")


def test_a_reviewer_sends_a_trace_and_sees_which_drive_suits_it(
    server: Server, page: Page, tmp_path: Path
) -> None:
    file = tmp_path / "mail.csv"
    file.write_text(recorded())
    opened(page, server, "/traces")
    start_button = page.get_by_role("button", name="Replay on")
    expect(start_button).to_be_disabled()
    page.get_by_label("A trace of your own").set_input_files(file)
    expect(page.locator(".about")).to_contain_text("msr")
    expect(page.locator(".picked button")).to_have_text(["×"] * 4)
    while page.locator(".picked li").count():
        page.locator(".picked button").first.click()
    for name in DRIVES:
        page.get_by_label("Add a drive").select_option(name)
    page.get_by_label("State of the drives").select_option("new")
    start_button.click()
    # A page that is loaded anew meanwhile comes to the results as well.
    page.wait_for_url("**trace=mail.csv**")
    expect(page.locator(".jobs li")).to_be_visible()
    page.reload()
    expect(page.locator(".verdict")).to_contain_text("answers soonest")
    # The form is that of what is shown.
    expect(start_button).to_have_text(f"Replay on {len(DRIVES)} drives")
    expect(page.get_by_label("State of the drives")).to_have_value("new")
    page.reload()
    expect(start_button).to_have_text(f"Replay on {len(DRIVES)} drives")
    expect(page.get_by_label("State of the drives")).to_have_value("new")
    # A mean hides a drive that stutters.
    expect(page.locator(".verdict")).to_contain_text("99 % of its writes are answered within")
    expect(page.locator(".verdict")).to_contain_text("the longest took")
    expect(page.locator(".replays tbody tr")).to_have_count(2)
    # A new drive reads zeros without touching its flash: that is no speed of it.
    warning = page.locator(".warning").filter(has_text="never written")
    expect(warning).to_contain_text("such reads touch no flash")
    page.get_by_role("link", name="Compare them in detail").click()
    expect(page.get_by_role("heading", name="Findings")).to_be_visible()


def test_a_replay_of_a_page_is_the_commands(server: Server, folder: Path, tmp_path: Path) -> None:
    (folder / "mail.csv").write_text(recorded())
    job = done(server, queue(server, ORDER).json)
    assert job["state"] == "done", job["error"]
    [results] = tmp_path.rglob("results.duckdb")
    own = tmp_path / "own.duckdb"
    told = job["command_line"].split(" && ")
    assert told == [
        database.read(results, run, "FILE").document["drivelab"]["command_line"]
        for run in job["runs"]
    ]
    for name, run in zip(DRIVES, job["runs"], strict=True):
        kept = database.read(results, run, "FILE").document
        words = kept["drivelab"]["command_line"].split()[1:]
        words[words.index("traces/mail.csv")] = str(folder / "mail.csv")
        assert cli.run([*words, "--database", str(own), "--json"]) == 0
        command = database.read(own, database.runs(own, "FILE")[-1]["run_id"], "FILE").document
        assert kept["replay"] == command["replay"]
        assert kept["trace"] == command["trace"]
        assert kept["drivelab"].keys() <= command["drivelab"].keys() | {"idle_cap_ns"}
        assert kept["drivelab"]["model"] == name


def test_a_trace_may_be_compressed(server: Server) -> None:
    answer = send(server, "mail.csv.gz", gzip.compress(recorded(50).encode()))
    assert (answer.status, answer.json["requests"]) == (201, 50)
    assert answer.json["file"] == "mail.csv.gz"


NAMES = (
    *("", ".", "..", "..%2Fx.csv", "a%2Fb.csv", "%2Fetc%2Fpasswd", "..%5Cx", ".hidden"),
    *("x%00.csv", "x" * 81, "%3Cscript%3E", "a%0Ab", "x.csv.part", "-x.csv"),
)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_a_file_of_the_folder_and_nothing_else(standing: Standing, name: str) -> None:
    def files() -> list[Path]:
        # Whoever asked first made the database.
        found = sorted(standing.folder.rglob("*"))
        return [path for path in found if path.suffix != ".duckdb"]

    before = files()
    assert send(standing.server, name, recorded(5).encode()).status == 400
    assert wire.ask(standing.server, f"/api/traces/about?name={name}").status == 400
    assert files() == before


def test_links_and_folders_are_no_traces(server: Server, folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text(recorded(5))
    (folder / "link.csv").symlink_to(secret)
    (folder / "inside").mkdir()
    assert wire.ask(server, "/api/traces").json["traces"] == []
    for name in ("link.csv", "inside"):
        assert wire.ask(server, f"/api/traces/about?name={name}").status == 400
        assert queue(server, ORDER | {"trace": name}).status == 400
    # A link where a file would go isn't followed either, and stays the reader's; so does a folder.
    for name in ("link.csv", "inside"):
        answer = send(server, name, recorded(6).encode())
        assert answer.status == 400
        assert "there is one of this name" in answer.json["error"]
    assert (folder / "link.csv").is_symlink()
    assert (folder / "inside").is_dir()
    assert secret.read_text() == recorded(5)


BODIES = (
    b"",
    b"hello\nworld\n",
    b"\x00" * 1000,
    b"\xff\xfe" * 100,
    b"<script>alert(1)</script>",
    b"1,2,3\n4,5\n",
    b"128166372003061629,mail,0,Write,-1,4096,1000\n",
    b"128166372003061629,mail,0,Write,99999999999999999999999,4096,1000\n",
    b"fio version 2 iolog\nx y z\n",
    gzip.compress(b"no trace"),
    gzip.compress(b"\x00" * 10_000_000),
    gzip.compress(recorded(50).encode())[:200],
    b"PK\x03\x04" + b"x" * 100,
)


@pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))
def test_what_is_no_trace_is_refused_and_not_kept(standing: Standing, body: bytes) -> None:
    answer = send(standing.server, "x.csv", body)
    assert answer.status == 400
    assert len(answer.json["error"]) <= 1000
    assert str(standing.traces) not in answer.json["error"]
    assert list(standing.traces.iterdir()) == []


def test_a_small_file_that_is_a_very_large_one_ends_nothing(standing: Standing) -> None:
    """Half a gigabyte of one line, in half a megabyte."""
    bomb = gzip.compress(b"1," * 2**28, 6)
    assert send(standing.server, "bomb.gz", bomb).status == 400
    assert list(standing.traces.iterdir()) == []
    assert wire.ask(standing.server, "/api/views").status == 200


def test_files_are_bounded_and_need_the_token(server: Server, folder: Path) -> None:
    head = f"POST /api/traces?name=x.csv HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
    with_token = head + f"X-Drivelab-Token: {server.token}\r\n"
    huge = f"{with_token}Content-Length: {64 * 2**20 + 1}\r\n\r\n"
    assert wire.send(server, huge.encode()).status == 413
    assert wire.send(server, f"{head}Content-Length: 5\r\n\r\nhello".encode()).status == 401
    piece = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    chunked = f"{with_token}Transfer-Encoding: chunked\r\n\r\n".encode() + piece * 65 + b"0\r\n\r\n"
    assert wire.send(server, chunked).status == 413
    evil = ("Origin: http://evil.example",)
    assert send(server, "x.csv", recorded(5).encode(), headers=evil).status == 403
    assert send(server, "x.csv", recorded(5).encode(), host="evil.example").status == 421
    # Where files don't go, as little as ever is taken.
    assert wire.ask(server, "/api/traces/about", "POST", b"x" * 70_000).status in (405, 413)
    assert list(folder.iterdir()) == []


def test_a_trace_takes_no_place_of_another_and_a_full_folder_takes_none(
    server: Server, folder: Path
) -> None:
    (folder / "mine.csv").write_text("mine")
    assert send(server, "mine.csv", recorded(5).encode()).status == 400
    assert (folder / "mine.csv").read_text() == "mine"
    with (folder / "large.csv").open("wb") as file:
        os.truncate(file.fileno(), 2**30)
    answer = send(server, "more.csv", recorded(5).encode())
    assert answer.status == 400
    assert "is full" in answer.json["error"]


WRONG: tuple[Any, ...] = (
    {"trace": "none.csv"},
    {"trace": "../mail.csv"},
    {"trace": "/etc/passwd"},
    {"models": []},
    {"models": ["intel-x25-v-40gb"] * 2},
    {"models": ["../../x"]},
    {"models": [*DRIVES] * 4},
    {"state": "no-such-state"},
    {"pacing": "sometimes"},
    {"queue_depth": 0},
    {"out_of_range": "ignore"},
    {"seed": -1},
    {"command": "rm"},
    {"kind": "replays"},
    {"kind": ["replay"]},
)


@pytest.mark.parametrize("wrong", WRONG, ids=range(len(WRONG)))
def test_an_order_that_can_not_be_says_why(standing: Standing, wrong: Any) -> None:
    (standing.traces / "mail.csv").write_text(recorded(5))
    answer = queue(standing.server, ORDER | wrong)
    (standing.traces / "mail.csv").unlink()
    assert answer.status == 400
    assert answer.json["error"]


RUNS = ("", "run=", "run=x", "run=-1", "run=1.5", "run=9999999999", "run=99", "run=%00")


@pytest.mark.parametrize("words", [*RUNS, "&".join(["run=1"] * 7), "run=\u00b2"])
def test_results_are_those_of_runs_that_are_there(standing: Standing, words: str) -> None:
    assert wire.ask(standing.server, f"/api/traces/results?{words}").status == 400


def test_a_review_is_no_replay(standing_lab: Server) -> None:
    assert "no replay" in wire.ask(standing_lab, "/api/traces/results?run=1").json["error"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_every_window_and_axe_finds_nothing_serious(
    server: Server, page: Page, folder: Path, scheme: str
) -> None:
    (folder / "mail.csv").write_text(recorded())
    runs = done(server, queue(server, ORDER).json)["runs"]
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    opened(page, server, f"/traces?trace=mail.csv&run={runs[0]}&run={runs[1]}")
    expect(page.locator(".verdict")).to_be_visible()
    assert serious(page) == []
    for width in (360, 2560):
        page.set_viewport_size({"width": width, "height": 900})
        fits(page, width)


def test_a_trace_that_is_not_there_is_named(standing: Standing, page: Page) -> None:
    opened(page, standing.server, "/traces?trace=mial.csv")
    told = 'trace "mial.csv": there is none of this name in'
    expect(page.locator("#view").get_by_role("alert")).to_contain_text(told)


def test_a_file_that_is_none_says_so_on_the_page(
    server: Server, page: Page, tmp_path: Path, noted: Noted
) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("Dear Sir or Madam\n")
    opened(page, server, "/traces")
    page.get_by_label("A trace of your own").set_input_files(file)
    expect(page.get_by_role("alert").filter(has_text="letter.txt")).to_contain_text("fits no known")
    noted.errors.clear()  # the browser notes the status 400


def test_the_server_may_be_started_again_under_the_page(
    server: Server, folder: Path, page: Page, noted: Noted
) -> None:
    (folder / "mail.csv").write_text(recorded(50))
    (folder / "other.csv").write_text(recorded(30))
    runs = done(server, queue(server, ORDER).json)["runs"]
    place = f"/traces?trace=mail.csv&run={runs[0]}&run={runs[1]}"
    opened(page, server, place)
    rows = page.locator(".replays tbody tr")
    expect(rows).to_have_count(2)
    server.stop()
    expect(page.locator("#notice")).to_contain_text("doesn't answer")
    # What was measured can be read meanwhile, and a click says why nothing comes of it.
    expect(rows).to_have_count(2)
    page.get_by_role("button", name="Replay on").click()
    alerts = page.locator("#view").get_by_role("alert")
    expect(alerts.filter(has_text="doesn't answer")).to_be_visible()
    again = start(folder.parents[2], port=server.port)
    try:
        # The new server has a new token, which the page hasn't got.
        expect(page.locator("#notice")).to_contain_text("open the address")
        page.evaluate("document.isOld = true")
        page.goto(again.at(place))
        page.wait_for_function("!document.isOld")
        expect(rows).to_have_count(2)
        expect(page.locator("#notice")).to_be_hidden()
        page.get_by_label("Trace", exact=True).select_option("other.csv")
        expect(page.locator(".verdict")).to_have_count(0)
        expect(page.locator(".picked li")).to_have_count(len(DRIVES))
        page.get_by_label("State of the drives").select_option("new")
        page.get_by_role("button", name="Replay on").click()
        expect(page.locator(".verdict")).to_be_visible()
    finally:
        noted.errors.clear()
        page.goto("about:blank")
        again.stop()


def test_what_is_chosen_while_a_trace_is_looked_at_stays(
    server: Server, folder: Path, page: Page
) -> None:
    """A large one is read for seconds: the page is in use meanwhile."""
    (folder / "mail.csv").write_text(recorded(50))
    (folder / "other.csv").write_text(recorded(30))
    held: list[Route] = []
    page.route("**/api/traces/about?name=mail.csv", lambda route: held.append(route))
    opened(page, server, "/traces?trace=mail.csv")
    held_back(page, held)
    picked = page.locator(".picked li")
    expect(picked).to_have_count(4)
    page.get_by_role("button", name="Without").first.click()
    page.get_by_label("State of the drives").select_option("new")
    page.get_by_label("Trace", exact=True).select_option("other.csv")
    expect(page.locator(".about")).to_contain_text("Format msr")
    expect(picked).to_have_count(3)
    expect(page.get_by_label("State of the drives")).to_have_value("new")
    about = page.locator(".about").inner_text()
    let_go(page, held, "**/api/traces/about?name=mail.csv")
    assert page.locator(".about").inner_text() == about


def test_results_stay_when_the_server_is_started_again(server: Server, folder: Path) -> None:
    (folder / "mail.csv").write_text(recorded(50))
    runs = done(server, queue(server, ORDER).json)["runs"]
    query = "&".join(f"run={run}" for run in runs)
    before = wire.ask(server, f"/api/traces/results?{query}").json
    server.stop()
    again = start(folder.parents[2])
    try:
        assert wire.ask(again, f"/api/traces/results?{query}").json == before
    finally:
        again.stop()
