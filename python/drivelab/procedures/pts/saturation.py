"""Random writes without end: samples over time, and whether they have become steady.

The stimulus never changes, so nothing sets a round apart. A round is a stretch of 30 minutes, or
of an eighth of the capacity if that is written sooner; its last sample (one minute) is tracked. So
there are at least twelve rounds within 6 hours and 32 within four capacities, whether a drive
writes 20 kB/s or 500 MB/s. Samples in a row would be steady on every drive that has not used up
its erased blocks yet: no window counts before the host wrote two capacities, or half of the time
is over.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from drivelab.counters import program_bytes, spent_in, write_amplification
from drivelab.procedures.measured import Chart, Column, Row, Table, Value
from drivelab.procedures.pts.bench import Bench, Stimulus, one_size
from drivelab.procedures.pts.convergence import Convergence, Tracked, until_steady
from drivelab.procedures.pts.rates import MINUTE, Sample, duration_s, samples, whole_sample
from drivelab.procedures.pts.settings import time_words
from drivelab.procedures.pts.steady_state import WINDOW_ROUNDS
from drivelab.quantities import GB, KIB, MB, number
from drivelab.targets import Report

BLOCK_BYTES = 4 * KIB
IOPS = Column("iops", "4 KiB random writes", "IOPS")
_IOPS: tuple[str, Literal["higher"]] = ("IOPS", "higher")
ROUND_CAPACITIES = 1 / 8
"""A round ends when this share of the capacity was written, at the latest."""
COUNTED_CAPACITIES = 2
"""No window counts before the host wrote so many capacities: raw flash is rarely more than that."""
COUNTED_TIME_SHARE = 0.5
"""The same for drives too slow for it, as a share of the longest time."""
_ROUNDS_TEXT = (
    "Rounds fit the drive: one ends after {} or with 1/{:g} of the capacity written, and its last "
    "sample is tracked; the standard's rounds are minutes in a row."
)


@dataclass(frozen=True)
class Point:
    """One sample, and how far the test was at its end."""

    minute: float
    written_bytes: int
    sample: Sample


@dataclass
class Saturation:
    """4 KiB random writes on one drive, continued until they are steady or a limit ends them."""

    bench: Bench
    outstanding: int
    time_max_s: float
    bytes_max: int
    """Of its own writes."""
    spacing_s: float
    round_capacities: float = ROUND_CAPACITIES
    counted_capacities: float = COUNTED_CAPACITIES
    rounds_max: int | None = None
    """As many as the longest time and the most bytes leave room for, if none."""
    points: list[Point] = field(default_factory=list)
    stretches: list[Report] = field(default_factory=list)
    elapsed_s: float = 0.0
    written_bytes: int = 0

    @property
    def stimulus(self) -> Stimulus:
        """What is written."""
        return Stimulus("writes", one_size(BLOCK_BYTES), 0, self.outstanding)

    @property
    def round_bytes(self) -> int:
        """What a round writes at most."""
        share = int(self.round_capacities * self.bench.capacity_bytes)
        return max(BLOCK_BYTES, share - share % BLOCK_BYTES)

    def run(self, share: float) -> Convergence:
        """Writes until steady."""
        return until_steady(
            (Tracked("iops", "4 KiB write", "IOPS"),),
            self.rounds_max
            or math.ceil(self.time_max_s / self.spacing_s)
            + math.ceil(self.bytes_max / self.round_bytes),
            f"{time_words(self.spacing_s)}, or 1/{1 / self.round_capacities:g} of the capacity "
            "if that is written sooner; tracked is the last sample of each "
            f"({self.bench.lengths.stimulus_s:g} s)",
            share,
            self._stretch,
            self._counts,
        )

    def deviations(self) -> tuple[str, ...]:
        """How its rounds differ from the standard's."""
        rounds = _ROUNDS_TEXT.format(time_words(self.spacing_s), 1 / self.round_capacities)
        least = time_words(round(self.time_max_s * COUNTED_TIME_SHARE))
        capacities = f"{self.counted_capacities:g}"
        capacities += " capacity is" if capacities == "1" else " capacities are"
        return (
            rounds,
            f"No steady window counts before {capacities} written or {least} have passed: until "
            "then a drive may live on erased blocks.",
        )

    def notes(self, found: Convergence) -> tuple[str, ...]:
        """What is to be known of a steady state that came by time, before much was written."""
        percent = 100 * self.written_bytes / self.bench.capacity_bytes
        has_flash = program_bytes(spent_in(self.stretches[-1])) is not None
        if not found.steady or percent >= 100 or not has_flash:
            return ()
        return (
            f"It was steady with {number(percent, 2)} % of the capacity written: a drive that has "
            "erased blocks left may be slower once they are used up.",
        )

    def level(self, found: Convergence) -> Value:
        """IOPS of the window; of the last sample if there were too few rounds for a window."""
        if len(found.history) >= WINDOW_ROUNDS:
            return Value("last_iops", "Average of the window", found.average("iops"), *_IOPS)
        last = self.points[-1].sample.iops if self.points else None
        title = f"Last sample: {len(found.history)} rounds, and a window has {WINDOW_ROUNDS}"
        return Value("last_iops", title, last, *_IOPS)

    def _counts(self) -> bool:
        """Whether a steady window means anything yet."""
        return (
            self.written_bytes >= self.counted_capacities * self.bench.capacity_bytes
            or self.elapsed_s >= COUNTED_TIME_SHARE * self.time_max_s
        )

    def _stretch(self, _: int, share: float) -> dict[str, float] | None:
        """Writes for one round; None when the limits left no room for a whole one."""
        left_bytes = self.bytes_max - self.written_bytes
        # A drive that takes half a second for a write is done a little after the time is over.
        left_s = self.time_max_s - self.elapsed_s
        if left_bytes < BLOCK_BYTES or left_s <= 0:
            return None
        report = self.bench.apply(
            self.stimulus,
            min(self.spacing_s, left_s),
            share,
            bytes_max=min(left_bytes, self.round_bytes),
            sample_s=self.bench.lengths.stimulus_s,
        )
        self.stretches.append(report)
        found, lasted_s = samples(report) or whole_sample(report), duration_s(report)
        written = self.written_bytes
        moved = report["jobs"][0]["write"]["bytes"]
        self.written_bytes += moved
        for sample in found:
            written += sample.byte_count
            minute = (self.elapsed_s + sample.start_s + sample.width_s) / 60
            self.points.append(Point(minute, written, sample))
        self.elapsed_s += lasted_s
        # The last requests are done a little after the time is over.
        whole = lasted_s >= self.spacing_s * 0.999 or moved >= self.round_bytes
        return {"iops": found[-1].iops} if whole and found else None

    def table(self) -> Table:
        """Every sample."""
        capacity = self.bench.capacity_bytes
        rows: tuple[Row, ...] = tuple(
            {
                "minute": point.minute,
                "written_gb": point.written_bytes / GB,
                "drive_fills": point.written_bytes / capacity,
                "iops": point.sample.iops,
                "mean_ms": point.sample.mean_ms,
                "max_ms": point.sample.max_ms,
            }
            for point in self.points
        )
        columns = (
            MINUTE,
            Column("written_gb", "Written", "GB"),
            Column("drive_fills", "Written, in capacities"),
            IOPS,
            Column("mean_ms", "Mean latency", "ms"),
            Column("max_ms", "Longest latency", "ms"),
        )
        return Table("samples", "4 KiB random writes over time", columns, rows)

    def stretches_table(self) -> Table:
        """Rounds with their write amplification, and what IOPS times WA comes to."""
        rows: list[Row] = []
        for index, report in enumerate(self.stretches, start=1):
            factor = write_amplification(spent_in(report))
            rate = report["jobs"][0]["write"]["iops"]
            known = factor is not None and rate is not None
            programmed = rate * BLOCK_BYTES * factor / MB if known else None
            rows.append(
                {
                    "round": index,
                    "iops": rate,
                    "write_amplification": factor,
                    "programmed_mb_per_s": programmed,
                }
            )
        columns = (
            Column("round", "Round"),
            IOPS,
            Column("write_amplification", "Write amplification"),
            Column("programmed_mb_per_s", "Programmed", "MB/s"),
        )
        return Table("stretches", "Write amplification by round", columns, tuple(rows))


CHARTS = (
    Chart("samples", "IOPS against time", "lines", "minute", "iops"),
    Chart("samples", "IOPS against bytes written", "lines", "written_gb", "iops"),
    Chart("samples", "IOPS against drive fills", "lines", "drive_fills", "iops"),
    Chart("samples", "Mean latency against time", "lines", "minute", "mean_ms", log_y=True),
    Chart("samples", "Longest latency against time", "lines", "minute", "max_ms", log_y=True),
)
