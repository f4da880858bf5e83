"""Write saturation: 4 KiB random writes on a purged drive until they are steady."""

from __future__ import annotations

from dataclasses import dataclass

from drivelab.counters import write_amplification_of
from drivelab.procedures.measured import Measured, Value
from drivelab.procedures.pts import histogram, saturation
from drivelab.procedures.pts.bench import Bench
from drivelab.procedures.pts.performance_test import PerformanceTest
from drivelab.procedures.pts.saturation import Saturation
from drivelab.quantities import GB

WHAT = "4 KiB random writes of the last round"


@dataclass(frozen=True, kw_only=True)
class WriteSaturationTest(PerformanceTest):
    """Until 4 capacities were written, or for 6 hours, or until steady."""

    def perform(self, bench: Bench) -> Measured:
        """The test on a purged drive."""
        lengths, settings = bench.lengths, self.settings
        writing = Saturation(
            bench,
            settings.outstanding,
            lengths.saturation_s,
            int(lengths.saturation_fills * bench.capacity_bytes),
            lengths.spacing_s,
        )
        found = writing.run(1.0)
        last = writing.stretches[-1:]
        bins = histogram.bins_of(last)
        samples = [point.sample for point in writing.points]
        facts = (
            ("Queue depth / threads", f"{settings.queue_depth} / {settings.threads}"),
            (
                "Ends",
                f"when steady, after {lengths.saturation_s / 3600:.3g} h, or with "
                f"{lengths.saturation_fills:g} capacities written",
            ),
        )
        return Measured(
            span_bytes=bench.span_bytes,
            values=(
                Value(
                    "first_iops",
                    "First sample, out of the purge",
                    samples[0].iops if samples else None,
                    "IOPS",
                    "higher",
                ),
                writing.level(found),
                Value(
                    "write_amplification",
                    "Write amplification, last round",
                    write_amplification_of(last),
                    "",
                    "lower",
                ),
                Value("written_gb", "Written", writing.written_bytes / GB, "GB"),
                Value(
                    "written_fills",
                    "Written, in capacities",
                    writing.written_bytes / bench.capacity_bytes,
                    "",
                ),
                Value("hours", "Time", writing.elapsed_s / 3600, "h"),
                Value(
                    "p99_99_ms",
                    "99.99 % of the last round",
                    histogram.percentile_ms(bins, 0.9999),
                    "ms",
                    "lower",
                ),
            ),
            tables=(
                bench.header(self.title, facts, before="none"),
                writing.stretches_table(),
                *found.tables(),
                *histogram.tables({WHAT: bins}, WHAT),
                writing.table(),
            ),
            charts=(*saturation.CHARTS, *histogram.charts(WHAT), *found.charts()),
            deviations=(
                *self.deviations(
                    bench, "stimulus_s", "spacing_s", "saturation_s", "saturation_fills"
                ),
                *writing.deviations(),
            ),
            notes=(*found.notes(), *writing.notes(found)),
            steady_state=found.record(),
        )


PROCEDURES = (
    WriteSaturationTest(
        id="pts-write-saturation",
        title="PTS write saturation: 4 KiB random writes from purged to steady",
        weight=40,
    ),
)
