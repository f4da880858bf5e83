"""Steady state as SNIA PTS 2.0.x defines it, as implemented in its open implementations.

Over a window of five rounds, the tracked variable y is steady if

- max(y) - min(y) is at most 20 % of the average of y, and
- the least-squares line of y rises or falls by at most 10 % of the average within the window.

Both limits belong to the steady state. They are decided in exact arithmetic: 0.2 and 0.1 aren't
binary fractions, and a window that lies on a limit must not depend on how its numbers round.
(fio's own `steadystate=` is another criterion: per-sample slope, strictly less.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

WINDOW_ROUNDS = 5
ROUNDS_MAX = 25
EXCURSION_LIMIT = Fraction(1, 5)
"""Largest max(y) - min(y), as a share of the average."""
SLOPE_LIMIT = Fraction(1, 10)
"""Largest rise or fall of the fitted line within the window, as a share of the average."""


@dataclass(frozen=True)
class Verdict:
    """What a window says. All but the numbers of rounds are in the unit of the variable."""

    first_round: int
    """Number of the window's first round; rounds count from 1."""
    values: tuple[float, ...]
    average: float
    excursion: float
    """max - min."""
    slope: float
    """Of the least-squares line, per round."""
    line: tuple[float, ...]
    """The line at every round of the window."""
    steady: bool

    @property
    def last_round(self) -> int:
        """Number of the window's last round."""
        return self.first_round + len(self.values) - 1

    @property
    def allowed_excursion(self) -> float:
        """Largest max - min of a steady window with this average."""
        return float(EXCURSION_LIMIT) * self.average

    @property
    def excursion_percent(self) -> float | None:
        """max - min in percent of the average; None if that is 0."""
        return 100 * self.excursion / self.average if self.average else None

    @property
    def slope_excursion(self) -> float:
        """By how much the line rises or falls from the window's first round to its last."""
        return abs(self.slope) * (len(self.values) - 1)

    @property
    def allowed_slope_excursion(self) -> float:
        """Largest rise or fall of the line of a steady window with this average."""
        return float(SLOPE_LIMIT) * self.average

    @property
    def slope_percent(self) -> float | None:
        """The line's rise or fall in percent of the average; None if that is 0."""
        return 100 * self.slope_excursion / self.average if self.average else None


def judge(values: Sequence[float], first_round: int = 1) -> Verdict:
    """What a window says; needs at least two values. Nothing done (average 0) isn't steady."""
    exact = [Fraction(value) for value in values]
    count = len(exact)
    average = sum(exact, Fraction(0)) / count
    middle = Fraction(count - 1, 2)
    spread = sum(((x - middle) ** 2 for x in range(count)), Fraction(0))
    slope = sum(((x - middle) * y for x, y in enumerate(exact)), Fraction(0)) / spread
    excursion = max(exact) - min(exact)
    return Verdict(
        first_round=first_round,
        values=tuple(values),
        average=float(average),
        excursion=float(excursion),
        slope=float(slope),
        line=tuple(float(average + slope * (x - middle)) for x in range(count)),
        steady=average > 0
        and excursion <= EXCURSION_LIMIT * average
        and abs(slope) * (count - 1) <= SLOPE_LIMIT * average,
    )


def last_window(history: Sequence[float]) -> Verdict | None:
    """What the last rounds of a history say; None before there are enough of them."""
    if len(history) < WINDOW_ROUNDS:
        return None
    return judge(history[-WINDOW_ROUNDS:], len(history) - WINDOW_ROUNDS + 1)
