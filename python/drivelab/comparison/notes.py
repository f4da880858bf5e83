"""What tests say of their measurement: once, where many of them say the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from drivelab.comparison.pairing import Pair
from drivelab.comparison.sides import Side

NAMED_MIN = 3
"""So many tests are always named; more of them if they are no more than half."""


@dataclass(frozen=True)
class Note:
    """A note with the letters of its sides, and the tests that have it."""

    text: str
    pairs: tuple[Pair, ...]
    test_count: int
    """Of the whole comparison."""

    @property
    def is_common(self) -> bool:
        """Whether it is said of the comparison instead of its tests."""
        count = len(self.pairs)
        return 1 < count == self.test_count or count > max(NAMED_MIN, self.test_count // 2)

    @property
    def whose(self) -> str:
        """The tests that have it, in words."""
        if not self.is_common:
            return "; ".join(f"{pair.title}, {pair.state}" for pair in self.pairs)
        count = len(self.pairs)
        return "all tests" if count == self.test_count else f"{count} of {self.test_count} tests"


def notes(sides: Sequence[Side], pairs: Sequence[Pair]) -> list[Note]:
    """Every note once, those that most tests have first."""
    found: dict[str, list[Pair]] = {}
    for pair in pairs:
        for text in pair.notes(sides):
            found.setdefault(text, []).append(pair)
    told = [Note(text, tuple(of), len(pairs)) for text, of in found.items()]
    return sorted(told, key=lambda note: not note.is_common)
