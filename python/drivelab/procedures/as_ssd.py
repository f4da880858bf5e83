"""Sequential transfer of incompressible data, as AS SSD measures it: 1 GiB in pieces of 16 MiB.

Queue depth 1. The file lies at the start of the drive; before reading, the test writes it, as
AS SSD does. Its MB/s are MiB/s.
"""

from __future__ import annotations

from typing import Literal

from drivelab.procedures.stream import RANDOM, Stream
from drivelab.quantities import GIB, MIB
from drivelab.traits import TestTraits


def _procedure(direction: Literal["read", "write"]) -> Stream:
    return Stream(
        id=f"as-ssd-{direction}",
        title=f"AS SSD: sequential {direction} of incompressible data",
        group="resiliency",
        direction=direction,
        order="sequential",
        block_bytes=16 * MIB,
        queue_depth=1,
        align_bytes=16 * MIB,
        duration_s=180,
        data=RANDOM,
        span_bytes=GIB,
        written_first=direction == "read",
        once=True,
        states=("new", "tortured-random", "tortured-random-trimmed"),
        default_for=(),
        series_interval_s=0.1,
        traits=TestTraits(pattern="sequential", open=True),
    )


PROCEDURES = (_procedure("read"), _procedure("write"))
