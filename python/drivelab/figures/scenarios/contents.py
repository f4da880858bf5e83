"""What drives make of what is written: the four corners with data that repeat and that don't."""

from __future__ import annotations

from drivelab.figures.scenarios.bench import Bench, Found, rate, scenarios
from drivelab.quantities import GIB, KIB, MIB
from drivelab.states.steps import RANDOM, REPEATING
from drivelab.workload import Rw

PARTS = 4
SECONDS = 10.0
CORNERS: tuple[tuple[str, Rw, int, int, int | None], ...] = (
    ("sequential_read", "read", 2 * MIB, 1, None),
    ("random_read", "randread", 4 * KIB, 3, 8 * GIB),
    ("sequential_write", "write", 2 * MIB, 1, None),
    ("random_write", "randwrite", 4 * KIB, 3, 8 * GIB),
)
"""Name, what is done, block, queue depth and span: as the tests of these names, but shorter."""


def corners_by_data(bench: Bench) -> Found:
    """The four corners for ten seconds each, on a quarter of the drive that holds the same data:
    `..._repeating` and `..._random`, in MiB/s."""
    found: dict[str, float | None] = {}
    new = bench.small(PARTS)
    for data in (REPEATING, RANDOM):
        drive = new.clone()
        bench.fill(drive, data, min(8 * GIB, drive.capacity_bytes))
        bench.settle(drive)
        for name, rw, block, depth, span in CORNERS:
            report = bench.write(
                *(drive.clone(), name),
                rw=rw,
                block=block,
                depth=depth,
                span=min(span or 8 * GIB, drive.capacity_bytes),
                seconds=SECONDS,
                data=data,
            )
            found[f"{name}_{data}"] = rate(report, "write" if "write" in name else "read")
    return found


SCENARIOS = scenarios(
    ("corners-by-data", "The four corners with repeating and random data", corners_by_data),
)
