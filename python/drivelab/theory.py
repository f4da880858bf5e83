"""Closed formulas of write amplification, to draw beside what a drive does."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass


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


@dataclass(frozen=True)
class Part:
    """A part of the user data that is written uniformly."""

    data_share: float
    """Of the user data."""
    write_share: float
    """Of the writes."""


def mixed_write_amplification(parts: Sequence[Part], spare_ratio: float) -> float:
    """The same where parts of the data are written at different rates and share blocks.

    The A of A = sum r_i / (1 - exp(-a r_i / (A f_i))), with r_i the shares of the writes, f_i those
    of the data, a = 1 + spare_ratio (REFERENCES.md, [1]).

    >>> hot, cold = Part(0.2, 0.8), Part(0.8, 0.2)
    >>> round(mixed_write_amplification([hot, cold], 1 / 0.875 - 1), 2)
    4.54
    """

    def is_enough(amplification: float) -> bool:
        waits = (1 + spare_ratio) / amplification
        copied = (
            part.write_share / -math.expm1(-waits * part.write_share / part.data_share)
            for part in parts
        )
        return sum(copied) <= amplification

    return _root(1.0, 1e6, is_enough)


def separated_write_amplification(parts: Sequence[Part], spare_ratio: float) -> float:
    """The same where no block holds data of two parts, each having the share of the spare area that
    makes the sum least: there a little more helps all parts alike (REFERENCES.md, [1]).

    >>> hot, cold = Part(0.2, 0.8), Part(0.8, 0.2)
    >>> round(separated_write_amplification([hot, cold], 1 / 0.875 - 1), 2)
    2.94
    """

    def spares(price: float) -> list[float]:
        return [
            _root(1e-6, 1e4, lambda spare, part=part: _gain(part, spare) <= price)  # type: ignore[misc]
            for part in parts
        ]

    def is_enough(price: float) -> bool:
        used = zip(parts, spares(price), strict=True)
        return sum(part.data_share * spare for part, spare in used) <= spare_ratio

    found = zip(parts, spares(_root(1e-9, 1e9, is_enough)), strict=True)
    return sum(part.write_share * fifo_write_amplification(spare) for part, spare in found)


def _gain(part: Part, spare_ratio: float) -> float:
    """By how much the writes of a part are less for a little more spare area."""
    step = spare_ratio * 1e-4
    below = fifo_write_amplification(spare_ratio - step)
    above = fifo_write_amplification(spare_ratio + step)
    return part.write_share / part.data_share * (below - above) / (2 * step)


def _root(low: float, high: float, holds: Callable[[float], bool]) -> float:
    """Where a condition begins to hold between two numbers, above which it holds."""
    for _ in range(100):
        # Between numbers of very different size, by their ratio.
        middle = math.sqrt(low * high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
