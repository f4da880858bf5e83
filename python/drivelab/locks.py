"""Lock files: programs that would write to the same place take turns, or are told."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

POLL_S = 0.02


class HeldError(Exception):
    """Another program holds the lock, and held it as long as was waited."""


@contextlib.contextmanager
def held(lock: Path, wait_s: float) -> Iterator[None]:
    """Holds a lock file, waiting at most `wait_s` seconds for whoever has it.

    The file is gone afterwards. What a killed program leaves behind hinders nobody: the lock is the
    operating system's, the file only its place. Raises HeldError, and OSError.
    """
    end = time.perf_counter() + wait_s
    while (descriptor := _taken(lock)) is None:
        if time.perf_counter() >= end:
            raise HeldError(lock)
        time.sleep(POLL_S)
    try:
        yield
    finally:
        # While it is still held: those that wait for this file find that it is not there any more.
        lock.unlink(missing_ok=True)
        os.close(descriptor)


def _taken(lock: Path) -> int | None:
    """The descriptor that holds the lock; None if another program does."""
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    is_ours = False
    try:
        with contextlib.suppress(BlockingIOError, FileNotFoundError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_ours = os.path.samestat(os.fstat(descriptor), lock.stat())
    finally:
        if not is_ours:
            os.close(descriptor)
    return descriptor if is_ours else None
