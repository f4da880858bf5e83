"""Random writes without end: samples over time, and whether they have become steady.

The stimulus never changes, so nothing sets a round apart. A round is a stretch of time (30
minutes); its last sample (one minute) is what is tracked. Five minutes in a row would be steady on
every drive that has not used up its erased blocks yet.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from drivelab.counters import spent_in, write_amplification
from drivelab.procedures.measured import Chart, Column, Row, Table
from drivelab.procedures.pts.bench import Bench, Stimulus, one_size
from drivelab.procedures.pts.convergence import Convergence, Tracked, until_steady
from drivelab.procedures.pts.rates import MINUTE, Sample, duration_s, samples
from drivelab.quantities import GB, KIB, MB
from drivelab.targets import Report

BLOCK_BYTES = 4 * KIB
IOPS = Column("iops", "4 KiB random writes", "IOPS")


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
    points: list[Point] = field(default_factory=list)
    stretches: list[Report] = field(default_factory=list)
    elapsed_s: float = 0.0
    written_bytes: int = 0

    @property
    def stimulus(self) -> Stimulus:
        """What is written."""
        return Stimulus("writes", one_size(BLOCK_BYTES), 0, self.outstanding)

    def run(self, share: float) -> Convergence:
        """Writes until steady."""
        return until_steady(
            (Tracked("iops", "4 KiB write", "IOPS"),),
            math.ceil(self.time_max_s / self.spacing_s),
            f"{self.spacing_s / 60:g} minutes; tracked is the last sample of each "
            f"({self.bench.lengths.stimulus_s:g} s)",
            share,
            self._stretch,
        )

    def level(self, found: Convergence) -> float | None:
        """IOPS of the window; of the last sample if the limits left no whole round."""
        average = found.average("iops")
        if average is None and self.points:
            return self.points[-1].sample.iops
        return average

    def _stretch(self, _: int, share: float) -> dict[str, float] | None:
        """Writes for one round; None when the limits left no room for a whole one."""
        bench = self.bench
        left_bytes = self.bytes_max - self.written_bytes
        # A drive that takes half a second for a write is done a little after the time is over.
        left_s = self.time_max_s - self.elapsed_s
        if left_bytes < BLOCK_BYTES or left_s <= 0:
            return None
        report = bench.apply(
            self.stimulus,
            min(self.spacing_s, left_s),
            share,
            bytes_max=left_bytes,
            sample_s=bench.lengths.stimulus_s,
        )
        self.stretches.append(report)
        written = self.written_bytes
        self.written_bytes += report["jobs"][0]["write"]["bytes"]
        found = samples(report)
        for sample in found:
            written += sample.byte_count
            minute = (self.elapsed_s + sample.start_s + sample.width_s) / 60
            self.points.append(Point(minute, written, sample))
        self.elapsed_s += duration_s(report)
        # The last requests are done a little after the time is over.
        if duration_s(report) < self.spacing_s * 0.999 or not found:
            return None
        return {"iops": found[-1].iops}

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
            programmed = None if factor is None else rate * BLOCK_BYTES * factor / MB
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
