"""Connections whose other side sends or reads nothing, or slowly, with clocks that a test sets."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
import uvicorn
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState
from web import laboratory, wire

from drivelab.web import connections
from drivelab.web.connections import KNOWN, Connection

LONG = 12_000_000
"""Bytes of an answer: far more than the system keeps of what isn't read."""
NEVER_S = 1e6
SOON_S = 0.1
REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
Client = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """A long answer; for /known/ to somebody with the token."""
    if scope["path"] == "/known/":
        scope[KNOWN] = True
    await Response(bytes(LONG))(scope, receive, send)


@contextlib.asynccontextmanager
async def serving() -> AsyncIterator[tuple[ServerState, Callable[[bytes], Awaitable[Client]]]]:
    """A server of such answers, and what connects to it and says something."""
    config = uvicorn.Config(
        application, log_config=None, ws="websockets-sansio", timeout_keep_alive=10**6
    )
    config.load()
    state = ServerState()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: Connection(config=config, server_state=state, app_state={}), "127.0.0.1", 0
    )
    port = server.sockets[0].getsockname()[1]
    writers: list[asyncio.StreamWriter] = []

    async def connected(said: bytes) -> Client:
        # Else the system would take some of an answer that nobody reads.
        line = socket.socket()
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.setblocking(False)
        await loop.sock_connect(line, ("127.0.0.1", port))
        reader, writer = await asyncio.open_connection(sock=line, limit=4096)
        writers.append(writer)
        writer.write(said)
        return reader, writer

    try:
        async with asyncio.timeout(wire.WAIT_S):
            yield state, connected
    finally:
        for writer in writers:
            writer.close()
        server.close()


def clocks(monkeypatch: pytest.MonkeyPatch, request_s: float, unread_s: float) -> None:
    monkeypatch.setattr(connections, "REQUEST_S", request_s)
    monkeypatch.setattr(connections, "UNREAD_S", unread_s)


async def until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("said", "request_s", "unread_s"),
    [
        (REQUEST, SOON_S, NEVER_S),
        (REQUEST * 9, SOON_S, NEVER_S),
        (REQUEST.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"), SOON_S, NEVER_S),
        (REQUEST.replace(b"/ ", b"/known/ ", 1), SOON_S, SOON_S),
    ],
    ids=["one", "several", "last", "known"],
)
def test_who_reads_nothing_is_disconnected(
    monkeypatch: pytest.MonkeyPatch, said: bytes, request_s: float, unread_s: float
) -> None:
    clocks(monkeypatch, request_s, unread_s)

    async def told() -> None:
        async with serving() as (state, connected):
            await connected(said)
            await until(lambda: state.total_requests > 0)
            await until(lambda: not state.connections and not state.tasks)

    laboratory.done(told())


class Full(asyncio.Transport):
    """A transport of whose bytes the other side takes only what a test says."""

    left = 9
    ends = ""

    def get_write_buffer_size(self) -> int:
        return self.left

    def is_closing(self) -> bool:
        return bool(self.ends)

    def close(self) -> None:
        self.ends = self.ends or "closed"

    def abort(self) -> None:
        self.ends = "aborted"


def test_a_short_rest_of_an_answer_is_waited_for_while_it_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So short that nobody was told to pause."""
    clocks(monkeypatch, SOON_S, NEVER_S)

    async def told() -> None:
        config = uvicorn.Config(application, log_config=None)
        config.load()
        transport = Full()
        # A reader that takes one byte whenever it is looked at, but never the last three.
        looks: list[int] = []

        def look(connection: Connection) -> None:
            looks.append(transport.left)
            assert transport.ends == "closed"
            transport.left = max(3, transport.left - 1)
            looked(connection)

        looked = Connection._look
        monkeypatch.setattr(Connection, "_look", look)
        Connection(config, ServerState(), {}).connection_made(transport)
        async with asyncio.timeout(wire.WAIT_S):
            await until(lambda: transport.ends == "aborted")
        assert looks == [9, 8, 7, 6, 5, 4, 3]

    laboratory.done(told())


def test_a_slow_reader_gets_the_whole_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also long after the server has written all of it."""
    clocks(monkeypatch, SOON_S, NEVER_S)

    async def read() -> int:
        async with serving() as (state, connected):
            reader, _ = await connected(REQUEST.replace(b"/ ", b"/known/ ", 1))
            await until(lambda: state.total_requests == 1)
            await asyncio.sleep(3 * SOON_S)
            await reader.readuntil(b"\r\n\r\n")
            return len(await reader.read(-1))

    assert laboratory.done(read()) == LONG


@pytest.mark.parametrize("said", [b"", REQUEST], ids=["silent", "unread"])
def test_of_too_many_the_oldest_are_disconnected_at_once(
    monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    """Their clocks would let all of them stay; an answer that may be long goes on."""
    clocks(monkeypatch, NEVER_S, NEVER_S)
    monkeypatch.setattr(connections, "WAITING_MAX", 3)

    async def told() -> None:
        async with serving() as (state, connected):
            known, _ = await connected(REQUEST.replace(b"/ ", b"/known/ ", 1))
            await until(lambda: state.total_requests == 1)
            readers = []
            for _ in range(5):
                readers.append((await connected(said))[0])
                # Or it would not be known which of two is the older.
                await until(lambda: not said or state.total_requests == 1 + len(readers))
            for reader in readers[:2]:
                with contextlib.suppress(ConnectionError):
                    await reader.read(-1)
            assert len(state.connections) == 4
            await known.readuntil(b"\r\n\r\n")
            assert len(await known.readexactly(LONG)) == LONG

    laboratory.done(told())
