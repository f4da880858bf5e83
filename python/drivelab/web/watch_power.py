"""A power cut of a watched drive, and what it does when the power comes back."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from drivelab.quantities import NS_PER_S
from drivelab.targets.kept import KeptTarget

BLOCKS_SHOWN = 65536
"""Blocks of which pages were read that a page is told of by their numbers."""
WRITE_BACK = "write_buffer.write_back"


@dataclass(frozen=True)
class Cut:
    """What a power cut met."""

    at_s: float
    unit_bytes: int
    answered_units: int
    """In the write buffer, and their writes answered: with a buffer that writes back."""
    unanswered_units: int
    torn_programs: int
    torn_erases: int

    def record(self) -> dict[str, Any]:
        """As pages read it."""
        return asdict(self)


def cut(target: KeptTarget) -> Cut:
    """The power of a drive fails now."""
    model, at_s = target.model, target.now_ns / NS_PER_S
    found = target.cut_power()
    complete, arriving = found["complete_units"], found["arriving_units"]
    answers = any(model.value(key) for key in (WRITE_BACK, f"member.{WRITE_BACK}"))
    units = (model.value(key) for key in ("ftl.map_unit_bytes", "member.ftl.map_unit_bytes"))
    return Cut(
        at_s=at_s,
        unit_bytes=int(next((unit for unit in units if unit), 4096)),
        answered_units=complete if answers else 0,
        unanswered_units=arriving if answers else complete + arriving,
        torn_programs=found["torn_programs"],
        torn_erases=found["torn_erases"],
    )


def restored(target: KeptTarget, cut: Cut) -> dict[str, Any]:
    """The power comes back; what that took, and what is gone, as pages read it."""
    told, blocks_read = target.restore_power()
    blocks = np.flatnonzero(blocks_read)
    lost = told["lost_units"] if cut.answered_units else 0
    return {
        "duration_s": told["duration_ns"] / NS_PER_S,
        "pages_read": told["pages_read"],
        "blocks_read": len(blocks),
        "blocks_covered": told["blocks_skipped"],
        "had_checkpoint": told["had_checkpoint"],
        "held_units": told["held_units"],
        "lost_units": lost,
        "lost_bytes": lost * cut.unit_bytes,
        "blocks": blocks.tolist() if len(blocks) <= BLOCKS_SHOWN else None,
    }
