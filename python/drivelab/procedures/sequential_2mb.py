"""Sequential transfer: blocks of 2 MiB, queue depth 1, the whole drive from LBA 0, 3 minutes.

The reviews ran it in Iometer on an unpartitioned drive. A drive that is passed over within three
minutes starts again at LBA 0.
"""

from __future__ import annotations

from typing import Literal

from drivelab.procedures.procedure import Procedure
from drivelab.quantities import MIB


def _procedure(direction: Literal["read", "write"]) -> Procedure:
    return Procedure(
        id=f"sequential-{direction}-2m",
        title=f"2 MB sequential {direction}",
        direction=direction,
        order="sequential",
        block_bytes=2 * MIB,
        queue_depth=1,
        align_bytes=2 * MIB,
        duration_s=180,
    )


PROCEDURES = (_procedure("read"), _procedure("write"))
