"""What a test says of a small version of a drive, whose results it can't give at full size."""

from __future__ import annotations

from drivelab.targets import Target


def notes(target: Target, words: str) -> tuple[str, ...]:
    """What a reader must know where the drive is a small version of one; nothing of a whole one."""
    original = target.original
    if original is None or original.user_bytes <= target.capacity_bytes:
        return ()
    divisor = round(original.user_bytes / target.capacity_bytes)
    return (f"a small version, 1/{divisor} of the drive: {words}",) if divisor > 1 else ()
