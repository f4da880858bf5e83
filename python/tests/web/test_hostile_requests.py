"""Paths, names, orders, bodies and methods that nobody should send: the server refuses them, and
lives."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
from web import wire
from web.conftest import Server
from web.hostile import ORDER, surviving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with surviving(tmp_path_factory.mktemp("hostile")) as found:
        yield found


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


def test_a_length_of_other_digits_is_refused(server: Server) -> None:
    head = f"POST /api/jobs HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
    head += f"X-Drivelab-Token: {server.token}\r\nContent-Length: \u00b2\r\n\r\n"
    assert wire.send(server, head.encode("latin-1")).status in (0, 400, 413)


def order(server: Server, **changed: Any) -> wire.Answer:
    return wire.ask(server, "/api/jobs", "POST", json.dumps(ORDER | changed).encode())
