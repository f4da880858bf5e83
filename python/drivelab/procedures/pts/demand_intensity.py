"""Demand intensity: response times of 4 KiB requests by threads and queue depths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from drivelab.procedures.measured import Cell, Measured, Value
from drivelab.procedures.pts import demand, histogram
from drivelab.procedures.pts.bench import Bench, Stimulus, one_size
from drivelab.procedures.pts.convergence import Tracked, until_steady
from drivelab.procedures.pts.demand import FULL_DEMAND, Demand
from drivelab.procedures.pts.performance_test import PerformanceTest
from drivelab.procedures.pts.rates import averaged, iops
from drivelab.quantities import KIB
from drivelab.targets import Report

READ_PERCENT = 65
"""The usual choice; the standard leaves mix and size to the operator."""
MEAN_MS_MAX = 5.0
"""The most useful demand is the one with most IOPS whose mean latency isn't longer."""
BEST = f"most IOPS within {MEAN_MS_MAX:g} ms"
NONE_NOTE = (
    f"no demand has a mean latency within {MEAN_MS_MAX:g} ms, not even one request at a time"
)
WHAT = "4 KiB random, 65 % read"


@dataclass(frozen=True, kw_only=True)
class DemandIntensityTest(PerformanceTest):
    """Writes first, then 49 demands; round by round until steady."""

    def perform(self, bench: Bench) -> Measured:
        """The test on a purged drive."""
        bench.precondition(0.2)
        rounds: list[dict[Demand, dict[str, Cell]]] = []
        latest: dict[Demand, Report] = {}
        threads, depth = FULL_DEMAND

        def one_round(_: int, share: float) -> dict[str, float]:
            step = share / (1 + len(demand.CELLS))
            prewrite = Stimulus("prewrite", one_size(4 * KIB), 0, threads * depth)
            bench.apply(prewrite, bench.lengths.prewrite_s, step)
            latest.update(
                demand.measure(
                    lambda outstanding: bench.apply(
                        Stimulus("demand", one_size(4 * KIB), READ_PERCENT, outstanding),
                        bench.lengths.stimulus_s,
                        step,
                    )
                )
            )
            rounds.append(demand.rows_of(latest))
            return {"iops": iops(latest[FULL_DEMAND])}

        found = until_steady(
            (Tracked("iops", "IOPS at 32 x 32", "IOPS"),),
            bench.lengths.rounds_max,
            "4 KiB random writes at 32 x 32, then all 49 demands",
            0.8,
            one_round,
        )
        window = [rounds[index - 1] for index in found.window]
        cells = {key: averaged([cells[key] for cells in window]) for key in demand.CELLS}
        best = most_useful(cells)
        bins = {
            _words(key): histogram.bins_of([latest[key]])
            for key in dict.fromkeys(filter(None, (FULL_DEMAND, best, (1, 1))))
        }
        facts = (
            ("Workload", WHAT),
            ("Queue depth / threads", "1 to 32 / 1 to 32"),
            ("Most useful demand", "none" if best is None else _words(best)),
        )
        return Measured(
            span_bytes=bench.span_bytes,
            values=(
                *_values("full", _words(FULL_DEMAND), cells[FULL_DEMAND]),
                *_values("best", BEST, {} if best is None else cells[best]),
                *_values("single", _words((1, 1)), cells[1, 1]),
            ),
            tables=(
                bench.header(self.title, facts),
                demand.table(cells, f"{WHAT}, {found.average_text}"),
                *found.tables(),
                *histogram.tables(bins, WHAT),
            ),
            charts=(*demand.CHARTS, *histogram.charts(WHAT), *found.charts()),
            deviations=(
                *self.deviations(
                    bench, "precondition_fills", "stimulus_s", "rounds_max", "prewrite_s"
                ),
                "Histograms are of the last round, not of 10 minutes at each demand of their own.",
            ),
            notes=(*found.notes(), *((NONE_NOTE,) if best is None else ())),
            steady_state=found.record(),
        )


def most_useful(cells: Mapping[Demand, Mapping[str, Cell]]) -> Demand | None:
    """The demand with most IOPS within `MEAN_MS_MAX`, the lowest of equal ones; None if there is
    none."""
    good = [
        (-float(cell["iops"]), key[0] * key[1], key)
        for key, cell in cells.items()
        if cell["iops"] is not None
        and cell["mean_ms"] is not None
        and float(cell["mean_ms"]) <= MEAN_MS_MAX
    ]
    return min(good)[2] if good else None


def _words(of: Demand) -> str:
    return f"{of[0]} thread{'s' if of[0] > 1 else ''} x {of[1]}"


def _values(name: str, title: str, cell: Mapping[str, Cell]) -> tuple[Value, Value]:
    rate, mean = cell.get("iops"), cell.get("mean_ms")
    return (
        Value(
            f"{name}_iops",
            f"IOPS, {title}",
            None if rate is None else float(rate),
            "IOPS",
            "higher",
        ),
        Value(
            f"{name}_mean_ms",
            f"Mean latency, {title}",
            None if mean is None else float(mean),
            "ms",
            "lower",
        ),
    )


PROCEDURES = (
    DemandIntensityTest(
        id="pts-demand-intensity",
        title="PTS demand intensity: 7 x 7 threads and queue depths, 4 KiB, to steady state",
        weight=15,
    ),
)
