"""Endurance: how much can be written before the first sector is lost, and what a formula forecasts.

A drive of rated flash would take months, so a small version of it is worn out faster: its blocks
stand a few erases instead of thousands, and each counts for as many. What the rates of wrong bits
follow is the share of the rated erases, so they rise along the same curve; data are minutes old
when they are read. The drive is filled, then written at random all over until cleaning finds what
it can't correct, or too many blocks have failed and the drive only reads.

Beside it stands what every data sheet reckons with (JESD218 [JEDEC]): bytes of all flash times
rated cycles over write amplification. Erases that fill a block with one bit a cell are counted by
the drive and not by the formula.

Until every block was erased once the drive lives on what was free. That is nothing of thousands of
erases and much of eight, so bytes are reckoned from the erases, by the rate of what comes after it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from drivelab.counters import spent, write_amplification
from drivelab.data_patterns import parse_data_pattern
from drivelab.errors import RequestError
from drivelab.procedures import small_version, steady_writes
from drivelab.procedures.measured import Chart, Column, Measured, Table, Value
from drivelab.procedures.procedure import Procedure
from drivelab.procedures.stream import RANDOM
from drivelab.progress import TaskProgress
from drivelab.quantities import derive_seed
from drivelab.targets import Target
from drivelab.workload import BlockSize, Job

SMALL_BYTES = 2_000_000_000
"""Size of the drive that is worn out, if it can be made so small."""
ERASES, QUICK_ERASES = 8, 4
"""Erases that its blocks are rated for, in place of what the model says."""
ROUND_SHARE = 1 / 2
"""Bytes of a round, as a share of the drive."""
WARM_UP_ERASES = 1
"""Mean erases of a block before the rate of erases is that of the years to come."""
MOST_ERASES = 8
"""Times the rated erases after which the test gives up."""
DAYS = 5 * 365
"""Of the rating in drive writes a day: five years."""
TB = 10**12
RAW = "raw_capacity_bytes"
ON = (("flash.bit_errors", "true"),)
ENDURANCE, SLC_ENDURANCE, INITIAL, FAILURES = (
    f"flash.{name}"
    for name in (
        *("endurance_cycles", "slc_endurance_cycles", "initial_cycles"),
        "erase_failure_rate",
    )
)
COLUMNS = (
    Column("tbw", "Written", "TB"),
    Column("rated_percent", "Erases, of the rated", "%"),
    Column("write_amplification", "Write amplification"),
    Column("read_retries", "Read retries"),
    Column("lost_codewords", "Codewords lost"),
    Column("blocks_retired", "Blocks retired"),
)


@dataclass(frozen=True, kw_only=True)
class Endurance(Procedure):
    """Random writes until something is lost."""

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes."""
        return 5 if quick else 10

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Wears out a drive of its own; the given one stays as it is."""
        cycles = target.parameter(ENDURANCE)
        erases = min(QUICK_ERASES if quick else ERASES, int(cycles or 1))
        factor = (cycles or 1) / erases
        try:
            # What its cells have by default is known of a drive whose bits go wrong.
            small = small_version.variant(target, ON, SMALL_BYTES)
            small = small.variant(_overrides(small, erases, factor))
        except RequestError as error:
            return unmeasured(error, _values(None, None, None, None, None, target.capacity_bytes))
        steady_writes.fill(small, small.capacity_bytes, seed, progress, 0.05)
        rows, used = self._rounds(small, erases, seed, progress)
        progress.add(max(0.0, 0.95 - progress.fraction))
        amplification = write_amplification(used)
        all_erases_bytes = _flash_bytes(target) * (cycles or 1)
        forecast = all_erases_bytes / amplification / TB if amplification else None
        rated = None
        if used["erase_count_mean"]:
            erased_bytes = used["erase_count_mean"] * (small.parameter(RAW) or 0)
            rated = all_erases_bytes * used["host_write_bytes"] / erased_bytes / TB
        for row in rows:
            row["tbw"] = None if rated is None else rated * row["rated_percent"] / 100
        lost = next((row["tbw"] for row in rows if row["lost_codewords"]), None)
        stopped = small.counters()["read_only"]
        read_only = rows[-1]["tbw"] if stopped else None
        values = _values(amplification, forecast, rated, lost, read_only, target.capacity_bytes)
        return Measured(
            small.capacity_bytes,
            values=values,
            tables=(Table("rounds", "Wear by bytes written", COLUMNS, tuple(rows)),),
            charts=(
                Chart("rounds", "Read retries by bytes written", "lines", "tbw", "read_retries"),
            ),
            notes=_notes(small, target, erases, factor, ended=bool(lost or stopped)),
        )

    def _rounds(
        self, small: Target, erases: int, seed: int, progress: TaskProgress
    ) -> tuple[list[dict[str, Any]], dict[str, float]]:
        """The rounds, and what the drive counted from the end of its warm-up on."""
        size = int(small.capacity_bytes * ROUND_SHARE)
        first = small.counters()
        warm = before = first
        rows: list[dict[str, Any]] = []
        while not rows or not (
            _has_ended(before) or before["erase_count_mean"] > MOST_ERASES * erases
        ):
            job = Job(
                name=self.id,
                rw="randwrite",
                block_sizes=(BlockSize(bytes=steady_writes.WRITE_BYTES),),
                io_bytes=size - size % steady_writes.WRITE_BYTES,
                queue_depth=min(steady_writes.QUEUE_DEPTH, small.queue_depth),
                data=parse_data_pattern(RANDOM),
                seed=derive_seed(seed, str(len(rows))),
            )
            small.run([job], progress, 0.9 * _left(len(rows)))
            after = small.counters()
            used = spent(before, after)
            rows.append(
                {
                    "rated_percent": 100 * after["erase_count_mean"] / erases,
                    "write_amplification": write_amplification(used),
                    "read_retries": used["read_retries"],
                    "lost_codewords": used["uncorrectable_codewords"],
                    "blocks_retired": after["blocks_retired"],
                }
            )
            before = after
            if (
                warm is first
                and after["erase_count_mean"] >= WARM_UP_ERASES
                and not _has_ended(after)
            ):
                warm = after
        used = spent(warm, before)
        used["erase_count_mean"] = before["erase_count_mean"] - warm["erase_count_mean"]
        return rows, used

    @property
    def time_text(self) -> str:
        """How long it measures."""
        return "until something is lost"

    @property
    def data_text(self) -> str:
        """What is written."""
        return RANDOM


def unmeasured(error: RequestError, values: tuple[Value, ...]) -> Measured:
    """What there is of a drive that can't be worn out: no values, and why."""
    return Measured(values=values, notes=(f"not measured: {error}",))


def _overrides(small: Target, erases: int, factor: float) -> list[tuple[str, str]]:
    slc = max(1, round((small.parameter(SLC_ENDURANCE) or 1) / factor))
    failures = min(1.0, (small.parameter(FAILURES) or 0) * factor)
    before = round((small.parameter(INITIAL) or 0) / factor)
    return [
        *((ENDURANCE, str(erases)), (SLC_ENDURANCE, str(slc)), (INITIAL, str(before))),
        (FAILURES, f"{failures:.6g}"),
    ]


def _has_ended(counters: dict[str, float]) -> bool:
    return bool(counters["uncorrectable_codewords"] or counters["read_only"])


def _left(done: int) -> float:
    """Share of the bar that a round takes: nobody knows how many there will be."""
    return 0.02 * 0.98**done


def _flash_bytes(target: Target) -> float:
    """Bytes of all blocks that erases are counted of, at full size."""
    original = target.original
    assert original is not None
    return original.raw_bytes * target.capacity_bytes / original.user_bytes


def _values(
    amplification: float | None,
    forecast: float | None,
    rated: float | None,
    lost: float | None,
    read_only: float | None,
    capacity_bytes: int,
) -> tuple[Value, ...]:
    a_day = None if rated is None else rated * TB / capacity_bytes / DAYS
    title = "Written"
    return (
        Value("write_amplification", "Write amplification", amplification, "", "lower"),
        Value("forecast_tbw", f"{title} at the rated erases, by formula", forecast, "TB", "higher"),
        Value("rated_tbw", f"{title} at the rated erases, as counted", rated, "TB", "higher"),
        Value("drive_writes_a_day", "The latter in drive writes a day", a_day, "", "higher"),
        Value("first_loss_tbw", f"{title} until a sector is lost", lost, "TB", "higher"),
        Value("read_only_tbw", f"{title} until the drive only reads", read_only, "TB", "higher"),
    )


def _notes(
    small: Target, target: Target, erases: int, factor: float, *, ended: bool
) -> tuple[str, ...]:
    divisor = round(target.capacity_bytes / small.capacity_bytes)
    found = [
        f"simulated: 1/{divisor} of the drive, whose blocks stand {erases} erases, each for "
        f"{factor:.4g} of the drive; bytes written are extrapolated from the erases",
        "data are read minutes after they were written: what a shelf adds is in `retention`",
    ]
    if not ended:
        found.append(f"nothing was lost after {MOST_ERASES} times the rated erases")
    return tuple(found)


PROCEDURES = (
    Endurance(
        id="endurance",
        title="Endurance: random writes until a sector is lost, and a forecast",
        group="studies",
        states=("new",),
        begins_new=True,
        kinds=("flash",),
        extra_drives=1,
    ),
)
