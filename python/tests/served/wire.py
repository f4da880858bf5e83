"""A small client of the NBD protocol, so that a test decides itself what is under way when."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass
from pathlib import Path

READ, WRITE, DISCONNECT, FLUSH, TRIM, WRITE_ZEROES = 0, 1, 2, 3, 4, 6
FUA, NO_HOLE = 1, 2
OPTION_GO = 7
REPLY_ACK, REPLY_INFO = 1, 3
REPLY_ERROR = 1 << 31
TAKES_TRIM, MULTI_CONN = 1 << 5, 1 << 8
WAIT_S = 300.0


class ClosedError(Exception):
    """The server has closed the connection, or died."""


@dataclass(frozen=True)
class Reply:
    """The answer to one request."""

    cookie: int
    error: int
    data: bytes


class Connection:
    """One connection to the default export; replies come one by one, in the server's order."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(WAIT_S)
        self._socket.connect(str(path))
        self._reads: dict[int, int] = {}
        self.under_way: set[int] = set()
        magic, have_option, _ = struct.unpack(">8sQH", self._exactly(18))
        assert (magic, have_option) == (b"NBDMAGIC", 0x49484156454F5054)
        self._socket.sendall(struct.pack(">I", 3))
        self.size_bytes, self.flags = self._go()

    def send(
        self, cookie: int, kind: int, offset: int, length: int, data: bytes = b"", flags: int = 0
    ) -> None:
        """Hands a request over; its reply comes whenever."""
        head = struct.pack(">IHHQQI", 0x25609513, flags, kind, cookie, offset, length)
        if kind == READ:
            self._reads[cookie] = length
        self.under_way.add(cookie)
        try:
            self._socket.sendall(head + data)
        except OSError as error:
            raise ClosedError from error

    def receive(self) -> Reply:
        """Waits for the next reply."""
        magic, error, cookie = struct.unpack(">IIQ", self._exactly(16))
        assert magic == 0x67446698, hex(magic)
        self.under_way.remove(cookie)
        length = self._reads.pop(cookie, 0)
        return Reply(cookie, error, b"" if error else self._exactly(length))

    def done(self, kind: int, offset: int, length: int, data: bytes = b"") -> bytes:
        """One request with its reply, while nothing else is under way; a read's data."""
        self.send(0, kind, offset, length, data)
        reply = self.receive()
        assert reply.error == 0, f"request {kind} at {offset}: error {reply.error}"
        return reply.data

    def close(self, *, politely: bool = True) -> None:
        """Says goodbye, or just goes."""
        if politely:
            self._socket.sendall(struct.pack(">IHHQQI", 0x25609513, 0, DISCONNECT, 0, 0, 0))
        self._socket.close()

    def fileno(self) -> int:
        """For `select`."""
        return self._socket.fileno()

    def _go(self) -> tuple[int, int]:
        option = struct.pack(">IH", 0, 0)
        head = struct.pack(">QII", 0x49484156454F5054, OPTION_GO, len(option))
        self._socket.sendall(head + option)
        found = None
        while True:
            _, _, kind, length = struct.unpack(">QIII", self._exactly(20))
            data = self._exactly(length)
            assert not kind & REPLY_ERROR, f"refused: {kind & ~REPLY_ERROR} {data!r}"
            if kind == REPLY_ACK:
                assert found is not None
                return found
            if kind == REPLY_INFO and data[:2] == b"\0\0":
                size, flags = struct.unpack(">QH", data[2:12])
                found = (size, flags)

    def _exactly(self, count: int) -> bytes:
        parts = []
        while count:
            try:
                part = self._socket.recv(count)
            except ConnectionError as error:
                raise ClosedError from error
            if not part:
                raise ClosedError
            parts.append(part)
            count -= len(part)
        return b"".join(parts)
