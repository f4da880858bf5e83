"""The socket of a watched drive: whatever a page sends, the server goes on, and stays small."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from web import laboratory, wire
from web.conftest import Server
from websockets.sync.client import ClientConnection, connect

from drivelab.errors import RequestError
from drivelab.web import watch

START = {"start": {"model": "intel-x25-m-g2-80gb", "divisor": 64}}
HOSTILE = [
    "",
    "null",
    "[]",
    "{",
    '{"start": 1}',
    '{"start": {"model": "../../etc/passwd"}}',
    '{"start": {"model": "intel-x25-m-g1-80gb", "divisor": 1e400}}',
    '{"start": {"model": "intel-x25-m-g1-80gb", "members": ["x"]}}',
    '{"do": "block", "member": 99999999999999999999, "die": {}, "block": null}',
    '{"do": "speed", "speed": NaN}',
    '{"do": ["pause"]}',
    '{"do": {"a": "b"}, "want": 1}',
    "[" * 60_000,
    '{"do": "<script>"}',
]


@pytest.fixture
def line(server: Server) -> Iterator[ClientConnection]:
    with opened(server) as found:
        yield found


def opened(server: Server, key: str = "aaaaaaaaaaaa") -> ClientConnection:
    return connect(
        f"ws://127.0.0.1:{server.port}/socket/watch/{key}",
        origin=f"http://127.0.0.1:{server.port}",  # type: ignore[arg-type]
        subprotocols=["drivelab", f"token.{server.token}"],  # type: ignore[list-item]
        max_size=None,
        open_timeout=wire.WAIT_S,
    )


def heard(line: ClientConnection, key: str) -> object:
    while True:
        message = line.recv(timeout=wire.WAIT_S)
        if isinstance(message, str) and key in json.loads(message):
            return json.loads(message)[key]


def test_hostile_messages_change_nothing(server: Server, line: ClientConnection) -> None:
    line.send(json.dumps(START))
    heard(line, "layout")
    for text in HOSTILE:
        line.send(text)
    line.send(b"\x00\xff" * 100)
    line.send(json.dumps({"do": "pause"}))
    assert heard(line, "did") == "pause"
    line.send(json.dumps({"want": "all"}))
    while not isinstance(line.recv(timeout=wire.WAIT_S), bytes):
        pass
    assert wire.ask(server, "/api/watch/models").status == 200


def test_a_viewer_who_never_reads_costs_no_memory(server: Server) -> None:
    with opened(server, "bbbbbbbbbbbb") as deaf:
        deaf.send(json.dumps(START))
        heard(deaf, "layout")
        before = settled_bytes(server)
        # Of 16 KB each: 50 MB.
        for _ in range(3000):
            deaf.send(json.dumps({"want": "all"}))
        time.sleep(1)
        assert resident_bytes(server) < before + 8 * 2**20
        assert wire.ask(server, "/api/views").status == 200


def test_a_third_drive_takes_the_place_of_none_that_is_watched(server: Server) -> None:
    with opened(server, "cccccccccccc") as one, opened(server, "dddddddddddd") as two:
        for line in (one, two):
            line.send(json.dumps(START))
            heard(line, "layout")
        with opened(server, "eeeeeeeeeeee") as three:
            three.send(json.dumps(START))
            assert "2 drives are being watched" in str(heard(three, "full"))
            # Whatever a page says then, it isn't told to start: it would do so for ever.
            three.send(json.dumps({"do": "speed", "speed": 1}))
            three.send(json.dumps({"want": True}))
            with pytest.raises(TimeoutError):
                three.recv(timeout=1)


class _Drive:
    """One that ends when it is let."""

    def __init__(self) -> None:
        self.closed = self.gone = self.started = False
        self.told: list[str] = []

    def start(self) -> None:
        self.started = True

    def attach(self, _: object) -> None:
        self.told.append("another page watches it")

    def detach(self) -> None:
        self.told.append("another drive takes its place")

    def is_seen_by(self, send: object) -> bool:
        return send is print

    def close(self) -> None:
        self.closed = True

    def join(self, _: float) -> bool:
        return self.gone


def test_a_drive_whose_page_has_gone_ends_though_nobody_asks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watch, "UNSEEN_S", 0.05)
    drives, drive = watch.Drives(), _Drive()

    async def left() -> None:
        drives.keep("a", drive)  # type: ignore[arg-type]
        # A page from which another one has taken it.
        drives.leave("a", repr)
        await asyncio.sleep(0.2)
        assert drives.find("a") is drive
        drives.leave("a", print)
        await asyncio.sleep(0.4)

    laboratory.done(left())
    assert drive.closed


def test_drives_that_have_not_ended_leave_no_room_for_more() -> None:
    drives, made = watch.Drives(), [_Drive() for _ in range(4)]
    for drive in made[:3]:
        drives.keep("a", drive)  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="still ending"):
        drives.keep("a", made[3])  # type: ignore[arg-type]
    made[0].gone = True
    drives.keep("a", made[3])  # type: ignore[arg-type]


class _Page:
    """A page's line, of which what goes there is kept."""

    def __init__(self) -> None:
        self.said: list[Any] = []
        self.has_frame = False

    def put(self, message: Any) -> None:
        self.said.append(message)


def test_a_start_that_is_refused_takes_no_drive_from_its_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drives, made, page = watch.Drives(), [_Drive() for _ in range(5)], _Page()
    for drive in made[:3]:
        drives.keep("a", drive)  # type: ignore[arg-type]
    asked = iter(made[3:])
    monkeypatch.setattr(watch, "_chosen", lambda *_: next(asked))

    async def start() -> None:
        await watch._start({}, "a", drives, page, {})  # type: ignore[arg-type]

    laboratory.done(start())
    assert "still ending" in page.said[0]["full"]
    assert drives.find("a") is made[2]
    assert (made[2].told, made[2].closed, made[3].started) == ([], False, False)
    made[0].gone = True
    laboratory.done(start())
    assert drives.find("a") is made[4]
    assert made[2].told == ["another drive takes its place"]
    assert (made[2].closed, made[4].started, len(page.said)) == (True, True, 1)


@pytest.mark.parametrize("path", ["/api/watch/models/..%2f..%2fx", "/api/watch/models/<x>"])
def test_models_that_are_none_are_refused(server: Server, path: str) -> None:
    assert wire.ask(server, path).status in (400, 404)


def settled_bytes(server: Server) -> int:
    """Once a drive that was begun takes no more memory by itself."""
    last = 0
    while (now := resident_bytes(server)) > last + 2**20:
        last = now
        time.sleep(1)
    return now


def resident_bytes(server: Server) -> int:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    (kilobytes,) = (row.split()[1] for row in status.splitlines() if row.startswith("VmRSS"))
    return 1024 * int(kilobytes)
