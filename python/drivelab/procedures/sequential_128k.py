"""Sequential transfer of the 2012 reviews: blocks of 128 KiB, queue depth 1, 1 minute."""

from __future__ import annotations

from typing import Literal

from drivelab.procedures.stream import WRITTEN_STATES, Stream
from drivelab.quantities import KIB
from drivelab.traits import TestTraits


def _procedure(direction: Literal["read", "write"]) -> Stream:
    return Stream(
        id=f"sequential-{direction}-128k-qd1",
        title=f"128 KB sequential {direction}, queue depth 1",
        group="four corners",
        direction=direction,
        order="sequential",
        block_bytes=128 * KIB,
        queue_depth=1,
        align_bytes=128 * KIB,
        duration_s=60,
        states=WRITTEN_STATES if direction == "read" else ("new", "used"),
        traits=TestTraits(pattern="sequential"),
    )


PROCEDURES = (_procedure("read"), _procedure("write"))
