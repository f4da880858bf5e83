"""Connections of pages: one that sends no request, or reads no answer, takes no room from others.

Everybody on the machine can connect, and a connection that says nothing has shown no token. So
requests with the token are what is counted (security.py); connections that wait for a request, or
for somebody to read, are closed after some seconds, and the oldest of them at once where there are
too many.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_S = 5.0
"""In which a request has to come: its head, of a new connection or after the last answer. And in
which something of an answer has to be read."""
UNREAD_S = 60.0
"""The same of an answer to a request with the token: its reader may be far away, and slow."""
WAITING_MAX = 256
"""Connections without a request, or whose answer is not read, of all pages together."""
KNOWN = "drivelab.known"
"""In the scope of a request that had the token."""


class Connection(H11Protocol):
    """HTTP, as uvicorn speaks it, with an end of waiting for the other side."""

    _waits_since: float | None = None
    """For a request, in the loop's seconds; None while one is answered."""
    _ending: asyncio.TimerHandle | None = None
    _unread_since: float | None = None
    """None while answers are read as they are written."""
    _unread: int = 0
    """Bytes, when that was looked at."""
    _looking: asyncio.TimerHandle | None = None

    @property
    def idle_since(self) -> float | None:
        """Since when its other side does nothing; None if it does, or if an answer waits for it to
        a request that had the token."""
        if self._is_known() and self.transport.get_write_buffer_size():
            return None
        return self._waits_since if self._unread_since is None else self._unread_since

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Waits for the first request."""
        super().connection_made(transport)
        self._wait()

    def handle_events(self) -> None:
        """Whatever has come: a request, if it is whole up to its body, is waited for no more."""
        super().handle_events()
        begun = self.cycle is not None
        if begun and not self.cycle.response_complete:
            self._wait_no_more()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """A WebSocket has a protocol and a bound of its own, if it becomes one."""
        has_body = any(
            name == b"transfer-encoding" or (name == b"content-length" and value != b"0")
            for name, value in self.headers
        )
        # Browsers open a connection for each: none has an answer that was not read yet.
        if event.method != b"GET" or has_body or self.transport.get_write_buffer_size():
            self.send_400_response("A WebSocket begins with a GET without a body.")
            return
        self._wait_no_more()
        super().handle_websocket_upgrade(event)
        # It was given the whole head: what it can't read as one it would neither answer nor close.
        if not getattr(self.transport.get_protocol(), "handshake_initiated", False):
            self.transport.abort()

    def on_response_complete(self) -> None:
        """Waits for the next request, which may be here already."""
        self._wait()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Too much of an answer is not read yet: it is waited for."""
        super().pause_writing()
        if self._unread_since is None:
            self._look_for_reading()

    def resume_writing(self) -> None:
        """Most of it was."""
        super().resume_writing()
        # Else the rest has to be read, too, for the connection to end.
        if not self.transport.is_closing():
            self._look_no_more()

    def connection_lost(self, exc: Exception | None) -> None:
        """The other side has gone, or was told to."""
        self._wait_no_more()
        self._look_no_more()
        super().connection_lost(exc)

    def _is_known(self) -> bool:
        asked = self.cycle is not None
        return asked and KNOWN in self.cycle.scope

    def _wait(self) -> None:
        self._wait_no_more()
        self._waits_since = self.loop.time()
        self._ending = self.loop.call_later(REQUEST_S, self._give_up)
        self._make_room()

    def _wait_no_more(self) -> None:
        self._waits_since = None
        if self._ending is not None:
            self._ending.cancel()
            self._ending = None

    def _give_up(self) -> None:
        self._ending = None
        # What was answered may still be read, but not by and by.
        self.transport.close()
        if self.transport.get_write_buffer_size() and self._unread_since is None:
            self._look_for_reading()

    def _look_for_reading(self) -> None:
        if self._unread_since is None:
            self._unread_since = self.loop.time()
            self._make_room()
        self._unread = self.transport.get_write_buffer_size()
        seconds = UNREAD_S if self._is_known() else REQUEST_S
        self._looking = self.loop.call_later(seconds, self._look)

    def _look(self) -> None:
        if self.transport.get_write_buffer_size() < self._unread:
            self._look_for_reading()
        else:
            self.transport.abort()

    def _look_no_more(self) -> None:
        self._unread_since = None
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None

    def _make_room(self) -> None:
        idle = {
            other: other.idle_since
            for other in self.connections
            if isinstance(other, Connection) and other.idle_since is not None
        }
        if len(idle) > WAITING_MAX:
            oldest = min(idle, key=lambda other: idle[other])
            oldest._wait_no_more()
            oldest._look_no_more()
            oldest.transport.abort()
