"""When two numbers differ, and when what was published is met: decided here and nowhere else.

A reader meets one figure in several places: a table, a chart, a finding, the page of all figures.
All of them ask this module, so that none calls the same what another calls different.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from drivelab.estimates import apart

CHANGE_RATIO = 0.02
"""Two values whose ratio is no larger than 1.02 are called the same, whichever is the larger."""
TOLERANCE_RATIO = 0.10
"""A published value is met within this, the limit included."""


def differ(
    one: float, other: float, ones: Sequence[float] = (), others: Sequence[float] = ()
) -> bool:
    """Whether two values, of 0 or more, are more than 2 % apart; the same whichever comes first.

    `ones` and `others` are what repeats gave, if there were any: a difference of their means that
    is within its 95 % interval is none, however large.
    """
    low, high = sorted((one, other))
    if high <= low * (1 + CHANGE_RATIO):
        return False
    return not (len(ones) > 1 or len(others) > 1) or apart(ones or (one,), others or (other,))


def size(one: float, other: float) -> float:
    """How far two positive values are apart: the logarithm of their ratio; infinite beside 0."""
    low, high = sorted((one, other))
    if low == high:
        return 0.0
    return math.log(high / low) if low > 0 else math.inf


def is_met(error_ratio: float) -> bool:
    """Whether a model meets a published value that it is off by this share."""
    return abs(error_ratio) <= TOLERANCE_RATIO


def keeps(relation: str, modelled: float, low: float, high: float) -> bool:
    """Whether a value keeps a published bound: "lt", "le", "gt", "ge", or a range with both ends.

    "Less than 0.3" is missed by 0.3, "at most 0.3" isn't.
    """
    if relation == "lt":
        return modelled < high
    if relation == "gt":
        return modelled > low
    above = relation == "le" or modelled >= low
    below = relation == "ge" or modelled <= high
    return above and below
