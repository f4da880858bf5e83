"""Hostile requests of every kind that a local server has to expect: it refuses them, and lives."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send
from web import laboratory, wire
from web.conftest import Server, start
from web.test_measuring import following
from websockets.exceptions import ConnectionClosed
from websockets.frames import Close

from drivelab.web.connections import WAITING_MAX
from drivelab.web.security import NO_ROOM, REQUESTS_MAX, SOCKETS_MAX, TRY_LATER, Guard

ORDER = {"models": ["intel-x25-v-40gb"], "quick": True, "scale": 64, "tests": ["power-idle"]}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One for all of them: what the first left behind the last would meet."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "secret.txt").write_text("a secret beside the results")
    found = start(folder)
    yield found
    # It has survived everything, started nothing, and complained of nothing.
    assert wire.ask(found, "/api/jobs").json == []
    found.stop()
    assert "Traceback" not in (folder / "server.log").read_text()


def test_what_is_right_is_answered(server: Server) -> None:
    """Else the tests below would pass on a server that refuses everything."""
    assert wire.ask(server, "/api/views").status == 200
    assert wire.ask(server, "/", token="").status == 200
    own = f"Origin: http://127.0.0.1:{server.port}"
    assert (
        wire.ask(server, "/api/views", headers=(own, "Sec-Fetch-Site: same-origin")).status == 200
    )
    assert wire.ask(server, "/api/views", host=f"localhost:{server.port}").status == 200
    assert wire.upgrade(server) == 101


HOSTS = (
    "evil.example",
    "evil.example:{port}",
    "127.0.0.1",
    "127.0.0.1:1",
    "127.0.0.1.evil.example:{port}",
    "localhost.evil.example:{port}",
    "localhost",
    "0.0.0.0:{port}",
    "127.0.0.1:{port}@evil.example",
    "127.0.0.1:{port}, evil.example",
    "[::1]:{port}",
    "127.1:{port}",
    "2130706433:{port}",
)


@pytest.mark.parametrize("host", HOSTS)
def test_a_rebound_name_is_refused(server: Server, host: str) -> None:
    named = host.format(port=server.port)
    for path in ("/", "/api/jobs", "/static/app.js"):
        assert wire.ask(server, path, host=named).status in (400, 421)
    assert wire.upgrade(server, host=named) in (400, 403)


def test_no_host_and_two_hosts_are_refused(server: Server) -> None:
    for lines in ("", f"Host: 127.0.0.1:{server.port}\r\nHost: evil.example\r\n"):
        text = f"GET /api/views HTTP/1.1\r\n{lines}X-Drivelab-Token: {server.token}\r\n\r\n"
        assert wire.send(server, text.encode()).status in (400, 421)


ORIGINS = (
    "http://evil.example",
    "https://evil.example",
    "null",
    "http://127.0.0.1",
    "http://127.0.0.1:1",
    "https://127.0.0.1:{port}",
    "http://127.0.0.1:{port}.evil.example",
    "http://evil.example:{port}",
    "file://",
    "http://LOCALHOST:{port}/",
    "chrome-extension://abcdefgh",
    "http://127.0.0.1:{port} http://evil.example",
)


@pytest.mark.parametrize("origin", ORIGINS)
def test_other_sites_are_refused_even_with_the_token(server: Server, origin: str) -> None:
    named = origin.format(port=server.port)
    body = json.dumps(ORDER).encode()
    header = (f"Origin: {named}", "Content-Type: application/json")
    assert wire.ask(server, "/api/jobs", "POST", body, headers=header).status == 403
    assert wire.ask(server, "/api/jobs", headers=header).status == 403
    assert wire.upgrade(server, origin=named) == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site", "unknown"])
@pytest.mark.parametrize("mode", ["no-cors", "cors", "navigate", "websocket"])
def test_what_a_browser_calls_another_site_is_refused(server: Server, site: str, mode: str) -> None:
    headers = (f"Sec-Fetch-Site: {site}", f"Sec-Fetch-Mode: {mode}")
    assert wire.ask(server, "/api/jobs", headers=headers).status == 403
    # Somebody's link may open the page, which does nothing by itself.
    assert wire.ask(server, "/", headers=headers).status == (200 if mode == "navigate" else 403)


TOKENS = (
    *("", " ", "x", "x" * 32, "{token}x", "{short}", "{token}.{token}", "null"),
    *("\u00e9" * 32, "%00", "*"),
)


@pytest.mark.parametrize("text", TOKENS)
def test_without_the_token_nothing_is_read_and_nothing_is_done(server: Server, text: str) -> None:
    token = text.format(token=server.token, short=server.token[:-1])
    body = json.dumps(ORDER).encode()
    for path, method, sent in (
        ("/api/jobs", "GET", b""),
        ("/api/jobs", "POST", body),
        ("/api/jobs/1", "DELETE", b""),
        (f"/api/jobs/{'1' * 5000}", "DELETE", b""),
        ("/api/drives", "GET", b""),
        (f"/api/jobs?token={server.token}", "GET", b""),
    ):
        assert wire.ask(server, path, method, sent, token=token or "").status == 401
    offered = f"drivelab, token.{token}" if token.strip() and token.isascii() else "drivelab"
    assert wire.upgrade(server, protocols=offered) == 403


@pytest.mark.parametrize(
    "protocols", ["", "drivelab", "token.{token}", "token.", "drivelab, token.x", "{token}"]
)
def test_a_websocket_needs_protocol_and_token(server: Server, protocols: str) -> None:
    assert wire.upgrade(server, protocols=protocols.format(token=server.token)) == 403


def test_a_websocket_without_an_origin_is_refused(server: Server) -> None:
    assert wire.upgrade(server, origin="") == 403


PATHS = (
    "/static/../app.py",
    "/static/%2e%2e/app.py",
    "/static/..%2fapp.py",
    "/static/%2e%2e%2f%2e%2e%2f%2e%2e%2fsecret.txt",
    "/static/....//app.py",
    "/static/..\\app.py",
    "/static/%00",
    "/static//etc/passwd",
    "/static/%2fetc%2fpasswd",
    "/static/%252e%252e/app.py",
    "//etc/passwd",
    "/etc/passwd",
    "/static/views/../../../web/security.py",
    "/api/../../secret.txt",
)


@pytest.mark.parametrize("path", PATHS)
def test_no_path_leaves_the_files_of_the_page(server: Server, path: str) -> None:
    found = wire.ask(server, path)
    assert found.status in (400, 404)
    assert b"secret" not in found.body
    assert b"import" not in found.body


NAMES = (
    "../results",
    "/etc/passwd",
    "models/x.toml",
    "fio:/dev/sda",
    "fio:/etc/passwd",
    "x" * 81,
    "<script>alert(1)</script>",
    "intel-x25-v-40gb@../../x",
    "intel-x25-v-40gb\u0000",
    "lab.duckdb:1",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_drive_is_a_name_and_no_file(server: Server, name: str) -> None:
    found = order(server, models=[name])
    assert found.status == 400
    assert found.headers["content-type"] == "application/json"
    quoted = "".join(f"%{byte:02x}" for byte in name.encode())
    assert wire.ask(server, f"/api/compare?drive={quoted}&drive=intel-x25-v-40gb").status == 400


SETTINGS = (
    "flash.part=../../x",
    "base=/etc/passwd",
    "members=x.toml/y",
    "spare_ratio",
    "spare_ratio=",
    "=1",
    "spare_ratio=1\nflash.part=x",
    'title="x"',
    "a" * 81 + "=1",
    "spare_ratio=" + "1" * 41,
    "nothing.known=1",
    "flash.channel_count=1000000",
)


@pytest.mark.parametrize("setting", SETTINGS)
def test_settings_are_keys_and_plain_values(server: Server, setting: str) -> None:
    found = order(server, settings=[setting])
    assert found.status == 400
    assert len(found.json["error"]) < 1000


ORDERS: tuple[Any, ...] = (
    [],
    None,
    "x",
    {},
    ORDER | {"models": []},
    ORDER | {"models": ["intel-x25-v-40gb"] * 7},
    ORDER | {"models": "intel-x25-v-40gb"},
    ORDER | {"seed": -1},
    ORDER | {"seed": 2**64},
    ORDER | {"seed": 1.5},
    ORDER | {"scale": 0},
    ORDER | {"scale": 10**9},
    ORDER | {"quick": "yes"},
    ORDER | {"plugin": "/tmp/x.py"},
    ORDER | {"tests": ["no-such-test"]},
    ORDER | {"tests": ["power-idle"] * 65},
    ORDER | {"states": ["no-such-state"]},
    ORDER | {"settings": ["spare_ratio=0.1"] * 33},
    ORDER | {"models": ["intel-x25-v-40gb", "intel-x25-v-40gb"]},
)


@pytest.mark.parametrize("wrong", ORDERS, ids=range(len(ORDERS)))
def test_an_order_that_is_none_says_why(server: Server, wrong: Any) -> None:
    found = wire.ask(server, "/api/jobs", "POST", json.dumps(wrong).encode())
    assert found.status == 400
    assert found.json["error"]


BODIES = (
    b"{",
    b"\xff\xfe",
    b"[" * 5000,
    b'{"models": ' + b"[" * 20000,
    b"1e999",
    b"NaN",
    b'{"models": ["a"], "models": ["b"]',
    b"\x00" * 100,
    b"<xml/>",
    b'"' + b"x" * 60000 + b'"',
)


@pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))
def test_a_body_that_is_no_json_is_refused(server: Server, body: bytes) -> None:
    found = wire.ask(server, "/api/jobs", "POST", body)
    assert found.status == 400
    assert len(found.body) < 2000


def test_a_body_or_an_address_that_is_too_long_is_refused(server: Server) -> None:
    assert wire.ask(server, "/api/jobs", "POST", b"x" * 65537).status == 413
    start_line = f"POST /api/jobs HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
    huge = f"{start_line}Content-Length: {10**15}\r\n\r\n"
    assert wire.send(server, huge.encode()).status in (401, 413)
    chunks = b"".join(b"4000\r\n" + b"x" * 0x4000 + b"\r\n" for _ in range(6)) + b"0\r\n\r\n"
    head = f"X-Drivelab-Token: {server.token}\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert wire.send(server, (start_line + head).encode() + chunks).status == 413
    assert wire.ask(server, "/api/compare?drive=" + "x" * 100_000).status in (0, 400)


NO_REQUESTS = (
    b"\r\n\r\n",
    b"GET\r\n\r\n",
    b"\x16\x03\x01" * 50,
    b"GET / HTTP/9.9\r\n\r\n",
    b"A" * 200_000,
    b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost : x\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20_000 + b"\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
)


@pytest.mark.parametrize("text", NO_REQUESTS, ids=range(len(NO_REQUESTS)))
def test_what_is_no_request_is_refused(server: Server, text: bytes) -> None:
    with contextlib.suppress(ConnectionError, TimeoutError):
        assert wire.send(server, text, 3.0).status in (0, 400, 421, 431)
    assert wire.ask(server, "/api/views").status == 200


METHODS = (
    *("PUT", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get", "HACK", "LINK", "QUERY"),
)


@pytest.mark.parametrize("method", METHODS)
def test_other_methods_are_refused(server: Server, method: str) -> None:
    for path in ("/", "/api/jobs", "/static/app.js"):
        assert wire.ask(server, path, method).status in (400, 404, 405)


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


def test_every_answer_forbids_what_the_page_does_not_need(server: Server) -> None:
    for path in ("/", "/compare", "/static/app.js", "/api/views", "/api/none", "/none"):
        found = wire.ask(server, path)
        policy = found.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert found.headers["x-content-type-options"] == "nosniff"
        assert found.headers["referrer-policy"] == "no-referrer"
        assert found.headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in found.headers
        assert "set-cookie" not in found.headers
        assert "server" not in found.headers


def test_a_length_of_other_digits_is_refused(server: Server) -> None:
    head = f"POST /api/jobs HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
    head += f"X-Drivelab-Token: {server.token}\r\nContent-Length: \u00b2\r\n\r\n"
    assert wire.send(server, head.encode("latin-1")).status in (0, 400, 413)


def test_the_page_has_no_script_or_style_inside(server: Server) -> None:
    shell = wire.ask(server, "/").body.decode()
    assert "<style" not in shell
    assert "style=" not in shell
    assert "onload" not in shell
    assert shell.count("<script") == shell.count("<script src=") + shell.count("<script type=")
    assert server.token not in shell


def test_it_listens_on_loopback_only(server: Server) -> None:
    listening = subprocess.run(["ss", "-ltnH"], capture_output=True, text=True, check=True).stdout
    own = [line.split()[3] for line in listening.splitlines() if f":{server.port} " in line + " "]
    assert own == [f"127.0.0.1:{server.port}"]


def test_a_token_ends_with_its_server(tmp_path: Path) -> None:
    """Open pages send theirs to whoever has the port next."""
    one = start(tmp_path)
    one.stop()
    other = start(tmp_path, port=one.port)
    assert wire.ask(other, "/api/jobs", token=one.token).status == 401
    other.stop()
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(one.token in path.read_text() for path in kept)


def order(server: Server, **changed: Any) -> wire.Answer:
    return wire.ask(server, "/api/jobs", "POST", json.dumps(ORDER | changed).encode())
