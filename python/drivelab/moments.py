"""Mean and standard deviation of a whole of which only those of its parts are known."""

from __future__ import annotations

import math
from collections.abc import Sequence


def pooled(
    counts: Sequence[int], means: Sequence[float], stddevs: Sequence[float]
) -> tuple[float, float]:
    """Mean and standard deviation of all samples together, of which there must be one.

    Squares are taken of differences to the mean only, so that parts with long and almost equal
    times keep their deviation.
    """
    total = sum(counts)
    mean = math.fsum(count * part for count, part in zip(counts, means, strict=True)) / total
    squares = math.fsum(
        count * (stddev**2 + (part - mean) ** 2)
        for count, part, stddev in zip(counts, means, stddevs, strict=True)
    )
    return mean, math.sqrt(squares / total)
