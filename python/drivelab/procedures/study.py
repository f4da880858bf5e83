"""Studies: tests of several points, each of which takes a drive of its own from new to steady.

A point costs in proportion to the drive, so a large drive gets fewer of them unless a review asks
for all with `--unabridged`; the results say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self, TypeVar

from drivelab.procedures.procedure import Procedure

FEWER_POINTS_BYTES = 128_000_000_000
"""Drives larger than this get fewer points."""

Point = TypeVar("Point")


@dataclass(frozen=True, kw_only=True)
class Study(Procedure):
    """A test of several points."""

    every_point: bool = False
    """All points, however large the drive."""

    def unabridged(self) -> Self:
        """The same study with all its points on every drive."""
        return replace(self, every_point=True)

    def points(
        self, every: Sequence[Point], fewer: Sequence[Point], capacity_bytes: int, quick: bool
    ) -> Sequence[Point]:
        """The points to measure on a drive of this size."""
        is_cut = capacity_bytes > FEWER_POINTS_BYTES and not self.every_point
        return fewer if quick or is_cut else every

    def cut_notes(self, capacity_bytes: int, quick: bool) -> tuple[str, ...]:
        """What a reader must know of points left out because the drive is large."""
        if quick or self.every_point or capacity_bytes <= FEWER_POINTS_BYTES:
            return ()
        limit = f"{FEWER_POINTS_BYTES / 1e9:.0f} GB"
        return (
            f"Fewer points, because the drive is larger than {limit}: `--unabridged` measures all.",
        )
