"""Traces that are sent: what may go wrong on the way, and when they are looked at."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.requests import Request
from web import wire
from web.conftest import Server
from web.test_traces import ORDER, PATIENCE_S, folder, queue, recorded, send

from drivelab import replay
from drivelab.errors import RequestError, WorkError
from drivelab.web import bench, trace_check, traces
from drivelab.web.folder import Folder
from drivelab.web.replay_order import ReplayOrder

__all__ = ["folder"]


def test_a_link_where_a_file_arrives_is_not_followed(
    server: Server, folder: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("mine")
    (folder / "x.csv.part").symlink_to(secret)
    assert send(server, "x.csv", recorded(5).encode()).status == 201
    assert secret.read_text() == "mine"
    assert [path.name for path in folder.iterdir()] == ["x.csv"]
    assert not (folder / "x.csv").is_symlink()
    (folder / "y.csv.part").mkdir()
    assert "in the way" in send(server, "y.csv", recorded(5).encode()).json["error"]


def test_what_appears_while_a_file_arrives_is_not_replaced(server: Server, folder: Path) -> None:
    with stalled(server, folder, "x.csv", recorded(5).encode()) as line:
        (folder / "x.csv").write_text("mine")
        line.sendall(recorded(5).encode()[-10:])
        assert b" 400 " in line.recv(4096).partition(b"\r\n")[0]
    assert (folder / "x.csv").read_text() == "mine"
    assert [path.name for path in folder.iterdir()] == ["x.csv"]


def test_a_file_that_is_not_whole_is_no_trace(server: Server, folder: Path) -> None:
    (folder / "b.csv.part").write_text(recorded(5))
    assert wire.ask(server, "/api/traces/about?name=b.csv.part").status == 400
    assert queue(server, ORDER | {"trace": "b.csv.part"}).status == 400


def test_a_sender_who_stalls_holds_up_no_reader(server: Server, folder: Path) -> None:
    (folder / "mail.csv").write_text(recorded(5))
    with stalled(server, folder, "x.csv", recorded(5).encode()):
        assert wire.ask(server, "/api/traces/about?name=mail.csv").json["requests"] == 5
        assert send(server, "y.csv", recorded(5).encode()).status == 429


def alone(work: Coroutine[Any, Any, Any]) -> Any:
    """Its result, from a thread of its own: the browser of other tests has a loop in this one."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, work).result()


@contextlib.contextmanager
def stalled(server: Server, folder: Path, name: str, body: bytes) -> Iterator[socket.socket]:
    """A line on which all of a file was sent but its last ten bytes."""
    head = f"POST /api/traces?name={name} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
    head += f"X-Drivelab-Token: {server.token}\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), wire.WAIT_S) as line:
        line.sendall(head.encode() + body[:-10])
        end = time.monotonic() + PATIENCE_S
        while not (folder / f"{name}.part").exists():
            assert time.monotonic() < end
            time.sleep(0.05)
        yield line


def test_a_file_that_never_arrives_is_given_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def nothing() -> Any:
        await asyncio.sleep(PATIENCE_S)

    own = SimpleNamespace(folder=Folder(tmp_path / "results.duckdb"))
    monkeypatch.setattr(bench, "of", lambda _: own)
    app = SimpleNamespace(state=SimpleNamespace())
    scope = {"type": "http", "method": "POST", "query_string": b"name=x.csv", "app": app}
    monkeypatch.setattr(traces, "BODY_S", 0.1)
    answer = alone(traces.taken(Request(scope | {"headers": []}, nothing)))
    assert answer.status_code == 408
    assert list((tmp_path / "traces").iterdir()) == []


def looked(monkeypatch: pytest.MonkeyPatch, read: Callable[..., Any]) -> dict[str, Any]:
    """What is said of a file that is read like this."""
    monkeypatch.setattr(trace_check, "read_trace", read)
    return trace_check.look(Path("/secret/x.csv"), "x.csv")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (WorkError("/secret/x.csv: input/output error"), "x.csv: input/output error"),
        (IndexError("none"), "x.csv: it can't be read as a trace: none"),
        (ValueError("none"), "x.csv: it can't be read as a trace: none"),
        (MemoryError(), "x.csv: it is too large"),
    ],
)
def test_whatever_is_wrong_with_a_file_is_said(
    monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    def read(*_: object) -> None:
        raise error

    assert looked(monkeypatch, read) == {"error": said}


def test_a_trace_has_requests_and_not_too_many(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "x.csv"
    file.write_text(recorded(5))
    monkeypatch.setattr(trace_check, "REQUESTS_MAX", 5)
    assert trace_check.look(file, "x.csv")["trace"]["requests"] == 5
    monkeypatch.setattr(trace_check, "REQUESTS_MAX", 4)
    assert trace_check.look(file, "x.csv") == {"error": "x.csv: 5 requests; allowed: 4"}
    none = SimpleNamespace(requests=())
    assert looked(monkeypatch, lambda *_: none) == {"error": "x.csv: it holds no requests"}


def test_nothing_is_replayed_that_the_page_could_not_read(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    (folder / "mail.csv").write_text(recorded(5))
    # A process that was ended for the memory it took says nothing.
    monkeypatch.setattr(trace_check, "command", lambda *_: [sys.executable, "-c", ""])
    order = ReplayOrder.model_validate(ORDER)
    with pytest.raises(RequestError, match="the memory and the time that a page has"):
        order.measure(folder.parent / "results.duckdb", lambda *_: None)


def test_what_a_busy_machine_had_no_time_for_is_looked_at_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "x.csv"
    file.write_text(recorded(5))
    looks = traces.Looks()
    monkeypatch.setattr(traces, "PATIENCE_S", 0.0)
    with pytest.raises(RequestError, match="the time that a page has"):
        alone(looks.at(file))
    monkeypatch.undo()
    assert alone(looks.at(file))["requests"] == 5


def test_a_replay_that_fails_leaves_no_run_of_some_drives(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    (folder / "mail.csv").write_text(recorded(5))
    results = folder.parent / "results.duckdb"
    own, calls = replay.document, []

    def document(*words: Any, **more: Any) -> dict[str, Any]:
        calls.append(more)
        if len(calls) == 2:
            raise WorkError("stopped")
        return own(*words, **more)

    monkeypatch.setattr(replay, "document", document)
    order = ReplayOrder.model_validate(ORDER)
    with pytest.raises(WorkError, match="stopped"):
        order.measure(results, lambda *_: None)
    assert not results.exists()
    assert order.measure(results, lambda *_: None) == [1, 2]
