"""What functions of one's own print while a command runs them: standard output is the command's."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO


class _Divided:
    """Standard output of the process, which threads share: the last of them gives it back."""

    def __init__(self) -> None:
        self.commands = 0
        self.inside = 0
        self.lock = threading.Lock()
        self.kept: TextIO | None = None


_divided = _Divided()


@contextmanager
def of_a_command() -> Iterator[None]:
    """While a command runs, `aside` has an effect; in a script, what is printed is the script's."""
    _divided.commands += 1
    try:
        yield
    finally:
        _divided.commands -= 1


@contextmanager
def aside() -> Iterator[None]:
    """What is printed meanwhile goes to standard error.

    Of all threads: what the command itself prints, it prints when no such function runs.
    """
    if not _divided.commands:
        yield
        return
    with _divided.lock:
        if not _divided.inside:
            _divided.kept, sys.stdout = sys.stdout, sys.stderr
        _divided.inside += 1
    try:
        yield
    finally:
        with _divided.lock:
            _divided.inside -= 1
            if not _divided.inside and _divided.kept is not None:
                sys.stdout, _divided.kept = _divided.kept, None
