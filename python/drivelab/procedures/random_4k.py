"""Random transfer: blocks of 4 KiB, queue depth 3, within 8 GiB, 3 minutes.

The reviews' traditional test is sector-aligned: any multiple of 512 bytes, so that seven of eight
blocks touch two map units of 4 KiB. The later ones align to 4 KiB, as file systems do.
"8GB sector space" is read as 16 777 216 sectors.
"""

from __future__ import annotations

from typing import Literal

from drivelab.procedures.procedure import Procedure
from drivelab.quantities import GIB, KIB, SECTOR_BYTES


def _procedure(direction: Literal["read", "write"], align_bytes: int) -> Procedure:
    name, words = ("aligned", "4K-aligned") if align_bytes > SECTOR_BYTES else ("sector", "")
    return Procedure(
        id=f"random-{direction}-4k-qd3-{name}",
        title=f"4 KB random {direction}, queue depth 3, {words or 'sector-aligned'}",
        direction=direction,
        order="random",
        block_bytes=4 * KIB,
        queue_depth=3,
        align_bytes=align_bytes,
        span_bytes=8 * GIB,
        duration_s=180,
    )


PROCEDURES = tuple(
    _procedure(direction, align_bytes)
    for direction in ("read", "write")
    for align_bytes in (SECTOR_BYTES, 4 * KIB)
)
