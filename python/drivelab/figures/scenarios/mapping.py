"""What the size of a map unit and compression do."""

from __future__ import annotations

from drivelab.figures.scenarios.bench import (
    Bench,
    Found,
    bytes_at_peak,
    rate,
    scenarios,
)
from drivelab.quantities import GIB, KIB, MIB
from drivelab.states import steps
from drivelab.states.image import ImageCopy
from drivelab.states.steps import REPEATING

PARTS = 8
UNITS_KIB = (4, 16, 64)


def map_units(bench: Bench) -> Found:
    """Sequential and random writes on a used drive with map units of 4, 16 and 64 KB."""
    found: dict[str, float | None] = {}
    for kib in UNITS_KIB:
        drive = bench.small(PARTS, ("ftl.map_unit_bytes", str(kib * KIB)))
        bench.fill(drive)
        steps.copy_image(drive, bench.own_seed("image"), bench.progress, 0.0, ImageCopy())
        bench.settle(drive)
        long = bench.write(
            *(drive.clone(), "sequential"),
            rw="write",
            block=2 * MIB,
            depth=1,
            seconds=30.0,
            data=REPEATING,
        )
        small = bench.write(drive, "random", depth=3, span=8 * GIB, seconds=60.0, data=REPEATING)
        found |= {f"sequential_{kib}": rate(long), f"random_{kib}": rate(small)}
    return found


def peak_by_data(bench: Bench) -> Found:
    """Shares of a filled drive that it takes at random before it is slower than 0.8 of its start,
    of data that compress to half, and of data that don't."""
    found = {}
    for name, data in (("compressible", "compressible:50"), ("random", "random")):
        drive = bench.small(PARTS)
        bench.fill(drive, data)
        found[f"share_{name}"] = bytes_at_peak(bench, drive, data)
    return found


SCENARIOS = scenarios(
    ("map-units", "Used drives with map units of 4, 16 and 64 KB", map_units),
    ("peak-by-data", "How much a drive takes at its peak, by its data", peak_by_data),
)
