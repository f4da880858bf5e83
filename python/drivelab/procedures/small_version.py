"""Small versions of a drive: what a test says of one that it was given, and one made for a test
that would take too long on the whole drive."""

from __future__ import annotations

from collections.abc import Sequence

from drivelab.errors import RequestError
from drivelab.model import SCALE
from drivelab.targets import Target


def divisor_of(target: Target) -> int:
    """N of a small version of 1/N, as it was asked for; 1 of a whole drive, and of a real one."""
    return 1 if target.original is None else int(target.parameter(SCALE) or 1)


def notes(target: Target, words: str) -> tuple[str, ...]:
    """What a reader must know where the drive is a small version of one; nothing of a whole one.

    It goes by the name that it was asked for by: 1/64, also where whole blocks make it 1/62.
    """
    divisor = divisor_of(target)
    return (f"a small version, 1/{divisor} of the drive: {words}",) if divisor > 1 else ()


def check_model(target: Target) -> None:
    """Raises RequestError for a drive of which there is no model to make others of."""
    if target.original is None:
        target.variant(())


def variant(target: Target, overrides: Sequence[tuple[str, str]], most_bytes: int) -> Target:
    """A new drive of the same model with other parameters, and as much smaller by a power of two as
    it takes to have `most_bytes`, or as can be.

    Raises RequestError for parameters that the drive can't have.
    """
    original = target.original
    if original is None or target.capacity_bytes <= most_bytes:
        return target.variant(overrides)
    divisor = 1
    while original.user_bytes > most_bytes * divisor:
        divisor *= 2
    while original.user_bytes < target.capacity_bytes * divisor:
        try:
            return target.variant([*overrides, (SCALE, str(divisor))])
        except RequestError:
            # Too small for something that it holds back; what no size can have is refused below.
            divisor //= 2
    return target.variant(overrides)
