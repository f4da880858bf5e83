"""Hosts, sites and tokens that a local server refuses, and what its answers forbid."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from web import wire
from web.conftest import Server, start
from web.hostile import ORDER, surviving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with surviving(tmp_path_factory.mktemp("hostile")) as found:
        yield found


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
