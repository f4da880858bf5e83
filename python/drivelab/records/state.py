"""How a state came about."""

from __future__ import annotations

from pydantic import JsonValue

from drivelab.records.record import Amount, Count, Origin, Record


class State(Record):
    """One preparation of `states[]`."""

    model: str
    """Of which drive"""
    state: str
    """Its name"""
    description: str
    """What was done"""
    host_write_bytes: Count
    """Since the drive was new, as everything here"""
    program_bytes: Count | None
    """Programmed into flash; null of drives without"""
    write_amplification: Amount | None
    """Null if nothing was written"""
    erases: Count | None
    """Blocks that the drive erased; null of drives without flash"""
    origin: Origin | None = None
    """Only of a [state of one's own](python.md): where it comes from"""
    declared: dict[str, JsonValue] | None = None
    """Only of these: what reports know of it beside its numbers"""
    wall_s: Amount
    """Of the machine's time"""
