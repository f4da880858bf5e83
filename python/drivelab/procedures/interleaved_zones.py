"""Interleaved zones: write amplification and speed of zones of which several are open at once.

The drive is cut into 128 zones. So many of them are open, each at another place; a command goes to
one after the other, and a zone that is full makes room for another, drawn at random. Data of zones
that are open together share the blocks that the drive fills meanwhile, and such a block is empty
only when all of them are written again: unless a drive keeps the streams apart, it copies what it
would not have to copy for one zone at a time [SSDIQ].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drivelab.procedures import steady_writes
from drivelab.procedures.measured import Column, Measured, Value
from drivelab.procedures.zones import (
    BLOCK_BYTES,
    MEASURED,
    SETTLING,
    ZoneStudy,
    drawn,
    parts,
)
from drivelab.progress import TaskProgress
from drivelab.quantities import MIB, derive_seed
from drivelab.targets import Target

ZONES = 128
OPEN = (1, 2, 4, 8, 16, 32)
FEWER_OPEN = (1, 4, 32)


def zone_bytes_on(capacity_bytes: int) -> int:
    """Size of a zone of a drive of this size; whole commands."""
    size = capacity_bytes // ZONES
    return size - size % BLOCK_BYTES


def interleaved(
    open_zones: int, commands: int, zone_bytes: int, order: np.random.Generator
) -> NDArray[np.int64]:
    """Where each of so many commands writes, in bytes: to every open zone in turn.

    Zones begin one after the other, not together: each is as far as it would be in the long run.
    """
    length = zone_bytes // BLOCK_BYTES
    zones = [int(zone) for zone in np.argsort(order.random(ZONES), kind="stable")[:open_zones]]
    done = [length * index // open_zones for index in range(open_zones)]
    found = np.empty(commands, dtype=np.int64)
    for index in range(commands):
        turn = index % open_zones
        if done[turn] == length:
            closed = [zone for zone in range(ZONES) if zone not in zones]
            zones[turn] = closed[int(drawn(order, 1, len(closed))[0])]
            done[turn] = 0
        found[index] = zones[turn] * zone_bytes + done[turn] * BLOCK_BYTES
        done[turn] += 1
    return found


@dataclass(frozen=True, kw_only=True)
class InterleavedZones(ZoneStudy):
    """Open zones on a full drive, each number of them on a copy of it."""

    def fits(self, capacity_bytes: int) -> bool:
        """Whether the zones of a drive of this size have a command each, at least."""
        return capacity_bytes >= ZONES * MIB

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes."""
        points = self.points(OPEN, FEWER_OPEN, capacity_bytes, quick)
        return (1 + len(points)) * capacity_bytes / 30e9

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Fills a new drive, and runs every number of open zones on a copy of it."""
        numbers = self.points(OPEN, FEWER_OPEN, target.capacity_bytes, quick)
        share = 1 / (1 + len(numbers))
        steady_writes.fill(target, target.capacity_bytes, seed, progress, share)
        rows = [
            self._point(target.clone(), number, seed, quick, progress, share) for number in numbers
        ]
        zone_mib = zone_bytes_on(target.capacity_bytes) / MIB
        table = ("open", "Zones by how many are open", Column("open_zones", "Open zones"))
        notes = (f"zones of {zone_mib:g} MiB",)
        return self.measured(target, table, "open zones", rows, _values(rows), quick, notes)

    def _point(
        self,
        target: Target,
        open_zones: int,
        seed: int,
        quick: bool,
        progress: TaskProgress,
        share: float,
    ) -> dict[str, Any]:
        capacity = target.capacity_bytes
        settling, measured = (round(part * capacity / BLOCK_BYTES) for part in parts(quick))
        order = np.random.default_rng(derive_seed(seed, "zones", str(open_zones)))
        zone_bytes = zone_bytes_on(capacity)
        places = interleaved(open_zones, settling + measured, zone_bytes, order)
        stretches = places[:settling], places[settling:]
        row = self.row(target, str(open_zones), stretches, seed, progress, share)
        return {"open_zones": open_zones} | row

    @property
    def time_text(self) -> str:
        """How long it measures."""
        return f"{SETTLING + MEASURED:g} times over at each number"


def _values(rows: Sequence[dict[str, Any]]) -> tuple[Value, ...]:
    costs = [row["write_amplification"] for row in rows]
    one, most = rows[0], max(rows, key=lambda row: row["write_amplification"] or 0.0)
    title = "Write amplification"
    known = one["write_amplification"] and most["write_amplification"]
    times = most["write_amplification"] / one["write_amplification"] if known else None
    return (
        Value("one_amplification", f"{title}, one zone at a time", costs[0], "", "lower"),
        Value("many_amplification", f"{title}, 32 of them", costs[-1], "", "lower"),
        Value("one_mib_per_s", "One zone at a time", one["mib_per_s"], "MiB/s", "higher"),
        Value("many_mib_per_s", "32 of them", rows[-1]["mib_per_s"], "MiB/s", "higher"),
        Value("most_times", "Most, times one zone at a time", times, "", "lower"),
    )


PROCEDURES = (
    InterleavedZones(
        id="interleaved-zones",
        title="Interleaved zones: 1 to 32 of 128 zones are written at a time",
        group="studies",
        states=("new",),
        begins_new=True,
        kinds=("flash",),
        extra_drives=1,
    ),
)
