"""Ctrl-C that isn't lost.

Python raises KeyboardInterrupt wherever it happens to be. In a destructor, or in a callback of an
import, it is printed or dropped there, and the work would go on to its end.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType

_ASKED = threading.Event()
"""As signals are, this is the process's."""


def listen() -> None:
    """From now on Ctrl-C is remembered, beside what it raises."""
    signal.signal(signal.SIGINT, _interrupt)


def check() -> None:
    """Raises KeyboardInterrupt if one was asked for since `listen`; for loops that wait."""
    if _ASKED.is_set():
        raise KeyboardInterrupt


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    _ASKED.set()
    raise KeyboardInterrupt
