"""Requests as no browser would send them: bytes over a socket, every header as the test says."""

from __future__ import annotations

import base64
import json
import os
import socket
from dataclasses import dataclass
from typing import Any

from web.running import Server

WAIT_S = 120.0
"""For an answer; the machine may have other things to do."""


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def send(server: Server, text: bytes, timeout_s: float = WAIT_S) -> Answer:
    """Sends bytes, reads until the server closes or the answer is whole."""
    with socket.create_connection(("127.0.0.1", server.port), timeout_s) as line:
        line.sendall(text)
        found = b""
        while part := line.recv(65536):
            found += part
            head, blank, body = found.partition(b"\r\n\r\n")
            if blank and len(body) >= int(_headers(head).get("content-length", 1 << 40)):
                break
    head, _, body = found.partition(b"\r\n\r\n")
    status = int(head.split(b" ", 2)[1]) if head else 0
    return Answer(status, _headers(head), body)


def _headers(head: bytes) -> dict[str, str]:
    lines = head.decode("latin-1").split("\r\n")[1:]
    return {key.lower(): value.strip() for key, _, value in (line.partition(":") for line in lines)}


def ask(
    server: Server,
    path: str,
    method: str = "GET",
    body: bytes = b"",
    *,
    host: str | None = None,
    token: str | None = None,
    headers: tuple[str, ...] = (),
) -> Answer:
    """A request that is right but for what is given; `token` "" is none at all."""
    given = server.token if token is None else token
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host or f'127.0.0.1:{server.port}'}"]
    lines += [f"X-Drivelab-Token: {given}"] if given else []
    lines += [f"Content-Length: {len(body)}"] if body else []
    lines += [*headers, "Connection: close", "", ""]
    return send(server, "\r\n".join(lines).encode("latin-1", "replace") + body)


def upgrade(
    server: Server,
    path: str = "/socket/jobs",
    *,
    origin: str | None = None,
    host: str | None = None,
    protocols: str | None = None,
) -> int:
    """Status of a WebSocket's handshake: 101 if it is let in; `origin` "" is none."""
    status, line = opened(server, path, origin=origin, host=host, protocols=protocols)
    line.close()
    return status


def opened(
    server: Server,
    path: str = "/socket/jobs",
    *,
    origin: str | None = None,
    host: str | None = None,
    protocols: str | None = None,
) -> tuple[int, socket.socket]:
    """The same, and the connection, which is the caller's to close."""
    own = f"http://127.0.0.1:{server.port}"
    lines = [
        f"GET {path} HTTP/1.1",
        f"Host: {host or f'127.0.0.1:{server.port}'}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
        "Sec-WebSocket-Version: 13",
    ]
    if protocols is None:
        protocols = f"drivelab, token.{server.token}"
    lines += [f"Sec-WebSocket-Protocol: {protocols}"] if protocols else []
    lines += [f"Origin: {own if origin is None else origin}"] if origin != "" else []
    line = socket.create_connection(("127.0.0.1", server.port), WAIT_S)
    line.sendall("\r\n".join([*lines, "", ""]).encode())
    return int(line.recv(4096).split(b" ", 2)[1]), line
