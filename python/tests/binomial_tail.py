"""Tails of the binomial distribution, by a sum that shares nothing with the engine."""

from __future__ import annotations

from math import exp, lgamma, log, log1p


def more_than(most: int, bits: int, rate: float) -> float:
    """Chance that of so many bits more than `most` are wrong."""
    if rate <= 0:
        return 0.0

    def chance(wrong: int) -> float:
        ways = lgamma(bits + 1) - lgamma(wrong + 1) - lgamma(bits - wrong + 1)
        return exp(ways + wrong * log(rate) + (bits - wrong) * log1p(-rate))

    # From the far end, where terms are small: nothing is lost to rounding.
    last = min(bits, most + 400)
    return sum(chance(wrong) for wrong in range(last, most, -1))
