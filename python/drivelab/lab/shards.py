"""Parts of a sweep, for clusters that have only a queue of batch jobs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from drivelab.errors import RequestError
from drivelab.lab import checks
from drivelab.lab.points import Point, by_drive


def part(points: Sequence[Point], shard: str) -> list[Point]:
    """The points of part 3 of 16, "3/16": each is in one part, and parts differ by one point at
    most. Points that start from one drive stay together as far as that allows.

    Raises RequestError for what is no part of these points.
    """
    found = re.fullmatch(r"([1-9][0-9]*)/([1-9][0-9]*)", checks.text("shard", shard).strip())
    if found is None or int(found[1]) > int(found[2]):
        raise RequestError(
            f'shard = "{shard}": allowed: K/N, part K of N with K from 1 to N, e.g. 3/16', "shard"
        )
    number, count = int(found[1]), int(found[2])
    # A point may be there several times; its key says which they are.
    keys = list(dict.fromkeys(point.key for own in by_drive(points).values() for point in own))
    if count > len(keys):
        raise RequestError(
            f'shard = "{shard}": the sweep has {len(keys)} points; allowed: as many parts at most',
            "shard",
        )
    own = set(keys[(number - 1) * len(keys) // count : number * len(keys) // count])
    return [point for point in points if point.key in own]
