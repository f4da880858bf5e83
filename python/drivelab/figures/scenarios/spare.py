"""What spare area does, and what leaves a drive some: erased, deleted or never-written space."""

from __future__ import annotations

from drivelab.figures.scenarios.bench import (
    Bench,
    Found,
    bytes_at_peak,
    rate,
    scenarios,
    steady,
    trim_range,
)
from drivelab.procedures import steady_writes
from drivelab.quantities import MIB
from drivelab.states.steps import RANDOM
from drivelab.targets import Target

PARTS = 8
"""An eighth of the drive: random writes are steady after so many bytes as it has."""


def fill_levels(bench: Bench) -> Found:
    """Steady random writes on a drive that holds data in a part of it, to which they go: the rest
    never written (`never_`); everything full (`full_`); or full, and then told that the rest was
    deleted, to which a drive without TRIM doesn't listen (`deleted_`)."""
    new = bench.small(PARTS)
    full = new.clone()
    bench.fill(full, RANDOM)
    found: dict[str, float | None] = {}
    for percent in (50, 75, 80, 90, 100):
        drive = new.clone()
        span = _span(drive, percent / 100)
        bench.fill(drive, RANDOM, span)
        found[f"never_{percent}"], found[f"never_amplification_{percent}"] = _steady(
            bench, drive, span
        )
    for percent in (50, 80):
        drive = full.clone()
        span = _span(drive, percent / 100)
        found[f"full_{percent}"], _ = _steady(bench, drive, span)
    half = _span(full, 0.5)
    trim_range(bench, full, half, full.capacity_bytes - half)
    found["deleted_50"], _ = _steady(bench, full, half)
    return found


def _span(drive: Target, share: float) -> int:
    size = int(drive.capacity_bytes * share)
    return size - size % MIB


def _steady(bench: Bench, drive: Target, span: int) -> tuple[float | None, float | None]:
    raw = steady_writes.raw_bytes(bench.target) // PARTS
    return steady(bench, drive, span, raw - span)


def peak_by_spare(bench: Bench) -> Found:
    """Shares of the drive that a filled one takes at random before it is slower than 0.8 of its
    start, with 7, 15 and 28 % of spare area."""
    found = {}
    for percent in (7, 15, 28):
        drive = bench.small(PARTS, spare=percent / 100)
        bench.fill(drive, RANDOM)
        found[f"share_{percent}"] = bytes_at_peak(bench, drive, RANDOM)
    return found


def steady_as_sold(bench: Bench) -> Found:
    """Random writes over the whole drive: new, and steady on the filled drive."""
    drive = bench.small(PARTS)
    new = rate(bench.write(drive.clone(), "new", moved=drive.capacity_bytes // 16))
    bench.fill(drive, RANDOM)
    full, factor = _steady(bench, drive, drive.capacity_bytes)
    return {"new_mib_per_s": new, "steady_mib_per_s": full, "write_amplification": factor}


def overwrite_live(bench: Bench) -> Found:
    """The same steady overwriting of a drive full of live data, with TRIM and with TRIM off."""
    found = {}
    for name, value in (("with_trim", "true"), ("without_trim", "false")):
        drive = bench.small(PARTS, ("ftl.trim_supported", value))
        bench.fill(drive, RANDOM)
        found[name], _ = _steady(bench, drive, drive.capacity_bytes)
    return found


SCENARIOS = scenarios(
    ("fill-levels", "Steady random writes by what the rest of the drive holds", fill_levels),
    ("peak-by-spare", "How much a drive takes at its peak, by spare area", peak_by_spare),
    ("steady-as-sold", "Random writes over the whole drive, new and steady", steady_as_sold),
    ("overwrite-live", "Overwriting live data with and without TRIM", overwrite_live),
)
