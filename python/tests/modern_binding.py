"""What binds what a drive of today does: which of the numbers chosen for it move which quantity.

One die of a model with an eighth of its word lines, and each number that was fitted or chosen with
a figure in view (its role is *fitted* or *informed*) a tenth less and as much more, blocks of a
plane by a hundredth, for they are mostly user capacity. A quantity is bound by a number that moves
it by at least a fifth as much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import drivelab as dl

CHOSEN = ("fitted", "informed")
DIVISOR = 8
"""Of the word lines of a block."""
BY = 0.1
BLOCKS = "flash.blocks_per_plane"
BY_BLOCKS = 0.01
BOUND = 0.2
"""Of a change, what a quantity moves by that it binds."""
WRITTEN = 3
"""User capacities that are written at random."""
HEADS = ("drive", "fill", "random writes", "write amplification", "a lone read")


@dataclass(frozen=True)
class Moved:
    """How far a number moves the quantities by what it was changed by, the larger side of each."""

    key: str
    role: str
    fill: float
    writes: float
    amplification: float
    read: float


def measured(die: dl.Drive, share: int, depth: int) -> list[Moved]:
    """What the chosen numbers of a model move; `die` is one of it, of `share` as many, and `depth`
    the commands inside of the whole."""
    value = die.model.value
    cut = {
        "flash.pages_per_block": value("flash.pages_per_block") // DIVISOR,
        "flash.erase_ns": value("flash.erase_ns") // DIVISOR,
        "user_capacity_bytes": die.capacity_bytes // DIVISOR // 2**15 * 2**15,
    }
    drive = die.with_parameters(cut)
    size = drive.capacity_bytes // 2**20 * 2**20
    roles = {
        str(item["key"]): str(item["role"])
        for item in drive.model.parameters
        if item["role"] in CHOSEN and item["key"] not in cut
    }
    jobs = {
        "fill": (dl.Job(rw="write", bs="512k", size=size), "new", "mib_per_s"),
        "writes": (_writes(size, depth // share), "filled", "mib_per_s"),
        "amplification": (_writes(size, depth // share), "filled", "write_amplification"),
        "read": (dl.Job(rw="randread", bs="4k", io_size="16m"), "filled", "latency_mean_us"),
    }
    found: dict[str, dict[str, float]] = {}
    for job, state in {(job, state): None for job, state, _ in jobs.values()}:
        for keys, by in _changes(drive, roles):
            varied = dl.vary(drive, job, by=by, keys=keys, state=state, progress=False)
            for name, (own, own_state, metric) in jobs.items():
                if (own, own_state) == (job, state):
                    for item in varied.effects(metric).to_dicts():
                        found.setdefault(item["key"], {})[name] = _share(item)
    return [
        Moved(key, roles[key], *(moves.get(name, 0.0) for name in jobs))
        for key, moves in found.items()
    ]


def _share(item: dict[str, Any]) -> float:
    """How far a quantity moves by the side that moves it most, of what the number was changed by:
    whole numbers change by one at least, which of a 1 is all of it."""
    moved = [
        abs(item[f"{side}_percent"] / 100 / (item[f"{side}_varied"] / item["value"] - 1))
        for side in ("less", "more")
        if item[f"{side}_percent"] is not None
    ]
    return round(max(moved, default=0.0), 3)


def _writes(size: int, depth: int) -> dl.Job:
    return dl.Job(
        rw="randwrite", bs="4k", iodepth=depth, norandommap=True, size=size, io_size=WRITTEN * size
    )


def _changes(drive: dl.Drive, roles: dict[str, str]) -> list[tuple[list[str], float]]:
    """Keys by what they are changed by."""
    values = {key: drive.model.value(key) for key in roles}
    numbers = [key for key, value in values.items() if type(value) in (int, float) and value]
    changes = [([key for key in numbers if key != BLOCKS], BY)]
    return changes + ([([BLOCKS], BY_BLOCKS)] if BLOCKS in numbers else [])


def row(model: str, moved: Sequence[Moved]) -> list[str]:
    """What binds each quantity, the most moving first: by how much of its own change."""

    def cell(name: str) -> str:
        bound = [(getattr(item, name), item) for item in moved if getattr(item, name) >= BOUND]
        bound.sort(key=lambda pair: (-pair[0], pair[1].key))
        return ", ".join(f"`{item.key}` {item.role} {share:.1f}" for share, item in bound) or "-"

    return [f"`{model}`", *(cell(name) for name in ("fill", "writes", "amplification", "read"))]
