"""How long a drive keeps the speed that it begins with, by the second."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

TOGETHER = 10
"""Seconds whose median or mean is one speed, at most."""
FULL_SPEED = 0.9
"""What is left of the first seconds' speed where it has fallen."""
FALLEN = 3
"""Seconds that are all slower, where the speed has fallen."""


def held_seconds(iops: Sequence[float]) -> int | None:
    """Seconds before the speed falls from what it was at first; None: it doesn't."""
    for at in range(1, len(iops) - FALLEN + 1):
        first = statistics.median(iops[: min(at, TOGETHER)])
        if max(iops[at : at + FALLEN]) < FULL_SPEED * first:
            return at
    return None
