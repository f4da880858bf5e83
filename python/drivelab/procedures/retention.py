"""Retention: a drive that was written when it was new, half worn and worn, read after days to years
without power.

For each wear a drive of flash that has so many erases behind it is filled once in order and left
alone until what it cached is where it stays. Copies of it then lie on a shelf, from not at all to
three years, and are read: at random, 4 KiB at a time, which shows read retries as latency, and once
in order, which finds what is lost. JESD218 [JEDEC] asks a client drive for a year at 30 degrees
after its rated writes, an enterprise drive for three months at 40; hours here are those at the
temperature that `flash.retention_hours` is for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.counters import spent
from drivelab.errors import RequestError
from drivelab.procedures import small_version, steady_writes
from drivelab.procedures.endurance import ENDURANCE, INITIAL, cells_of, unmeasured, wrong_bits
from drivelab.procedures.flow import COLUMNS, flow
from drivelab.procedures.measured import Chart, Column, Measured, Table, Value
from drivelab.procedures.procedure import Procedure
from drivelab.progress import TaskProgress
from drivelab.quantities import GB, KIB, MIB, NS_PER_S, derive_seed
from drivelab.targets import Target
from drivelab.workload import BlockSize, Job

SMALL_BYTES = 2_000_000_000
"""Size of the drive that is left on the shelf, if it can be made so small."""
WEARS = (0, 50, 100)
"""Erases behind the flash, in percent of the rated ones."""
QUICK_WEARS = (0, 100)
DAYS = (0, 30, 91, 365, 1095)
QUICK_DAYS = (0, 365)
YEAR = 365
DAY_NS = 86_400 * NS_PER_S
REST_S = 2 * 3600
"""Before it lies on the shelf: a cache of flash is emptied, as far as that is ever done."""
READ_BYTES = 4 * KIB
READS, QUICK_READS = 20_000, 2_000
SCAN_BYTES = 1_000_000_000
"""Read in order from the start, to find what is lost; or the whole drive."""
SCAN_BLOCK_BYTES = MIB
KEYS = ("mean_ms", "p50_ms", "p99_ms", "p99_9_ms", "max_ms")


@dataclass(frozen=True, kw_only=True)
class Retention(Procedure):
    """Reads after a time without power, by wear."""

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes."""
        return 1 if quick else 3

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Makes a drive for each wear, and a copy of it for each age; the given one stays."""
        small_version.check_model(target)
        wears, days = (QUICK_WEARS, QUICK_DAYS) if quick else (WEARS, DAYS)
        try:
            cells = cells_of(target)
        except RequestError as error:
            return unmeasured(error, _values(()))
        cycles = target.parameter(cells + ENDURANCE)
        rows: list[dict[str, Any]] = []
        notes: tuple[str, ...] = ()
        size = target.capacity_bytes
        for wear in wears:
            erases = round((cycles or 0) * wear / 100)
            overrides = [*wrong_bits(target), (cells + INITIAL, str(erases))]
            try:
                drive = small_version.variant(target, overrides, SMALL_BYTES)
            except RequestError as error:
                return unmeasured(error, _values(()))
            size, part = drive.capacity_bytes, 1 / len(wears)
            steady_writes.fill(drive, drive.capacity_bytes, seed, progress, 0.3 * part)
            drive.idle(REST_S * NS_PER_S)
            for age in days:
                copy = drive.clone()
                copy.age(age * DAY_NS)
                share = 0.7 * part / len(days)
                row = self._read(copy, seed, QUICK_READS if quick else READS, progress, share)
                rows.append({"wear_percent": wear, "days": age} | row)
            notes = small_version.notes(drive, "what is lost is counted on it, not extrapolated")
        return Measured(
            size,
            values=_values(rows),
            tables=(Table("shelf", "Reads by wear and time on a shelf", _COLUMNS, tuple(rows)),),
            charts=(
                Chart("shelf", "Read latency", "lines", "days", "mean_ms", "wear_percent"),
                Chart("shelf", "Read retries", "lines", "days", "retries_per_read", "wear_percent"),
            ),
            notes=notes,
        )

    def _read(
        self, drive: Target, seed: int, reads: int, progress: TaskProgress, share: float
    ) -> dict[str, Any]:
        whole = drive.capacity_bytes - drive.capacity_bytes % SCAN_BLOCK_BYTES
        before = drive.counters()
        job = Job(
            name=self.id,
            rw="randread",
            block_sizes=(BlockSize(bytes=READ_BYTES),),
            span_bytes=whole,
            io_bytes=reads * READ_BYTES,
            percentiles=(50.0, 99.0, 99.9),
            seed=derive_seed(seed, "reads"),
        )
        numbers = flow(drive.run([job], progress, share / 2), "read")
        between = drive.counters()
        scanned = min(whole, SCAN_BYTES - SCAN_BYTES % SCAN_BLOCK_BYTES)
        scan = Job(
            name=f"{self.id}-scan",
            rw="read",
            block_sizes=(BlockSize(bytes=SCAN_BLOCK_BYTES),),
            span_bytes=scanned,
            seed=derive_seed(seed, "scan"),
        )
        found = flow(drive.run([scan], progress, share / 2), "read")
        single, all_of_it = spent(before, between), spent(between, drive.counters())
        return {
            **{key: numbers[key] for key in KEYS},
            "retries_per_read": single["read_retries"] / reads,
            "failed_percent": 100 * single["read_errors"] / reads,
            "scan_mb_per_s": found["mb_per_s"],
            "scan_gb": scanned / GB,
            "lost_codewords": all_of_it["uncorrectable_codewords"],
        }

    @property
    def time_text(self) -> str:
        """How long it measures."""
        return f"{READS} reads and {SCAN_BYTES // 10**9} GB each"


_COLUMNS = (
    Column("wear_percent", "Erases before, of the rated", "%"),
    Column("days", "On the shelf", "days"),
    *(COLUMNS[key] for key in KEYS),
    Column("retries_per_read", "Retries of a read"),
    Column("failed_percent", "Reads that failed", "%"),
    Column("scan_mb_per_s", "Read in order", "MB/s"),
    Column("scan_gb", "Read in order", "GB"),
    Column("lost_codewords", "Codewords lost of it"),
)


def _values(rows: Sequence[dict[str, Any]]) -> tuple[Value, ...]:
    def of(wear: int, days: int, key: str) -> float | None:
        at = (row[key] for row in rows if (row["wear_percent"], row["days"]) == (wear, days))
        return next(at, None)

    worn, year = WEARS[-1], "worn, after a year"
    return (
        Value("new_mean_ms", "Read, new", of(0, 0, "mean_ms"), "ms", "lower"),
        Value("worn_mean_ms", "Read, worn", of(worn, 0, "mean_ms"), "ms", "lower"),
        Value("year_mean_ms", f"Read, {year}", of(worn, YEAR, "mean_ms"), "ms", "lower"),
        Value("year_p99_ms", f"99 % of reads, {year}", of(worn, YEAR, "p99_ms"), "ms", "lower"),
        Value(
            "year_retries", f"Retries of a read, {year}", of(worn, YEAR, "retries_per_read"), "",
            "lower",
        ),
        Value(
            "year_lost_codewords", f"Codewords lost, {year}", of(worn, YEAR, "lost_codewords"), "",
            "lower",
        ),
    )  # fmt: skip


PROCEDURES = (
    Retention(
        id="retention",
        title="Retention: reads after 0 days to 3 years without power, new to worn out",
        group="studies",
        states=("new",),
        begins_new=True,
        kinds=("flash",),
        extra_drives=2,
    ),
)
