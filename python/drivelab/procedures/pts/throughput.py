"""Throughput: sequential reading and writing, a minute each, round by round until steady."""

from __future__ import annotations

from dataclasses import dataclass

from drivelab.procedures.measured import Cell, Chart, Column, Measured, Row, Table, Value
from drivelab.procedures.pts.bench import Bench, Stimulus, one_size
from drivelab.procedures.pts.convergence import Tracked, until_steady
from drivelab.procedures.pts.performance_test import PerformanceTest
from drivelab.procedures.pts.rates import RATE_COLUMNS, averaged, numeric, rates
from drivelab.quantities import KIB

OUTSTANDING = 32
"""Queue depth 32, one thread."""
DIRECTIONS = {"read": 100, "write": 0}


@dataclass(frozen=True, kw_only=True)
class ThroughputTest(PerformanceTest):
    """Large sequential blocks."""

    block_bytes: int

    def perform(self, bench: Bench) -> Measured:
        """The test on a purged drive."""
        bench.precondition(0.4)
        rounds: list[dict[str, dict[str, Cell]]] = []

        def one_round(_: int, share: float) -> dict[str, float]:
            found = {}
            for direction, read_percent in DIRECTIONS.items():
                stimulus = Stimulus(
                    direction, one_size(self.block_bytes), read_percent, OUTSTANDING, random=False
                )
                report = bench.apply(stimulus, bench.lengths.stimulus_s, share / 2)
                found[direction] = rates(report)
            rounds.append(found)
            return {"write": float(found["write"]["mb_per_s"] or 0)}

        convergence = until_steady(
            (Tracked("write", "Write throughput", "MB/s"),),
            bench.lengths.rounds_max,
            "reading, then writing",
            0.6,
            one_round,
        )
        window = [rounds[index - 1] for index in convergence.window]
        result = {name: averaged([cells[name] for cells in window]) for name in DIRECTIONS}
        facts = (("Queue depth / threads", f"{OUTSTANDING} / 1"),)
        return Measured(
            span_bytes=bench.span_bytes,
            values=tuple(
                Value(
                    f"{name}_mb_per_s",
                    f"Sequential {name}, {self.block_bytes // KIB} KiB",
                    numeric(result[name]["mb_per_s"]),
                    "MB/s",
                    "higher",
                )
                for name in DIRECTIONS
            ),
            tables=(
                bench.header(self.title, facts),
                _result_table(result, convergence.average_text),
                _rounds_table(rounds),
                *convergence.tables(),
            ),
            charts=(_ROUNDS_CHART, *convergence.charts()),
            deviations=(
                *self.deviations(bench, "precondition_fills", "stimulus_s", "rounds_max"),
                "Every stimulus starts at the first logical block.",
            ),
            notes=convergence.notes(),
            steady_state=convergence.record(),
        )


_DIRECTION = Column("direction", "Direction")


def _result_table(result: dict[str, dict[str, Cell]], average: str) -> Table:
    rows: tuple[Row, ...] = tuple({"direction": name, **cell} for name, cell in result.items())
    return Table("result", average[0].upper() + average[1:], (_DIRECTION, *RATE_COLUMNS), rows)


def _rounds_table(rounds: list[dict[str, dict[str, Cell]]]) -> Table:
    rows: tuple[Row, ...] = tuple(
        {"round": index, "direction": name, **cell}
        for index, cells in enumerate(rounds, start=1)
        for name, cell in cells.items()
    )
    columns = (Column("round", "Round"), _DIRECTION, *RATE_COLUMNS)
    return Table("rounds", "Throughput by round", columns, rows)


_ROUNDS_CHART = Chart("rounds", "Throughput by round", "lines", "round", "mb_per_s", by="direction")

PROCEDURES = tuple(
    ThroughputTest(
        id=f"pts-throughput-{size // KIB}k",
        title=f"PTS throughput: {size // KIB} KiB sequential read and write, to steady state",
        block_bytes=size,
        weight=10,
    )
    for size in (1024 * KIB, 128 * KIB)
)
