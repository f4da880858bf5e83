"""Random transfer: blocks of 4 KiB within 8 GiB, 3 minutes.

The reviews' traditional test has queue depth 3 and is sector-aligned: any multiple of 512 bytes, so
that seven of eight blocks touch two map units of 4 KiB. The later ones align to 4 KiB, as file
systems do. "8GB sector space" is read as 16 777 216 sectors. Queue depth 32 is the most that the
link's command queue allows, 1 the least. `-random-data` is Iometer's other data pattern; what a
read reads was written with it before. `-drive` reaches over the whole drive.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from drivelab.procedures.stream import RANDOM, WRITTEN_STATES, Stream
from drivelab.quantities import GIB, KIB, SECTOR_BYTES
from drivelab.traits import TestTraits

Direction = Literal["read", "write"]
DIRECTIONS: tuple[Direction, ...] = ("read", "write")
ALIGNMENTS = {"sector": SECTOR_BYTES, "aligned": 4 * KIB}
WITH_TRIM = ("new", "used", "used-trimmed")
NAMED: dict[str, Any] = {"default_for": ()}
PLAIN = TestTraits(pattern="random")
OPEN = replace(PLAIN, open=True)
WORDS = {"sector": "sector-aligned", "aligned": "4K-aligned"}
USUAL: dict[str, Any] = {"span_bytes": 8 * GIB, "duration_s": 180, "traits": PLAIN}


def _states(direction: Direction) -> dict[str, Any]:
    return {"states": WRITTEN_STATES} if direction == "read" else {}


def _procedure(direction: Direction, depth: int, alignment: str, **more: Any) -> Stream:
    return Stream(
        id=f"random-{direction}-4k-qd{depth}-{alignment}",
        title=f"4 KB random {direction}, queue depth {depth}, {WORDS[alignment]}",
        group="four corners",
        direction=direction,
        order="random",
        block_bytes=4 * KIB,
        queue_depth=depth,
        align_bytes=ALIGNMENTS[alignment],
        **(USUAL | _states(direction) | more),
    )


def _random_data(direction: Direction, depth: int, *, default: bool) -> Stream:
    plain = _procedure(direction, depth, "aligned")
    return _procedure(
        direction,
        depth,
        "aligned",
        data=RANDOM,
        written_first=direction == "read",
        states=("new", "used"),
        **({} if default else NAMED),
    ).named(f"{plain.id}-random-data", f"{plain.title}, random data")


PROCEDURES = (
    _procedure("read", 3, "sector", traits=OPEN),
    _procedure("read", 3, "aligned", traits=replace(PLAIN, headline=True)),
    _procedure("write", 3, "sector", states=WITH_TRIM, traits=replace(OPEN, headline=True)),
    _procedure("write", 3, "aligned", states=WITH_TRIM, traits=OPEN),
    *(_random_data(direction, 3, default=True) for direction in DIRECTIONS),
    *(_procedure(direction, 32, "aligned") for direction in DIRECTIONS),
    *(_random_data(direction, 32, default=False) for direction in DIRECTIONS),
    *(_procedure(direction, 1, name, **NAMED) for direction in DIRECTIONS for name in ALIGNMENTS),
    _procedure("read", 3, "sector", span_bytes=None, **NAMED).named(
        "random-read-4k-qd3-drive",
        "4 KB random read over the whole drive, queue depth 3, sector-aligned",
    ),
)
