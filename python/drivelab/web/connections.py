"""Connections of pages: one that doesn't send its request takes no room from those that do.

Everybody on the machine can connect, and a connection that says nothing has shown no token. So
requests are what is counted (security.py); connections that wait for one are closed after some
seconds, and the oldest of them at once where there are too many.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_S = 5.0
"""In which a request has to come: its head, of a new connection or after the last answer."""
WAITING_MAX = 256
"""Connections without a request, of all pages together."""


class Connection(H11Protocol):
    """HTTP, as uvicorn speaks it, with an end of waiting for a request."""

    waits_since: float | None = None
    """In the loop's seconds; None while a request is answered."""
    _ending: asyncio.TimerHandle | None = None

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
        """A WebSocket has a protocol and a bound of its own."""
        self._wait_no_more()
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        """Waits for the next request, which may be here already."""
        self._wait()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """The other side has gone, or was told to."""
        self._wait_no_more()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._wait_no_more()
        self.waits_since = self.loop.time()
        self._ending = self.loop.call_later(REQUEST_S, self._give_up)
        waiting = {
            other: other.waits_since
            for other in self.connections
            if isinstance(other, Connection) and other.waits_since is not None
        }
        if len(waiting) > WAITING_MAX:
            min(waiting, key=lambda other: waiting[other])._give_up()

    def _wait_no_more(self) -> None:
        self.waits_since = None
        if self._ending is not None:
            self._ending.cancel()
            self._ending = None

    def _give_up(self) -> None:
        self._wait_no_more()
        # Not by and by: who sends nothing may read nothing, either.
        self.transport.abort()
