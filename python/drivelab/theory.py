"""Closed formulas of write amplification, to draw beside what a drive does."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass


def fifo_write_amplification(spare_ratio: float) -> float:
    """Write amplification of a page map that cleans the block that was written longest ago.

    Uniform random writes of whole pages, steady state, many blocks. `spare_ratio` is spare area
    over user capacity; with a = 1 + spare_ratio, WA = 1 / (1 - x), where x = e^(-a (1 - x)) is what
    is valid of a block when its turn comes: x = -W(-a e^(-a)) / a (REFERENCES.md, [1]). Greedy
    cleaning does a little better.

    >>> round(fifo_write_amplification(0.28), 2)
    2.48

    Raises ValueError for a spare area that isn't above 0.
    """
    _check_spare(spare_ratio)
    # Newton's way from below: x - e^(-a (1 - x)) is concave, so no step goes beyond its first zero.
    # scipy has W, but takes as long to load as the rest of a command.
    raw, valid, step = 1 + spare_ratio, 0.0, 1.0
    while step > 0 and valid < 1:
        kept = math.exp(-raw * (1 - valid))
        step = (kept - valid) / max(1 - raw * kept, 1e-12)
        valid += step
    return 1 / (1 - valid) if valid < 1 else math.inf


@dataclass(frozen=True)
class Part:
    """A part of the user data that is written uniformly."""

    data_share: float
    """Of the user data."""
    write_share: float
    """Of the writes."""

    def __post_init__(self) -> None:
        if not 0 < self.data_share <= 1:
            raise ValueError(f"data_share = {self.data_share:g}: must be above 0, at most 1")
        if not 0 <= self.write_share <= 1:
            raise ValueError(f"write_share = {self.write_share:g}: must be 0 to 1")


def mixed_write_amplification(parts: Sequence[Part], spare_ratio: float) -> float:
    """The same where parts of the data are written at different rates and share blocks.

    The A of A = sum r_i / (1 - exp(-a r_i / (A f_i))), with r_i the shares of the writes, f_i those
    of the data, a = 1 + spare_ratio (REFERENCES.md, [1]).

    >>> hot, cold = Part(0.2, 0.8), Part(0.8, 0.2)
    >>> round(mixed_write_amplification([hot, cold], 1 / 0.875 - 1), 2)
    4.54

    Raises ValueError for a spare area that isn't above 0, or shares whose sum isn't 1.
    """
    _check_spare(spare_ratio)
    _check_whole(parts)

    def is_enough(amplification: float) -> bool:
        waits = (1 + spare_ratio) / amplification
        copied = (
            part.write_share / -math.expm1(-waits * part.write_share / part.data_share)
            # What is never written is copied each time round: the limit of the same.
            if part.write_share
            else part.data_share / waits
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

    Raises ValueError for a spare area that isn't above 0, or shares whose sum isn't 1.
    """
    _check_spare(spare_ratio)
    _check_whole(parts)

    # What is never written needs no spare area.
    written = [part for part in parts if part.write_share]

    def spare_of(part: Part, price: float) -> float:
        return _root(1e-6, 1e4, lambda spare: _gain(part, spare) <= price)

    def is_enough(price: float) -> bool:
        used = (part.data_share * spare_of(part, price) for part in written)
        return sum(used) <= spare_ratio

    price = _root(1e-9, 1e9, is_enough)
    return sum(
        part.write_share * fifo_write_amplification(spare_of(part, price)) for part in written
    )


def _check_spare(spare_ratio: float) -> None:
    if not (spare_ratio > 0 and math.isfinite(spare_ratio)):
        raise ValueError(f"spare_ratio = {spare_ratio:g}: must be above 0")


def _check_whole(parts: Sequence[Part]) -> None:
    for name in ("data_share", "write_share"):
        total = sum(getattr(part, name) for part in parts)
        if not math.isclose(total, 1, abs_tol=1e-6):
            raise ValueError(f"{name} of all parts = {total:g}: must be 1")


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
