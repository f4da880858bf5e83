"""Which point a worker measures next: one whose drive it has prepared, as long as there is one.

Points that start from one drive go to one worker, so the drive is prepared once. When no drive is
left that nobody has begun, a worker that has nothing to do takes points from the drive with most of
them left, unless preparing it again would take longer than waiting. What is measured doesn't depend
on who does it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from drivelab.lab.points import Point, by_drive


@dataclass
class Drives:
    """Points that start from one drive."""

    left: deque[Point]
    prepare_s: float = 0.0
    """What its preparation took, and a point; 0 as long as nobody knows."""
    point_s: float = 0.0


class Turns:
    """The points of a sweep that nobody has begun, for any number of workers."""

    def __init__(self, points: Iterable[Point]) -> None:
        self._drives = {key: Drives(deque(own)) for key, own in by_drive(points).items()}
        # Those with most points first: they are the longest to wait for at the end.
        ordered = sorted(self._drives, key=lambda key: -len(self._drives[key].left))
        self._fresh = deque(ordered)
        self._alone = {key for key, each in self._drives.items() if len(each.left) == 1}
        self._lock = threading.Lock()

    def is_alone(self, point: Point) -> bool:
        """Whether it is the only one of its drive, which nobody needs afterwards."""
        return point.drive.key in self._alone

    def next(self, prepared: str | None) -> Point | None:
        """The next point of a worker that has prepared the drive of this key; None at the end."""
        with self._lock:
            key = (
                prepared if prepared is not None and self._drives[prepared].left else self._other()
            )
            return None if key is None else self._drives[key].left.popleft()

    def took(self, point: Point, prepare_s: float, point_s: float) -> None:
        """Learns what a point took; `prepare_s` is 0 where the drive was there already."""
        with self._lock:
            found = self._drives[point.drive.key]
            found.prepare_s, found.point_s = max(found.prepare_s, prepare_s), point_s

    def _other(self) -> str | None:
        if self._fresh:
            return self._fresh.popleft()
        found = [(key, each) for key, each in self._drives.items() if each.left]
        # On average the worker that has the drive is half through a point.
        worth = [
            (each.point_s * len(each.left), len(each.left), key)
            for key, each in found
            if each.prepare_s <= (len(each.left) - 0.5) * each.point_s
        ]
        return max(worth, key=lambda item: item[:2])[2] if worth else None
