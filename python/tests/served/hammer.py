"""Random requests on two connections, until the server is killed when the seed says."""

from __future__ import annotations

import select
from dataclasses import dataclass
from typing import Any

import numpy as np
from served import wire
from served.drive import ServedDrive
from served.stamps import SECTOR, Book

MIB = 1 << 20
DEPTH = 24
SECTORS_MAX = 128
KINDS = ("write", "fua", "flush", "trim", "zeroes", "read")
CHANCES = (0.60, 0.06, 0.06, 0.08, 0.06, 0.14)


@dataclass
class Request:
    """What is under way."""

    kind: str
    first: int = 0
    count: int = 0
    sequence: int = 0
    moment: int = 0
    expected: bytes = b""


class Hammer:
    """Writes stamped sectors to a part of the drive, and knows what has to be there."""

    def __init__(self, drive: ServedDrive, seed: int, book: Book, size_bytes: int) -> None:
        self.drive = drive
        self.book = book
        self.draw = np.random.default_rng(seed)
        self.sectors = size_bytes // SECTOR
        self.trim_unit = trim_unit_sectors(drive)
        self.cookies = 0
        self.requests: dict[int, Request] = {}

    def round(self, replies: int) -> None:
        """Requests until so many were answered; then a kill while more are under way."""
        connections = [wire.Connection(self.drive.socket)]
        if connections[0].flags & wire.MULTI_CONN:
            connections.append(wire.Connection(self.drive.socket))
        answered = 0
        while answered < replies:
            while len(self.requests) < DEPTH:
                self._send(connections[int(self.draw.integers(len(connections)))])
            ready, _, _ = select.select(connections, [], [], wire.WAIT_S)
            assert ready, "no reply"
            for connection in ready:
                self._take(connection.receive())
                answered += 1
        self.drive.kill9()
        for connection in connections:  # what was answered before the end counts
            self._drain(connection)
        self.requests.clear()

    def verify(self, said: str) -> None:
        """Everything after a cut, against the book."""
        connection = wire.Connection(self.drive.socket)
        wrong: list[str] = []
        step = MIB // SECTOR
        for first in range(0, self.sectors, step):
            count = min(step, self.sectors - first)
            connection.send(1, wire.READ, first * SECTOR, count * SECTOR)
            reply = connection.receive()
            assert reply.error == 0, f"sector {first}: error {reply.error}"
            wrong += self.book.after_cut(first, reply.data)
        connection.close()
        assert wrong == [], f"{said}: {len(wrong)} sectors:\n" + "\n".join(wrong[:20])

    def _drain(self, connection: wire.Connection) -> None:
        try:
            while connection.under_way:
                self._take(connection.receive())
        except wire.ClosedError:
            pass
        connection.close(politely=False)

    def _send(self, connection: wire.Connection) -> None:
        request = self._request()
        if request is None:
            return
        self.cookies += 1
        offset, length = request.first * SECTOR, request.count * SECTOR
        arguments: dict[str, Any] = {"flags": 0}
        if request.kind in ("write", "fua"):
            request.sequence = self.book.begin(request.first, request.count)
            arguments["data"] = self.book.data(request.sequence)
        elif request.kind in ("trim", "zeroes"):
            first, count = request.first, request.count
            if request.kind == "trim":
                first, count = whole_units(first, count, self.trim_unit)
            request.sequence = self.book.begin(first, count, zeros=True)
        elif request.kind == "flush":
            request.moment = self.book.moment()
            offset = length = 0
        else:
            request.expected = self.book.latest(request.first, request.count)
        if request.kind == "fua":
            arguments["flags"] = wire.FUA
        self.requests[self.cookies] = request
        connection.send(self.cookies, NUMBERS[request.kind], offset, length, **arguments)

    def _request(self) -> Request | None:
        """The next one, nowhere where another is under way; None if this draw hit one."""
        kind = str(self.draw.choice(KINDS, p=CHANCES))
        if kind == "flush":
            return Request(kind)
        # Mostly a few sectors, at places of which a quarter are hot; whole map units half the time.
        count = int(min(SECTORS_MAX, 1 + self.draw.geometric(0.08)))
        span = self.sectors if self.draw.random() < 0.5 else self.sectors // 4
        first = int(self.draw.integers(span - SECTORS_MAX))
        if self.draw.random() < 0.5:
            first, count = first // 8 * 8, -(-count // 8) * 8
        if kind == "trim" and self.trim_unit is None:
            kind = "write"
        busy = self.requests.values()
        if any(r.count and first < r.first + r.count and r.first < first + count for r in busy):
            return None
        return Request(kind, first, count)

    def _take(self, reply: wire.Reply) -> None:
        request = self.requests.pop(reply.cookie)
        assert reply.error == 0, f"{request.kind} of sector {request.first}: error {reply.error}"
        if request.kind == "flush":
            self.book.flushed(request.moment)
        elif request.kind == "read":
            assert reply.data == request.expected, f"sectors from {request.first} aren't as written"
        else:
            self.book.acknowledge(request.sequence, fua=request.kind == "fua")


def whole_units(first: int, count: int, unit: int | None) -> tuple[int, int]:
    """The sectors of a range that a trim frees; the rest keeps its data."""
    assert unit is not None
    begin, end = -(-first // unit) * unit, (first + count) // unit * unit
    return begin, max(0, end - begin)


def trim_unit_sectors(drive: ServedDrive) -> int | None:
    """How many sectors the drive frees together; None if it takes no trims. Tried at its start."""
    connection = wire.Connection(drive.socket)
    if not connection.flags & wire.TAKES_TRIM:
        connection.close()
        return None
    for unit in (1 << power for power in range(12)):
        length = unit * SECTOR
        connection.done(wire.WRITE, 0, 2 * length, b"\x55" * 2 * length)
        connection.done(wire.TRIM, length, length)
        connection.done(wire.FLUSH, 0, 0)
        if connection.done(wire.READ, 0, 2 * length) == b"\x55" * length + bytes(length):
            connection.done(wire.WRITE_ZEROES, 0, 2 * length)
            connection.done(wire.FLUSH, 0, 0)
            connection.close()
            return unit
    raise AssertionError("no trim up to 1 MiB reads zero")


NUMBERS = {
    "write": wire.WRITE,
    "fua": wire.WRITE,
    "flush": wire.FLUSH,
    "trim": wire.TRIM,
    "zeroes": wire.WRITE_ZEROES,
    "read": wire.READ,
}
