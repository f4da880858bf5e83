"""What is watched by one viewer, in a thread of its own: from any thread it is started, asked for
frames, taken over by another viewer, ended."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

Send = Callable[[bytes | dict[str, Any]], None]
"""Takes what the viewer is to get: a text (an object) or a frame. Called in the drive's thread."""


class Viewed(ABC):
    """A drive that a viewer looks at. Its methods may be called from any thread, at any time."""

    def __init__(self, send: Send, name: str) -> None:
        self._send = send
        self._wake, self._closed = threading.Event(), threading.Event()
        self._wanted, self._anew = threading.Event(), threading.Event()
        self.now_ns = 0
        """Of the drive's own clock, as it was a moment ago."""
        self._thread = threading.Thread(target=self._live, name=name, daemon=True)

    @abstractmethod
    def _live(self) -> None:
        """The thread: it ends soon after `closed`, and says why if it ends by itself."""

    def _fail(self, reason: str) -> None:
        """Says why it ends, to who still looks."""
        if not self._closed.is_set():
            self._send({"failed": reason})

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def close(self) -> None:
        """Ends, soon."""
        self._closed.set()
        self._wake.set()

    def join(self, seconds: float) -> bool:
        """Waits for the end; whether it has come."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    @property
    def closed(self) -> bool:
        """Whether it has ended, or will."""
        return self._closed.is_set()

    def want(self, anew: bool = False) -> None:
        """The viewer is ready for a frame; `anew`: it knows none of those before."""
        if anew:
            self._anew.set()
        self._wanted.set()
        self._wake.set()

    def is_seen_by(self, send: Send) -> bool:
        """Whether what it shows goes there."""
        return self._send == send

    def attach(self, send: Send) -> None:
        """Another viewer takes the place of the one before, as after a reload, who is told."""
        self._send({"elsewhere": True})
        self._send = send
        self._anew.set()

    def detach(self) -> None:
        """Another drive takes this one's place: its viewer is told, and gets nothing more."""
        self._send({"elsewhere": True})
        self._send = _to_nobody


def _to_nobody(_: bytes | dict[str, Any]) -> None:
    """Takes what nobody looks at."""
