"""The guard alone, in front of applications that no page has."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from starlette.responses import Response
from web import laboratory

from drivelab.web.security import HEADERS, Guard


def test_a_defect_is_answered_with_the_same_headers() -> None:
    """Whoever reads it knows where the reason is; the reason itself goes to the log."""

    async def broken(*_: Any) -> None:
        raise ZeroDivisionError("a secret of the inside")

    begin, body = guarded(broken, 8080, host="127.0.0.1:8080")
    assert begin["status"] == 500
    assert set(HEADERS) <= {key.decode() for key, _ in begin["headers"]}
    assert "drivelab web" in json.loads(body["body"])["error"]
    assert b"secret" not in body["body"]


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("127.0.0.1", "http://127.0.0.1", 200),
        ("localhost", "http://localhost", 200),
        ("evil.example", "http://127.0.0.1", 421),
        ("127.0.0.1", "http://evil.example", 403),
    ],
)
def test_port_80_is_left_out_by_browsers(host: str, origin: str, status: int) -> None:
    told = guarded(Response(), 80, host=host, origin=origin)
    assert told[0]["status"] == status


def guarded(app: Any, port: int, **headers: str) -> list[Any]:
    """What a guard in front of an application answers to a request with the token."""
    told: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        told.append(message)

    given = {"x-drivelab-token": "t", **headers}
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/api/x",
        "headers": [(key.encode(), value.encode()) for key, value in given.items()],
    }
    with contextlib.suppress(ZeroDivisionError):
        laboratory.done(Guard(app, port, "t")(scope, receive, send))
    return told
