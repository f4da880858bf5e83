"""The clock of a served drive: how its time follows ours."""

from __future__ import annotations

import math

from drivelab.errors import RequestError

REAL, INSTANT = "real", "instant"
SCALE_MIN, SCALE_MAX = 0.001, 1000.0


def parse(text: str, option: str = "--clock") -> str:
    """real, instant, or drive seconds per second as a number; raises RequestError."""
    word = text.strip().lower()
    if word in (REAL, INSTANT):
        return word
    try:
        scale = float(word)
    except ValueError:
        scale = math.nan
    if not SCALE_MIN <= scale <= SCALE_MAX:
        raise RequestError(
            f'{option} "{text}": allowed: real, instant, or how many seconds of the drive pass in '
            f"one second, {SCALE_MIN:g} to {SCALE_MAX:g} (2: twice as fast as the model)"
        )
    return REAL if scale == 1 else repr(scale)


def words(clock: str) -> str:
    """What a clock means, for people."""
    if clock == REAL:
        return "real: requests take as long as the model's do"
    if clock == INSTANT:
        return "instant: requests are answered at once; the drive's own time runs ahead"
    scale = float(clock)
    return f"{scale:g} s of the drive in 1 s: its latencies are {1 / scale:.3g} times the model's"
