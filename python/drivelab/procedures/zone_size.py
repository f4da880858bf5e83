"""Zone size: write amplification and speed of zones that are written whole, in random order.

The drive is cut into zones of one size. One is drawn at random, written from its first byte to its
last, then the next is drawn, as by what keeps its data in large files and replaces them whole.
Where a zone is as large as what the drive cleans in one piece, or larger, blocks die whole and
cleaning copies nothing; the smaller it is, the more zones share a block, and random writes are what
is left. SSD-iq finds the unit of cleaning that way [SSDIQ].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drivelab.counters import spent, write_amplification
from drivelab.procedures import steady_writes
from drivelab.procedures.measured import Column, Measured, Value
from drivelab.procedures.zones import (
    MEASURED,
    SETTLING,
    ZoneStudy,
    drawn,
    parts,
    places_of,
)
from drivelab.progress import TaskProgress
from drivelab.quantities import MIB, derive_seed
from drivelab.targets import Target

SMALLEST_BYTES = MIB
FACTOR = 4
ZONES_MIN = 16
"""Zones of a drive: with fewer, chance says which are written."""
FEWER_SIZES = 3
KNEE = 1.1
"""Zones are large enough from where on they cost at most so many times what a fill costs."""


def sizes_on(capacity_bytes: int) -> list[int]:
    """Sizes of zones on a drive of this size, ascending."""
    sizes = []
    size = SMALLEST_BYTES
    while size * ZONES_MIN <= capacity_bytes:
        sizes.append(size)
        size *= FACTOR
    return sizes


def fewer_of(sizes: Sequence[int]) -> list[int]:
    """The smallest, the largest, and one between."""
    places = np.linspace(0, len(sizes) - 1, min(FEWER_SIZES, len(sizes))).round().astype(int)
    return [sizes[place] for place in places]


@dataclass(frozen=True, kw_only=True)
class ZoneSize(ZoneStudy):
    """Whole zones on a full drive, each size on a copy of it."""

    def fits(self, capacity_bytes: int) -> bool:
        """Whether a drive of this size has zones of more than one size."""
        return len(sizes_on(capacity_bytes)) > 1

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes."""
        return (1 + len(self._sizes(capacity_bytes, quick))) * capacity_bytes / 30e9

    def _sizes(self, capacity_bytes: int, quick: bool) -> Sequence[int]:
        sizes = sizes_on(capacity_bytes)
        return self.points(sizes, fewer_of(sizes), capacity_bytes, quick)

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Fills a new drive, and runs every size on a copy of it."""
        sizes = self._sizes(target.capacity_bytes, quick)
        share = 1 / (1 + len(sizes))
        before = target.counters()
        steady_writes.fill(target, target.capacity_bytes, seed, progress, share)
        filling = write_amplification(spent(before, target.counters()))
        rows = [self._point(target.clone(), size, seed, quick, progress, share) for size in sizes]
        title = "Zones written whole in random order"
        table = ("zones", title, Column("zone_mib", "Zone", "MiB"))
        return self.measured(target, table, "zone size", rows, _values(rows, filling), quick)

    def _point(
        self,
        target: Target,
        zone_bytes: int,
        seed: int,
        quick: bool,
        progress: TaskProgress,
        share: float,
    ) -> dict[str, Any]:
        capacity = target.capacity_bytes
        order = np.random.default_rng(derive_seed(seed, "zones", str(zone_bytes)))

        def places(part: float) -> NDArray[np.int64]:
            count = max(1, round(part * capacity / zone_bytes))
            return places_of(drawn(order, count, capacity // zone_bytes), zone_bytes)

        settling, measured = parts(quick)
        stretches = places(settling), places(measured)
        row = self.row(target, f"{zone_bytes // MIB}m", stretches, seed, progress, share)
        return {"zone_mib": zone_bytes // MIB} | row

    @property
    def time_text(self) -> str:
        """How long it measures."""
        return f"{SETTLING + MEASURED:g} times over at each size"


def knee_mib(rows: Sequence[dict[str, Any]], filling: float | None) -> int | None:
    """The smallest zone from which on none costs much more than a fill; None: there is none."""
    costs = [row["write_amplification"] for row in rows]
    if filling is None or any(cost is None for cost in costs):
        return None
    enough = (at for at in range(len(rows)) if max(costs[at:]) <= KNEE * filling)
    return next((int(rows[at]["zone_mib"]) for at in enough), None)


def _values(rows: Sequence[dict[str, Any]], filling: float | None) -> tuple[Value, ...]:
    first, last = rows[0], rows[-1]
    least, most = first["write_amplification"], last["write_amplification"]
    title = "Write amplification"
    return (
        Value("smallest_mib_per_s", "Smallest zones", first["mib_per_s"], "MiB/s", "higher"),
        Value("largest_mib_per_s", "Largest zones", last["mib_per_s"], "MiB/s", "higher"),
        Value("fill_amplification", f"{title} of a fill", filling, "", "lower"),
        Value("smallest_amplification", f"{title}, smallest zones", least, "", "lower"),
        Value("largest_amplification", f"{title}, largest zones", most, "", "lower"),
        Value("knee_mib", "Zones that are large enough", knee_mib(rows, filling), "MiB", "lower"),
    )


PROCEDURES = (
    ZoneSize(
        id="zone-size",
        title="Zone-size study: zones written whole in random order, 1 MiB to a 16th of the drive",
        group="studies",
        states=("new",),
        begins_new=True,
        kinds=("flash",),
        extra_drives=1,
    ),
)
