"""Spare area: write amplification and speed of random writes against how much flash is kept back.

Each point is a variant of the model with the same flash and another user capacity, new, filled
once in a row with incompressible data, then written at random all over until write amplification
stands still (`steady_writes.py`). Beside it stands the formula for a page map that cleans its
blocks in the order in which they were written ([1], `theory.py`), which knows the spare area and
nothing else of the drive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.errors import RequestError
from drivelab.procedures import steady_writes
from drivelab.procedures.measured import Chart, Column, Measured, Table, Value
from drivelab.progress import TaskProgress
from drivelab.quantities import derive_seed
from drivelab.targets import Target
from drivelab.theory import fifo_write_amplification
from drivelab.traits import TestTraits

SPARE_RATIOS = (0.07, 0.15, 0.28, 0.5, 1.0)
"""Spare area over user capacity. 7 % is 1 GiB sold as 1 GB, 28 % what enterprise drives keep."""
QUICK_SPARE_RATIOS = (0.28, 1.0)
SAME_RATIO = 0.005
"""A ratio as close as this to the drive's own is left out beside it."""
FILL_SHARE = 0.2
"""Share of a point's work that is the pass before it."""

COLUMNS = (
    Column("spare_percent", "Spare area over user capacity", "%"),
    Column("variant", "Drive"),
    Column("write_amplification", "Write amplification"),
    Column("fifo_write_amplification", "Write amplification, formula"),
    Column("mib_per_s", "Random write", "MiB/s"),
    Column("iops", "Random write", "IOPS"),
    Column("rounds", "Rounds"),
    Column("steady", "Steady"),
)
AS_SOLD = "as sold"


@dataclass(frozen=True, kw_only=True)
class SpareArea(steady_writes.SteadyStudy):
    """Steady random writes on drives with other spare areas."""

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes."""
        others = self.points(SPARE_RATIOS, QUICK_SPARE_RATIOS, capacity_bytes, quick)
        return (len(others) + 1) * capacity_bytes / 20e9

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Makes a new drive for each point; the given one stays as it is."""
        raw = steady_writes.raw_bytes(target)
        own = raw / target.capacity_bytes - 1
        others = self.points(SPARE_RATIOS, QUICK_SPARE_RATIOS, target.capacity_bytes, quick)
        ratios = sorted([own, *(item for item in others if abs(item - own) > SAME_RATIO)])
        rows: list[dict[str, Any]] = []
        notes: list[str] = []
        for ratio in ratios:
            try:
                variant = (
                    target.variant([]) if ratio == own else steady_writes.with_spare(target, ratio)
                )
            except RequestError as error:
                notes.append(f"Spare area of {ratio * 100:.0f} % left out: {error}")
                continue
            name = AS_SOLD if ratio == own else "variant"
            point = self._point(variant, ratio, seed, quick, progress, 1 / len(ratios))
            rows.append({"spare_percent": 100 * ratio, "variant": name} | point)
            # Before the next one is made, not after.
            del variant
        rows.sort(key=lambda item: float(item["spare_percent"]))
        notes += steady_writes.notes(rows)
        notes += self.cut_notes(target.capacity_bytes, quick)
        charts = (
            Chart(
                *("amplification", "Write amplification by spare area", "lines"),
                *("spare_percent", "write_amplification", "line"),
            ),
            Chart(
                *("spare", "Random write by spare area", "lines"),
                *("spare_percent", "mib_per_s"),
            ),
        )
        return Measured(
            target.capacity_bytes,
            values=_values(rows),
            tables=(
                Table("spare", "Steady random writes by spare area", COLUMNS, tuple(rows)),
                _beside_theory(rows),
            ),
            charts=charts,
            notes=tuple(notes),
        )

    @staticmethod
    def _point(
        variant: Target,
        ratio: float,
        seed: int,
        quick: bool,
        progress: TaskProgress,
        share: float,
    ) -> dict[str, Any]:
        # One seed for all points: what differs is the spare area alone.
        user = variant.capacity_bytes
        steady_writes.fill(variant, user, derive_seed(seed, "fill"), progress, share * FILL_SHARE)
        found = steady_writes.steady_writes(
            variant,
            user,
            int(ratio * user),
            derive_seed(seed, "writes"),
            quick,
            progress,
            share * (1 - FILL_SHARE),
        )
        return {"fifo_write_amplification": fifo_write_amplification(ratio)} | steady_writes.row(
            found
        )


def _beside_theory(rows: Sequence[dict[str, Any]]) -> Table:
    """The drive and the formula as two lines of one chart."""
    lines = {"drive": "write_amplification", "formula": "fifo_write_amplification"}
    return Table(
        "amplification",
        "Write amplification beside the formula",
        (
            COLUMNS[0],
            Column("line", "Line"),
            Column("write_amplification", "Write amplification"),
        ),
        tuple(
            {
                "spare_percent": row["spare_percent"],
                "line": line,
                "write_amplification": row[key],
            }
            for line, key in lines.items()
            for row in rows
        ),
    )


def _values(rows: Sequence[dict[str, Any]]) -> tuple[Value, ...]:
    values: list[Value] = []
    for item in rows:
        if item["variant"] == AS_SOLD:
            key, words = "as_sold", AS_SOLD
        elif round(item["spare_percent"]) == 28:
            key, words = "spare_28", "with 28 % of spare area"
        else:
            continue
        values += [
            Value(
                f"{key}_write_amplification",
                f"Write amplification {words}",
                item["write_amplification"],
                "",
                "lower",
            ),
            Value(
                f"{key}_mib_per_s",
                f"Random write {words}",
                item["mib_per_s"],
                "MiB/s",
                "higher",
            ),
        ]
    return tuple(values)


PROCEDURES = (
    SpareArea(
        id="spare-area",
        title="Spare-area study: steady random writes on variants with 7 to 100 % of spare area",
        group="studies",
        states=("new",),
        begins_new=True,
        kinds=("flash",),
        extra_drives=1,
        traits=TestTraits(story="spare-area"),
    ),
)
