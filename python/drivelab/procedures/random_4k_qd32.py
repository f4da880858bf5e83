"""Random transfer at queue depth 32: blocks of 4 KiB, 4K-aligned, within 8 GiB, 3 minutes."""

from __future__ import annotations

from typing import Literal

from drivelab.procedures.procedure import Procedure
from drivelab.quantities import GIB, KIB


def _procedure(direction: Literal["read", "write"]) -> Procedure:
    return Procedure(
        id=f"random-{direction}-4k-qd32-aligned",
        title=f"4 KB random {direction}, queue depth 32, 4K-aligned",
        direction=direction,
        order="random",
        block_bytes=4 * KIB,
        queue_depth=32,
        align_bytes=4 * KIB,
        span_bytes=8 * GIB,
        duration_s=180,
    )


PROCEDURES = (_procedure("read"), _procedure("write"))
