"""Composite block workload: a mix of twelve sizes with hot places, at growing demand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from drivelab.procedures.flow import flow
from drivelab.procedures.measured import Cell, Measured, Value
from drivelab.procedures.pts import demand, histogram
from drivelab.procedures.pts.bench import Bench, Stimulus
from drivelab.procedures.pts.convergence import Tracked, until_steady
from drivelab.procedures.pts.performance_test import PerformanceTest
from drivelab.procedures.pts.rates import averaged, iops, numeric, rates
from drivelab.procedures.pts.steady_state import WINDOW_ROUNDS
from drivelab.quantities import KIB
from drivelab.targets import Report
from drivelab.workload import BlockSize, Zone, Zoned

READ_PERCENT = 40
SIZES = (
    (512, 4),
    (1024, 1),
    (1536, 1),
    (2048, 1),
    (2560, 1),
    (3072, 1),
    (3584, 1),
    (4 * KIB, 67),
    (8 * KIB, 10),
    (16 * KIB, 7),
    (32 * KIB, 3),
    (64 * KIB, 3),
)
"""Bytes, and percent of the requests."""
ZONES = ((50, 5), (30, 15), (20, 80))
"""Percent of the requests, and percent of the active range that they go to, in ascending order."""
WHAT = "composite workload at 32 x 32"


def stimulus(outstanding: int) -> Stimulus:
    """The composite workload."""
    return Stimulus(
        "composite",
        tuple(BlockSize(bytes=size, weight=percent) for size, percent in SIZES),
        READ_PERCENT,
        outstanding,
        distribution=Zoned(zones=tuple(Zone(access_percent=a, size_percent=s) for a, s in ZONES)),
    )


@dataclass(frozen=True, kw_only=True)
class CompositeTest(PerformanceTest):
    """32 threads at queue depth 32 until steady; then every demand once."""

    def perform(self, bench: Bench) -> Measured:
        """The test on a purged drive."""
        bench.precondition(0.3)
        rows: list[dict[str, Cell]] = []
        reports: list[Report] = []
        threads, depth = demand.FULL_DEMAND

        def one_round(_: int, share: float) -> dict[str, float]:
            report = bench.apply(stimulus(threads * depth), bench.lengths.composite_s, share)
            rows.append(rates(report))
            reports[:] = [*reports, report][-WINDOW_ROUNDS:]
            return {"iops": iops(report)}

        found = until_steady(
            (Tracked("iops", "IOPS at 32 x 32", "IOPS"),),
            bench.lengths.rounds_max,
            "the workload at 32 threads x queue depth 32",
            0.4,
            one_round,
        )
        cells = demand.rows_of(
            demand.measure(
                lambda outstanding: bench.apply(
                    stimulus(outstanding), bench.lengths.stimulus_s, 0.3 / len(demand.CELLS)
                )
            )
        )
        average = averaged([rows[index - 1] for index in found.window])
        bins = histogram.bins_of(reports)
        facts = (
            ("Workload", _workload_text()),
            ("Queue depth / threads", "32 / 32; then 1 to 32 of each"),
        )
        return Measured(
            span_bytes=bench.span_bytes,
            values=_values(average, reports[-1], bins),
            tables=(
                bench.header(self.title, facts),
                demand.table(cells, "composite workload"),
                *found.tables(),
                *histogram.tables({WHAT: bins}, WHAT),
            ),
            charts=(*demand.CHARTS, *histogram.charts(WHAT), *found.charts()),
            deviations=(
                *self.deviations(
                    bench, "precondition_fills", "composite_s", "stimulus_s", "rounds_max"
                ),
                "Places are multiples of 512 bytes for all sizes, as fio draws them for a mix.",
                "The demands beside 32 x 32 are applied once, after the last round.",
            ),
            notes=found.notes(),
            steady_state=found.record(),
        )


def _values(
    average: Mapping[str, Cell], last_round: Report, bins: histogram.Bins
) -> tuple[Value, ...]:
    """Headline numbers, of the window but for the mean latency of reads."""
    reads_ms, nines_ms = flow(last_round, "read")["mean_ms"], histogram.percentile_ms(bins, 0.9999)
    return (
        Value("iops", "IOPS at 32 x 32", numeric(average["iops"]), "IOPS", "higher"),
        Value("mb_per_s", "Throughput", numeric(average["mb_per_s"]), "MB/s", "higher"),
        Value("mean_ms", "Mean latency", numeric(average["mean_ms"]), "ms", "lower"),
        Value("read_mean_ms", "Mean latency of reads, last round", reads_ms, "ms", "lower"),
        Value("p99_99_ms", "99.99 % of the last rounds", nines_ms, "ms", "lower"),
    )


def _workload_text() -> str:
    sizes = ", ".join(f"{size / KIB:g} KiB {percent} %" for size, percent in SIZES)
    zones = ", ".join(f"{access} % in {size} %" for access, size in ZONES)
    return f"{READ_PERCENT} % reads; {sizes}; requests by place: {zones} of the active range"


PROCEDURES = (
    CompositeTest(
        id="pts-composite",
        title="PTS composite block workload: twelve sizes, 40 % reads, hot places, to steady state",
        weight=15,
    ),
)
