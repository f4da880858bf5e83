"""Ctrl-C that isn't lost.

Python raises KeyboardInterrupt wherever it happens to be. In a destructor, or in a callback of an
import, it is printed or dropped there, and the work would go on to its end.
"""

from __future__ import annotations

import signal
from types import FrameType

_ASKED: list[int] = []
"""Signals that came; as they are, this is the process's. A list, for it needs no lock."""


def listen() -> None:
    """From now on Ctrl-C is remembered, beside what it raises.

    A shell has its background jobs ignore it: they go on doing so.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)


def check() -> None:
    """Raises KeyboardInterrupt if one was asked for since `listen`; for loops that wait."""
    if _ASKED:
        raise KeyboardInterrupt


def _interrupt(number: int, _frame: FrameType | None) -> None:
    _ASKED.append(number)
    raise KeyboardInterrupt
