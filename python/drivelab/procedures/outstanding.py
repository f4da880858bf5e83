"""Requests that are outstanding where a drive takes fewer of them at once: what a note says."""

from __future__ import annotations

from drivelab.quantities import counted
from drivelab.targets import Target


def waiting(target: Target, deepest: int) -> tuple[str, ...]:
    """That some of so many requests wait in the host, where they do; nothing of real drives, which
    don't say how many they take."""
    if target.original is None or deepest <= target.queue_depth:
        return ()
    takes = counted(target.queue_depth, "command")
    return (f"the drive takes {takes} at once: what is beyond waits in the host, and that counts",)


def fewer(target: Target, named: int) -> tuple[str, ...]:
    """That requests which a title names have the drive's own queue depth, where that is less."""
    if target.original is None or named <= target.queue_depth:
        return ()
    takes = counted(target.queue_depth, "command")
    return (f"the drive takes {takes} at once: QD{named} is QD{target.queue_depth} here",)
