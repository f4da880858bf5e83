"""Sequential transfer: blocks of 2 MiB, queue depth 1, from LBA 0, 3 minutes.

The reviews ran it in Iometer on an unpartitioned drive. A drive that is passed over within three
minutes starts again at LBA 0. `-random-data` is Iometer's other data pattern; what a read reads
was written with it before. `-end` is the last 2 % of the drive, for 1 minute: the inner tracks of a
hard disk, where the reviews found its slowest transfer.
"""

from __future__ import annotations

from typing import Any, Literal

from drivelab.procedures.stream import RANDOM, WRITTEN_STATES, Stream
from drivelab.quantities import MIB
from drivelab.traits import TestTraits

END_SHARE = 0.02
USUAL: dict[str, Any] = {"duration_s": 180, "traits": TestTraits(pattern="sequential")}
LEADING = TestTraits(pattern="sequential", open=True, headline=True)


def _procedure(
    direction: Literal["read", "write"], variant: str = "", words: str = "", **more: Any
) -> Stream:
    return Stream(
        id=f"sequential-{direction}-2m{variant}",
        title=f"2 MB sequential {direction}{words}",
        group="four corners",
        direction=direction,
        order="sequential",
        block_bytes=2 * MIB,
        queue_depth=1,
        align_bytes=2 * MIB,
        **(USUAL | more),
    )


PROCEDURES = (
    _procedure("read", states=WRITTEN_STATES, traits=LEADING),
    _procedure("write", states=("new", "used", "used-trimmed"), traits=LEADING),
    _procedure("read", "-random-data", ", random data", data=RANDOM, written_first=True),
    _procedure("write", "-random-data", ", random data", data=RANDOM),
    *(
        _procedure(
            direction,
            "-end",
            ", end of the drive",
            end_share=END_SHARE,
            states=WRITTEN_STATES if direction == "read" else ("new", "used"),
            duration_s=60,
            default_for=("disk",),
            traits=TestTraits(pattern="sequential", place="at the end of the drive"),
        )
        for direction in ("read", "write")
    ),
)
