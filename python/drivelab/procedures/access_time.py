"""Access time: single requests over the whole drive, one at a time.

- `access-time`: reads of 512 bytes at any sector for one minute, as drive-information tools measure
  "average read access".
- `random-write-4k-qd1-drive`: sector-aligned writes of 4 KiB for three minutes; its maximum is the
  longest that a program waits for one small write.
"""

from __future__ import annotations

from drivelab.procedures.stream import WRITTEN_STATES, Stream
from drivelab.quantities import KIB, SECTOR_BYTES
from drivelab.traits import TestTraits

PROCEDURES = (
    Stream(
        id="access-time",
        title="Access time, 512 B random reads over the whole drive, queue depth 1",
        group="access times",
        direction="read",
        order="random",
        block_bytes=SECTOR_BYTES,
        queue_depth=1,
        align_bytes=SECTOR_BYTES,
        duration_s=60,
        states=WRITTEN_STATES,
        traits=TestTraits(pattern="access", open=True),
    ),
    Stream(
        id="random-write-4k-qd1-drive",
        title="4 KB random write over the whole drive, queue depth 1, sector-aligned",
        group="access times",
        direction="write",
        order="random",
        block_bytes=4 * KIB,
        queue_depth=1,
        align_bytes=SECTOR_BYTES,
        duration_s=180,
        traits=TestTraits(pattern="random"),
    ),
)
