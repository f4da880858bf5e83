"""Latency: one request at a time, nine combinations until steady; then a histogram of writes."""

from __future__ import annotations

from dataclasses import dataclass

from drivelab.procedures.measured import Cell, Chart, Column, Measured, Row, Table, Value
from drivelab.procedures.pts import histogram
from drivelab.procedures.pts.bench import Bench, Stimulus, one_size
from drivelab.procedures.pts.convergence import Tracked, until_steady
from drivelab.procedures.pts.iops import mix_text, size_text
from drivelab.procedures.pts.performance_test import PerformanceTest
from drivelab.procedures.pts.rates import RATE_COLUMNS, averaged, numeric, rates
from drivelab.quantities import KIB

READ_PERCENTS = (100, 65, 0)
BLOCK_BYTES = (8 * KIB, 4 * KIB, KIB // 2)
WRITES_4K = (0, 4 * KIB)
WHAT = "4 KiB random writes, one at a time"

Cells = dict[tuple[int, int], dict[str, Cell]]
"""Rates by read percentage and block size."""


@dataclass(frozen=True, kw_only=True)
class LatencyTest(PerformanceTest):
    """Queue depth 1, one thread."""

    def perform(self, bench: Bench) -> Measured:
        """The test on a purged drive."""
        bench.precondition(0.3)
        rounds: list[Cells] = []

        def one_round(_: int, share: float) -> dict[str, float]:
            cells: Cells = {}
            for mix in READ_PERCENTS:
                for size in BLOCK_BYTES:
                    stimulus = Stimulus(f"{mix}-{size}", one_size(size), mix, 1)
                    report = bench.apply(stimulus, bench.lengths.stimulus_s, share / 9)
                    cells[mix, size] = rates(report)
            rounds.append(cells)
            return {"mean": float(cells[WRITES_4K]["mean_ms"] or 0)}

        found = until_steady(
            (Tracked("mean", "Mean latency, 4 KiB write", "ms"),),
            bench.lengths.rounds_max,
            "all 9 combinations once",
            0.4,
            one_round,
        )
        writes = Stimulus("histogram", one_size(4 * KIB), 0, 1)
        bins = histogram.bins_of([bench.apply(writes, bench.lengths.histogram_s, 0.3)])
        window = [rounds[index - 1] for index in found.window]
        matrix = {key: averaged([cells[key] for cells in window]) for key in rounds[0]}
        facts = (
            ("Queue depth / threads", "1 / 1"),
            ("Histogram", f"{bench.lengths.histogram_s:g} s of {WHAT}"),
        )
        return Measured(
            span_bytes=bench.span_bytes,
            values=_values(matrix, bins),
            tables=(
                bench.header(self.title, facts),
                _matrix_table(matrix, found.average_text),
                *found.tables(),
                *histogram.tables({WHAT: bins}, WHAT),
            ),
            charts=(*_CHARTS, *histogram.charts(WHAT), *found.charts()),
            deviations=self.deviations(
                bench, "precondition_fills", "stimulus_s", "rounds_max", "histogram_s"
            ),
            notes=found.notes(),
            steady_state=found.record(),
        )


def _values(matrix: Cells, bins: histogram.Bins) -> tuple[Value, ...]:
    wanted = (("read", 100), ("mixed", 65), ("write", 0))
    words = {"read": "4 KiB read", "mixed": "4 KiB, 65 % read", "write": "4 KiB write"}
    cells = [(name, matrix[mix, 4 * KIB]) for name, mix in wanted]
    means = tuple(
        Value(
            f"mean_{name}_ms", f"Mean latency, {words[name]}", numeric(c["mean_ms"]), "ms", "lower"
        )
        for name, c in cells
    )
    longest = tuple(
        Value(f"max_{name}_ms", f"Longest, {words[name]}", numeric(c["max_ms"]), "ms", "lower")
        for name, c in cells
    )
    nines = tuple(
        Value(key, f"{label} of 4 KiB writes", histogram.percentile_ms(bins, share), "ms", "lower")
        for key, label, share in (
            ("write_p99_9_ms", "99.9 %", 0.999),
            ("write_p99_99_ms", "99.99 %", 0.9999),
            ("write_p99_999_ms", "99.999 %", 0.99999),
        )
    )
    return (*means, *longest, *nines)


def _matrix_table(matrix: Cells, average: str) -> Table:
    rows: tuple[Row, ...] = tuple(
        {"mix": mix_text(mix), "block": size_text(size), **cell}
        for (mix, size), cell in matrix.items()
    )
    columns = (Column("mix", "Read/write mix"), Column("block", "Block size"), *RATE_COLUMNS)
    return Table("matrix", f"All combinations, {average}", columns, rows)


_CHARTS = (
    Chart("matrix", "Mean latency", "bars", "block", "mean_ms", by="mix", log_y=True),
    Chart("matrix", "Longest latency", "bars", "block", "max_ms", by="mix", log_y=True),
)

PROCEDURES = (
    LatencyTest(
        id="pts-latency",
        title="PTS latency: 3 mixes x 3 block sizes at queue depth 1, to steady state; histogram",
        weight=12,
    ),
)
