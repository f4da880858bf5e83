"""docs/modern-drives.md, "Zones": zones written whole in random order, model and drive.

As SSD-iq did: on one die of a drive, with as large a part of every zone and write as of the drive.
Zones are drawn and written as in the test `zone-size`, but of SSD-iq's sizes, and for longer: three
capacities before anything is measured, and then one and a half, where the test writes one and a
half, and one.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from modelled import Modelled

import drivelab as dl
from drivelab.counters import spent_in, write_amplification
from drivelab.figures.text import deviation
from drivelab.procedures.flow import flow
from drivelab.procedures.zones import BLOCK_BYTES, places_of, requests_at
from drivelab.progress import TaskProgress
from drivelab.quantities import GIB
from drivelab.targets import EngineTarget, Report
from drivelab.workload import BlockSize, Job, Recorded

SETTLING, MEASURED_CAPACITIES = 3.0, 1.5
SEED = 1
SIZES = (16.0, 4.0, 2.58, 2.0, 1.06, 1.0)
"""GiB of a zone."""


@dataclass(frozen=True)
class Zones:
    """Zones of one size."""

    mib_per_s: float
    amplification: float


MEASURED: Mapping[str, Mapping[float, float]] = {
    "micron-7450-max-800gb": {16: 1363, 4: 1377, 2.58: 1358, 1.06: 1140, 1: 1125},
    "micron-7450-pro-960gb": {16: 1380, 4: 1368, 2.58: 1269, 2: 1123, 1: 730},
    "skhynix-pe8110-960gb": {16: 1396, 4: 1377, 2.58: 1237, 2: 1185, 1.06: 797},
    "samsung-pm9a3-960gb": {16: 1439, 4: 950, 2.58: 679, 1.06: 487, 1: 480},
    "solidigm-p5520-1920gb": {16: 1722, 2.58: 847, 2: 1048, 1.06: 493, 1: 450},
    "wd-datacenter-960gb": {16: 491, 4: 407, 2.58: 361, 2: 338, 1.06: 253},
}
"""MiB/s, by GiB of a zone."""
FITTED = {
    ("samsung-pm9a3-960gb", 16.0),
    ("samsung-pm9a3-960gb", 1.06),
    ("solidigm-p5520-1920gb", 2.58),
    ("wd-datacenter-960gb", 1.06),
}
"""What tPROG of a drive, or how many blocks its superblocks have, was fitted to."""
COUNTED = "micron-7450-max-800gb"
AMPLIFICATION: Mapping[float, float] = {16: 1.044, 4: 1.033, 2.58: 1.049, 1.06: 1.195, 1: 1.206}
"""Of the drive that has a counter, by GiB of a zone."""


def filled(part: dl.Drive) -> EngineTarget:
    """One die of a drive, written once in order."""
    target = EngineTarget(part.model, part.seed)
    sizes = (BlockSize(bytes=BLOCK_BYTES),)
    target.run([Job(name="fill", rw="write", block_sizes=sizes)], TaskProgress("fill"))
    return target


def written(report: Report, share: int) -> Zones:
    """What the writes of a run on one die make of a drive that has so many."""
    amplification = write_amplification(spent_in(report))
    assert amplification is not None
    return Zones(share * float(flow(report, "write")["mib_per_s"] or 0), amplification)


def zones(part: dl.Drive, share: int, gib: float) -> Zones:
    """One die of a drive that has so many, with its part of every zone."""
    target, progress = filled(part), TaskProgress("zones")
    block = BLOCK_BYTES // share
    zone = round(gib * GIB / share / block) * block
    order = np.random.default_rng(SEED)
    job = Job(name="zones", source=Recorded(pacing="closed"))
    report = {}
    for capacities in (SETTLING, MEASURED_CAPACITIES):
        count = round(capacities * target.capacity_bytes / zone)
        drawn = order.integers(0, target.capacity_bytes // zone, count)
        report = target.run_requests(
            job, requests_at(places_of(drawn, zone, block), block), progress
        )
    found = written(report, share)
    print(part.name, gib, found, file=sys.stderr, flush=True)
    return found


HEADS = ("drive", *(f"{size:g} GiB" for size in SIZES))
TOLERANCE = 0.15


PartOf = Callable[[str], tuple[dl.Drive, int]]
"""A die of a model, and how many the drive has."""


def _zones(kept: Modelled, part_of: PartOf, model: str, gib: float) -> Zones:
    return kept.of(model, f"zones of {gib:g} GiB", Zones, lambda: zones(*part_of(model), gib))


def rows(kept: Modelled, part_of: PartOf) -> tuple[list[list[str]], list[float]]:
    """Rates of all drives, measured / modelled; and by how much each that wasn't fitted is off."""
    found, off = [], []
    for model, measured in MEASURED.items():
        row = [f"`{model}`"]
        for size in SIZES:
            cell = ""
            if size in measured:
                now = _zones(kept, part_of, model, size).mib_per_s
                remark = deviation(now, measured[size])
                if (model, size) in FITTED:
                    remark += ", fitted"
                else:
                    off.append(now / measured[size] - 1)
                cell = f"{measured[size]:.0f} / {now:.0f} ({remark})"
            row.append(cell)
        found.append(row)
    return found, off


def how_far(off: Sequence[float], tolerance: float) -> str:
    """Median and worst of what predictions are off by, and how many are near, for a sentence."""
    errors = [abs(error) for error in off]
    within = sum(error <= tolerance for error in errors)
    return (
        f"the median is off by {100 * statistics.median(errors):.0f} %, the worst by "
        f"{100 * max(errors):.0f} %; {within} are within {100 * tolerance:.0f} %."
    )


def said(kept: Modelled, part_of: PartOf, off: list[float]) -> str:
    """How far the table's figures are off, and the write amplification where it was counted."""
    counted = ", ".join(
        f"{measured:.2f} / {_zones(kept, part_of, COUNTED, size).amplification:.2f} ({size:g} GiB)"
        for size, measured in AMPLIFICATION.items()
    )
    return (
        f"Of {len(off)} predictions {how_far(off, TOLERANCE)}\n"
        f"Write amplification of `{COUNTED}`: {counted}.\n"
    )
