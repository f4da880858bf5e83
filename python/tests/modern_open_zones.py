"""docs/modern-drives.md, "Interleaved zones": several zones written at the same time, model and
drive.

As SSD-iq did: zones of 8 GiB, of which some are open; each write of 512 KiB goes to one of them at
random, behind what the zone has; a zone that is full makes room for another, drawn at random. On
one die of a drive, with as large a part of every zone and write, as long as in `modern_zones.py`.
Whether a zone was trimmed before it was written anew isn't known, so both are measured.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

import numpy as np
from modelled import Modelled
from modern_zones import (
    MEASURED_CAPACITIES,
    SEED,
    SETTLING,
    TOLERANCE,
    PartOf,
    Zones,
    filled,
    how_far,
    written,
)
from numpy.typing import NDArray

import drivelab as dl
from drivelab.figures.text import deviation
from drivelab.procedures.zones import BLOCK_BYTES, requests_at
from drivelab.progress import TaskProgress
from drivelab.quantities import GIB, SECTOR_BYTES
from drivelab.workload import TRIM, Job, Recorded, Requests

ZONE_GIB = 8
OPEN = (1, 2, 4, 8, 16, 32)
DRAWN = 4096
"""Writes whose zones are drawn at once; where a zone is full in between, the rest is drawn anew."""

MEASURED: Mapping[str, Mapping[int, float]] = {
    "micron-7450-max-800gb": {1: 1378, 2: 1161, 4: 1058, 16: 918, 32: 1082},
    "micron-7450-pro-960gb": {1: 1379, 2: 817, 4: 727, 8: 575, 32: 742},
    "skhynix-pe8110-960gb": {1: 1406, 2: 877, 8: 572, 16: 616, 32: 775},
    "samsung-pm9a3-960gb": {1: 1384, 4: 471, 8: 404, 16: 385, 32: 457},
    "solidigm-p5520-1920gb": {1: 980, 2: 684, 8: 242, 16: 241},
    "wd-datacenter-960gb": {1: 462, 2: 276, 4: 238, 8: 238, 16: 232, 32: 304},
}
"""MiB/s, by open zones."""
COUNTED = "micron-7450-max-800gb"
AMPLIFICATION: Mapping[int, float] = {1: 1.034, 2: 1.170, 4: 1.285, 16: 1.416, 32: 1.268}
"""Of the drive that has a counter, by open zones."""


def places(
    zones: int, length: int, open_zones: int, writes: int, order: np.random.Generator
) -> NDArray[np.int64]:
    """Which of a drive's blocks each write goes to: `zones` of `length` blocks, all begun empty.

    A zone that is full makes room for one that was not open meanwhile."""
    active = order.permutation(zones)[:open_zones]
    done = np.zeros(open_zones, dtype=np.int64)
    found = np.empty(writes, dtype=np.int64)
    at = 0
    while at < writes:
        drawn = order.integers(open_zones, size=min(DRAWN, writes - at))
        before = np.empty(drawn.size, dtype=np.int64)
        for number in range(open_zones):
            mine = drawn == number
            before[mine] = done[number] + np.arange(mine.sum())
        full = np.flatnonzero(before == length - 1)
        count = int(full[0]) + 1 if full.size else drawn.size
        found[at : at + count] = active[drawn[:count]] * length + before[:count]
        done += np.bincount(drawn[:count], minlength=open_zones)
        at += count
        if full.size:
            closed = np.setdiff1d(np.arange(zones), active)
            number = drawn[count - 1]
            active[number], done[number] = order.choice(closed), 0
    return found


def trimmed(requests: Requests, blocks: NDArray[np.int64], zone_bytes: int, block: int) -> Requests:
    """The same writes, and a TRIM of the whole zone before the first write to it."""
    begins = np.flatnonzero(blocks % (zone_bytes // block) == 0)
    lba = np.insert(requests.lba, begins, requests.lba[begins])
    return Requests(
        op=np.insert(requests.op, begins, TRIM),
        lba=lba,
        sector_count=np.insert(requests.sector_count, begins, zone_bytes // SECTOR_BYTES),
        arrival_ns=np.zeros(lba.size, dtype=np.uint64),
    )


def interleaved(part: dl.Drive, share: int, open_zones: int, trims: bool) -> Zones:
    """One die of a drive that has so many, with its part of every zone."""
    target, progress = filled(part), TaskProgress("zones")
    block = BLOCK_BYTES // share
    length = ZONE_GIB * GIB // share // block
    zones = target.capacity_bytes // (length * block)
    stretches = [
        round(capacities * target.capacity_bytes / block)
        for capacities in (SETTLING, MEASURED_CAPACITIES)
    ]
    order = np.random.default_rng(SEED)
    blocks = places(zones, length, open_zones, sum(stretches), order)
    job = Job(name="zones", source=Recorded(pacing="closed"))
    report = {}
    for stretch in (blocks[: stretches[0]], blocks[stretches[0] :]):
        requests = requests_at(stretch * block, block)
        if trims:
            requests = trimmed(requests, stretch, length * block, block)
        report = target.run_requests(job, requests, progress)
    found = written(report, share)
    print(part.name, open_zones, trims, found, file=sys.stderr, flush=True)
    return found


HEADS = ("drive", *(f"{number} open" for number in OPEN))


def _found(kept: Modelled, part_of: PartOf, model: str, number: int, trims: bool) -> Zones:
    what = f"{number} open zones{', trimmed' if trims else ''}"
    return kept.of(model, what, Zones, lambda: interleaved(*part_of(model), number, trims))


def rows(kept: Modelled, part_of: PartOf) -> tuple[list[list[str]], dict[bool, list[float]]]:
    """Rates of all drives, measured / modelled without trims and with; and by how much each is
    off, by whether zones were trimmed."""
    found: list[list[str]] = []
    off: dict[bool, list[float]] = {False: [], True: []}
    for model, measured in MEASURED.items():
        row = [f"`{model}`"]
        for number in OPEN:
            cell = ""
            if number in measured:
                cell = f"{measured[number]:.0f} / "
                for trims in off:
                    now = _found(kept, part_of, model, number, trims).mib_per_s
                    off[trims].append(now / measured[number] - 1)
                    cell += ", " if trims else ""
                    cell += f"{now:.0f} ({deviation(now, measured[number])})"
            row.append(cell)
        found.append(row)
    return found, off


def said(kept: Modelled, part_of: PartOf, off: Mapping[bool, list[float]]) -> str:
    """How far the table's figures are off, and the write amplification where it was counted."""
    sentences = [
        f"{'Trimmed' if trims else 'Not trimmed'}: of {len(errors)} predictions "
        f"{how_far(errors, TOLERANCE)}"
        for trims, errors in off.items()
    ]
    counted = []
    for number, measured in AMPLIFICATION.items():
        both = [_found(kept, part_of, COUNTED, number, trims).amplification for trims in off]
        counted.append(f"{measured:.2f} / {both[0]:.2f}, {both[1]:.2f} ({number} open)")
    amplification = f"Write amplification of `{COUNTED}`: {'; '.join(counted)}."
    return "\n".join((*sentences, amplification)) + "\n"
