"""Closed formulas of write amplification, to draw beside what a drive does."""

from __future__ import annotations

import math


def fifo_write_amplification(spare_ratio: float) -> float:
    """Write amplification of a page map that cleans the block that was written longest ago.

    Uniform random writes of whole pages, steady state, many blocks. `spare_ratio` is spare area
    over user capacity; with r = 1 / (1 + spare_ratio), WA = 1 / (1 - x), where
    x = -r W(-(1/r) e^(-1/r)) (REFERENCES.md, [1]). Greedy cleaning does a little better.

    >>> round(fifo_write_amplification(0.28), 2)
    2.48
    """
    # Here, because it takes longer to load than most commands take in all.
    from scipy.special import lambertw

    ratio = 1 / (1 + spare_ratio)
    valid = -ratio * float(lambertw(-1 / ratio * math.exp(-1 / ratio)).real)
    return 1 / (1 - valid)
