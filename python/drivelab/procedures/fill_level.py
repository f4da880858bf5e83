"""Fill level: write amplification and speed of random writes against how full the drive is.

The first part of the drive holds data and is written at random until write amplification stands
still (`steady_writes.py`). The rest was either never written, or written once and then trimmed:
to a drive whose TRIM works both are spare area, to one without TRIM the second is data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.procedures import steady_writes
from drivelab.procedures.measured import Chart, Column, Measured, Table, Value
from drivelab.progress import TaskProgress
from drivelab.quantities import MIB, derive_seed
from drivelab.targets import Target, trims
from drivelab.traits import TestTraits
from drivelab.workload import Job, Recorded

LEVELS = (0.5, 0.75, 0.9, 1.0)
"""Shares of the drive that hold data."""
QUICK_LEVELS = (0.5, 1.0)
NEVER_WRITTEN, TRIMMED = "never written", "written, then trimmed"
FILL_SHARE = 0.2

COLUMNS = (
    Column("fill_percent", "Full", "%"),
    Column("rest", "The rest"),
    Column("write_amplification", "Write amplification"),
    Column("mib_per_s", "Random write", "MiB/s"),
    Column("iops", "Random write", "IOPS"),
    Column("rounds", "Rounds"),
    Column("steady", "Steady"),
)


@dataclass(frozen=True, kw_only=True)
class FillLevel(steady_writes.SteadyStudy):
    """Steady random writes within the first part of the drive."""

    def fits(self, capacity_bytes: int) -> bool:
        """Whether the levels of a drive of this size are whole megabytes."""
        return capacity_bytes >= 16 * MIB

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes."""
        levels = self.points(LEVELS, QUICK_LEVELS, capacity_bytes, quick)
        return (2 * len(levels) - 1) * capacity_bytes / 20e9

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Runs every level on a copy of a new drive, and of one that was full."""
        raw, user = steady_writes.raw_bytes(target), target.capacity_bytes
        levels = self.points(LEVELS, QUICK_LEVELS, user, quick)
        share = 1 / (2 * len(levels) - 1)
        rows: list[dict[str, Any]] = []

        def point(drive: Target, level: float, rest: str, part: float) -> None:
            span = _span_bytes(user, level)
            found = steady_writes.steady_writes(
                drive, span, raw - span, derive_seed(seed, "writes"), quick, progress, part
            )
            row = {"fill_percent": 100 * level, "rest": rest} | steady_writes.row(found)
            rows.append(row)
            if level == 1:
                # Nothing is left to have never been written, or to be trimmed.
                rows.append(row | {"rest": TRIMMED})

        for level in levels:
            drive = target.clone()
            span = _span_bytes(user, level)
            steady_writes.fill(drive, span, seed, progress, share * FILL_SHARE)
            point(drive, level, NEVER_WRITTEN, share * (1 - FILL_SHARE))
            del drive
        full = target.clone()
        steady_writes.fill(full, user, seed, progress, share * FILL_SHARE)
        notes: list[str] = []
        for level in (item for item in levels if item < 1):
            drive = full.clone()
            _trim_behind(drive, _span_bytes(user, level), progress)
            ignored = drive.counters().get("units_trimmed") == 0
            point(drive, level, TRIMMED, share * (1 - FILL_SHARE))
            del drive
            if ignored:
                notes.append("The drive ignores TRIM: what was written once stays data.")
                break
        rows.sort(key=lambda item: (item["rest"], float(item["fill_percent"])))
        charts = tuple(
            Chart("levels", title, "lines", "fill_percent", key, "rest")
            for title, key in (
                ("Write amplification by fill level", "write_amplification"),
                ("Random write by fill level", "mib_per_s"),
            )
        )
        return Measured(
            user,
            values=_values(rows),
            tables=(Table("levels", "Steady random writes by fill level", COLUMNS, tuple(rows)),),
            charts=charts,
            notes=(*notes, *steady_writes.notes(rows), *self.cut_notes(user, quick)),
        )


def _span_bytes(user_bytes: int, level: float) -> int:
    if level == 1:
        return user_bytes
    size = int(user_bytes * level)
    return size - size % MIB


def _trim_behind(drive: Target, start: int, progress: TaskProgress) -> None:
    """Says of everything from `start` on that it is free."""
    drive.run_requests(
        Job(name="trim", source=Recorded(pacing="closed")),
        trims.of_range(start, drive.capacity_bytes),
        progress,
        0.0,
    )


def _values(rows: Sequence[dict[str, Any]]) -> tuple[Value, ...]:
    found = {(item["fill_percent"], item["rest"]): item["mib_per_s"] for item in rows}
    full, half = found[100.0, NEVER_WRITTEN], found[50.0, NEVER_WRITTEN]
    trimmed = found[50.0, TRIMMED]
    return (
        Value("full_mib_per_s", "Random write, full", full, "MiB/s", "higher"),
        Value("half_full_mib_per_s", "Random write, half full", half, "MiB/s", "higher"),
        Value(
            "half_trimmed_mib_per_s",
            "Random write, half full after TRIM",
            trimmed,
            "MiB/s",
            "higher",
        ),
        Value(
            "trim_percent",
            "What TRIM brings back of half full",
            100 * trimmed / half if half else None,
            "%",
            "higher",
        ),
    )


PROCEDURES = (
    FillLevel(
        id="fill-level",
        title="Fill-level study: steady random writes on a drive that is 50 to 100 % full",
        group="studies",
        states=("new",),
        begins_new=True,
        kinds=("flash",),
        extra_drives=2,
        traits=TestTraits(story="fill-level"),
    ),
)
