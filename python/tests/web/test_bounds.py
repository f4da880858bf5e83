"""However many connect, say nothing or read nothing: who has the token is served beside them."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
import time
from collections.abc import Iterator

import pytest
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send
from web import laboratory, wire
from web.conftest import Server
from web.hostile import surviving
from web.test_measuring import following
from websockets.exceptions import ConnectionClosed
from websockets.frames import Close

from drivelab.web.connections import WAITING_MAX
from drivelab.web.security import NO_ROOM, REQUESTS_MAX, SOCKETS_MAX, TRY_LATER, Guard


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with surviving(tmp_path_factory.mktemp("hostile")) as found:
        yield found


UPGRADE = b"Connection: Upgrade\r\nUpgrade: websocket\r\n"
HALVES = (
    b"",
    b"GET / HTTP/1.1\r\nX-A",
    b"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 9\r\n\r\n1234",
    b"POST /socket/jobs HTTP/1.1\r\nHost: {host}\r\n" + UPGRADE + b"Content-Length: 5\r\n\r\n",
    b"GET /socket/jobs HTTP/1.1\r\nHost: {host}\r\n" + UPGRADE + b"X: y\r\n" * 200 + b"\r\n",
)
"""What nobody needs a token for: nothing, a part of a head, a request, one whose body is cut, what
becomes no WebSocket."""
HALF_NAMES = ("nothing", "head", "whole", "body", "upgrade with a body", "long upgrade")


@pytest.mark.parametrize("said", HALVES, ids=HALF_NAMES)
def test_connections_that_say_nothing_take_no_room(server: Server, said: bytes) -> None:
    """The owner is served beside more of them than requests are answered at a time, and all are
    closed after some seconds."""
    with contextlib.ExitStack() as open_ones:
        lines = []
        for _ in range(WAITING_MAX + 20):
            line = socket.create_connection(("127.0.0.1", server.port), wire.WAIT_S)
            lines.append(open_ones.enter_context(line))
            line.sendall(said.replace(b"{host}", b"127.0.0.1:%d" % server.port))
            if len(lines) in (REQUESTS_MAX + 2, WAITING_MAX + 20):
                assert wire.ask(server, "/api/views").status == 200
        assert all(map(is_closed, lines)), "some were kept"
        assert wire.ask(server, "/api/views").status == 200


def test_connections_that_read_no_answers_are_closed(server: Server) -> None:
    """Requests in a row, whose answers are more than the system keeps."""
    text = b"GET /static/plot.js HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % server.port
    with contextlib.ExitStack() as open_ones:
        lines = []
        for _ in range(4):
            line = open_ones.enter_context(socket.socket())
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            line.connect(("127.0.0.1", server.port))
            line.sendall(text * 500)
            lines.append(line)
        for path in ("/", "/api/views"):
            assert wire.ask(server, path).status == 200
        end = time.monotonic() + wire.WAIT_S
        while connected_to(server.port):
            assert time.monotonic() < end, "some were kept"
            time.sleep(0.1)


def connected_to(port: int) -> int:
    """Connections that the server's side of the system has open."""
    words = ["ss", "-tnH", "state", "established", f"( sport = :{port} )"]
    return (
        len(subprocess.run(words, capture_output=True, text=True, check=True).stdout.split("\n"))
        - 1
    )


def is_closed(line: socket.socket) -> bool:
    """Waits until the server has closed a connection."""
    try:
        while line.recv(65536):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        pass
    return True


def test_a_body_has_to_come(server: Server) -> None:
    """Also from who has the token."""
    text = f"POST /api/jobs HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
    text += f"X-Drivelab-Token: {server.token}\r\nContent-Length: 9\r\n\r\n1234"
    found = wire.send(server, text.encode())
    assert found.status == 408
    assert found.json["error"] == "the body didn't come within 5 s"


def test_requests_at_a_time_are_bounded() -> None:
    """Those behind the token apart from those for files of the page."""

    async def asked() -> list[int]:
        statuses: list[int] = []
        go_on = asyncio.Event()

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await go_on.wait()
            await Response()(scope, receive, send)

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        guard = Guard(app, 8080, "t")
        headers = [(b"host", b"127.0.0.1:8080"), (b"x-drivelab-token", b"t")]
        scope = {"type": "http", "method": "GET", "path": "/api/views", "headers": headers}
        tasks = [asyncio.create_task(guard(scope, receive, send)) for _ in range(REQUESTS_MAX + 2)]
        async with asyncio.timeout(wire.WAIT_S):
            while len(statuses) < 2:
                await asyncio.sleep(0)
        assert statuses == [503, 503]
        tasks.append(asyncio.create_task(guard(scope | {"path": "/"}, receive, send)))
        go_on.set()
        await asyncio.gather(*tasks)
        await guard(scope, receive, send)
        return statuses[2:]

    assert laboratory.done(asked()) == [200] * (REQUESTS_MAX + 2)


def test_who_has_no_token_and_reads_no_answer_takes_no_room() -> None:
    """Whatever the others ask for: their answers wait in `send` until they are read."""

    async def asked() -> list[int]:
        statuses: list[int] = []
        never = asyncio.Event()

        async def unread(message: Message) -> None:
            await never.wait()

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        guard = Guard(Response(), 8080, "t")
        host = (b"host", b"127.0.0.1:8080")
        scope = {"type": "http", "method": "GET", "path": "/api/views", "headers": [host]}
        others = [
            asyncio.create_task(guard(scope | {"path": path}, receive, unread))
            for path in ("/", "/api/views")
            for _ in range(WAITING_MAX)
        ]
        await asyncio.sleep(0)
        await guard(scope | {"headers": [host, (b"x-drivelab-token", b"t")]}, receive, send)
        await guard(scope | {"path": "/"}, receive, send)
        for other in others:
            other.cancel()
        await asyncio.wait(others)
        return statuses

    assert laboratory.done(asked()) == [200, 200]


@pytest.mark.parametrize("waits_for", ["the answer", "the body"])
def test_who_waits_while_the_server_ends_is_told_and_nothing_fails(waits_for: str) -> None:
    """A server that ends cancels what isn't answered yet."""

    async def asked() -> list[int]:
        statuses: list[int] = []
        begun, never = asyncio.Event(), asyncio.Event()

        async def forever() -> None:
            begun.set()
            await never.wait()

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await forever()

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        async def receive() -> Message:
            if waits_for == "the body":
                await forever()
            return {"type": "http.request", "body": b"", "more_body": False}

        headers = [(b"host", b"127.0.0.1:8080"), (b"x-drivelab-token", b"t")]
        scope = {"type": "http", "method": "GET", "path": "/api/views", "headers": headers}
        task = asyncio.create_task(Guard(app, 8080, "t")(scope, receive, send))
        await begun.wait()
        task.cancel()
        await task
        return statuses

    assert laboratory.done(asked()) == [503]


def test_websockets_are_bounded_and_one_too_many_is_told_why(server: Server) -> None:
    with contextlib.ExitStack() as open_ones:
        for _ in range(SOCKETS_MAX):
            line = open_ones.enter_context(following(server))
            assert line.recv(timeout=wire.WAIT_S) == "[]"
        with following(server) as line, pytest.raises(ConnectionClosed) as closed:
            line.recv(timeout=wire.WAIT_S)
        assert closed.value.rcvd == Close(TRY_LATER, NO_ROOM)
        # Who has no token isn't told.
        assert wire.upgrade(server, protocols="drivelab, token.x") == 403
    end = time.monotonic() + wire.WAIT_S
    while True:
        with contextlib.suppress(ConnectionClosed), following(server) as line:
            assert line.recv(timeout=wire.WAIT_S) == "[]"
            return
        assert time.monotonic() < end, "those that were closed count for ever"
