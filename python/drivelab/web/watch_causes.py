"""Why a drive's flash programs more, or fewer, bytes than its host writes: so many for each cause.

The causes of a span of time add up, to the byte, to what was programmed less what was written:

    programmed = written - overwritten - trimmed + completing + buffer   (what leaves the buffer)
               + padding - compression + merging                 (how it lies in pages)
               + cleaning + wear + folding + map + parity + log  (what the drive does beside it)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from drivelab import counters
from drivelab.model import Model

_BESIDE = ("wear", "folding", "map", "parity", "log")
"""Purposes of programs that are causes as they are."""


@dataclass(frozen=True)
class Storing:
    """How a drive stores what its host writes."""

    unit_bytes: int | None
    """That the map knows a place for; None if nobody knows."""
    granule_bytes: int | None = None
    """Of a drive that compresses."""
    merges: bool = False
    """Whether it writes whole superblocks anew."""

    @classmethod
    def of(cls, model: Model) -> Storing:
        """That of a drive, or of an array's members."""

        def value(key: str) -> Any:
            own = model.value(key)
            return model.value(f"member.{key}") if own is None else own

        unit = value("ftl.map_unit_bytes")
        return cls(
            unit_bytes=None if unit is None else int(unit),
            granule_bytes=value("ftl.granule_bytes"),
            merges=value("ftl.rotation_merges") is not None,
        )


def causes(used: Mapping[str, Any], storing: Storing) -> dict[str, int]:
    """Bytes by cause, of differences of counters; fewer where negative, and none that are 0.

    `completing`: units that were written in part are programmed whole, with what was read, or with
    nothing. `buffer`: what had been waiting in the write buffer; negative: what waits there now.
    `pages`: all of these together and what pages hold beside them, of a drive whose units nobody
    knows.
    """
    written, stored = used["host_write_bytes"], used.get("program_bytes_host", 0)
    beside = {name: used.get(f"program_bytes_{name}", 0) for name in _BESIDE}
    moved = used.get("program_bytes_cleaning", 0)
    found = _on_the_way(used, storing)
    # In pages beside the units of the host: nothing, or, where it merges, copies of others.
    rest = stored - written - sum(found.values())
    found |= beside
    if storing.merges:
        found["merging"] = moved + rest
    elif storing.unit_bytes is None:
        found |= {"pages": rest, "cleaning": moved}
    else:
        padding = rest
        if storing.granule_bytes is not None:
            padding = used.get("granules_padded", 0) * storing.granule_bytes
            found["compression"] = rest - padding
        found |= {"padding": padding, "cleaning": moved}
    assert sum(found.values()) == (counters.program_bytes(used) or 0) - written
    return {name: value for name, value in found.items() if value}


def _on_the_way(used: Mapping[str, Any], storing: Storing) -> dict[str, int]:
    """What makes units that left the write buffer more, or fewer, than what the host wrote."""
    written, unit = used["host_write_bytes"], storing.unit_bytes
    if unit is None:
        return {}
    commands, completed = used.get("host_write_commands", 0), used.get("units_rmw", 0)
    overwritten, trimmed = used.get("coalesced_bytes", 0), used.get("buffer_trimmed_bytes", 0)
    left = used.get("units_written_host", 0) * unit
    more = left - (written - overwritten - trimmed)
    # A command that is smaller than a unit covers a part of one, which needn't be in flash yet.
    most = commands * unit - written if written < commands * unit else completed * unit
    completing = min(max(0, more), most)
    return {
        "overwritten": -overwritten,
        "trimmed": -trimmed,
        "completing": completing,
        "buffer": more - completing,
    }
