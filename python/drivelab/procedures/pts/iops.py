"""IOPS: 56 combinations of read share and block size, random, round by round until steady."""

from __future__ import annotations

from dataclasses import dataclass

from drivelab.procedures.measured import Cell, Chart, Column, Measured, Row, Table, Value
from drivelab.procedures.pts.bench import Bench, Stimulus, one_size
from drivelab.procedures.pts.convergence import Tracked, until_steady
from drivelab.procedures.pts.performance_test import PerformanceTest
from drivelab.procedures.pts.rates import RATE_COLUMNS, averaged, iops, rates
from drivelab.quantities import KIB

READ_PERCENTS = (100, 95, 65, 50, 35, 5, 0)
BLOCK_BYTES = (1024 * KIB, 128 * KIB, 64 * KIB, 32 * KIB, 16 * KIB, 8 * KIB, 4 * KIB, KIB // 2)
TRACKED = {
    (0, 4 * KIB): Tracked("write_4k", "4 KiB write", "IOPS"),
    (65, 64 * KIB): Tracked("mixed_64k", "64 KiB, 65 % read", "IOPS"),
    (100, 1024 * KIB): Tracked("read_1024k", "1024 KiB read", "IOPS"),
}

Cells = dict[tuple[int, int], dict[str, Cell]]
"""Rates by read percentage and block size."""


@dataclass(frozen=True, kw_only=True)
class IopsTest(PerformanceTest):
    """The matrix of read shares and block sizes."""

    def perform(self, bench: Bench) -> Measured:
        """The test on a purged drive."""
        bench.precondition(0.1)
        rounds: list[Cells] = []

        def one_round(_: int, share: float) -> dict[str, float]:
            cells: Cells = {}
            tracked: dict[str, float] = {}
            for mix in READ_PERCENTS:
                for size in BLOCK_BYTES:
                    stimulus = Stimulus(
                        f"{mix}-{size}", one_size(size), mix, self.settings.outstanding
                    )
                    report = bench.apply(stimulus, bench.lengths.stimulus_s, share / 56)
                    cells[mix, size] = rates(report)
                    if (mix, size) in TRACKED:
                        tracked[TRACKED[mix, size].key] = iops(report)
            rounds.append(cells)
            return tracked

        found = until_steady(
            tuple(TRACKED.values()),
            bench.lengths.rounds_max,
            "all 56 combinations once",
            0.9,
            one_round,
        )
        window = [rounds[index - 1] for index in found.window]
        matrix = {
            key: averaged([cells[key] for cells in window])
            for key in ((mix, size) for mix in READ_PERCENTS for size in BLOCK_BYTES)
        }
        settings = self.settings
        facts = (("Queue depth / threads", f"{settings.queue_depth} / {settings.threads}"),)
        return Measured(
            span_bytes=bench.span_bytes,
            values=_values(matrix),
            tables=(
                bench.header(self.title, facts),
                _matrix_table(matrix, found.average_text),
                *found.tables(),
                _write_rounds(rounds),
            ),
            charts=(*_CHARTS, *found.charts(), _WRITE_ROUNDS_CHART),
            deviations=self.deviations(bench, "precondition_fills", "stimulus_s", "rounds_max"),
            notes=found.notes(),
            steady_state=found.record(),
        )


def size_text(size: int) -> str:
    """A block size as PTS writes it: "4 KiB", "0.5 KiB"."""
    return f"{size / KIB:g} KiB"


def mix_text(read_percent: int) -> str:
    """A read share as PTS writes it: "65/35"."""
    return f"{read_percent}/{100 - read_percent}"


def _values(matrix: Cells) -> tuple[Value, ...]:
    wanted = (
        ("iops_4k_read", "4 KiB random read", (100, 4 * KIB)),
        ("iops_4k_mixed", "4 KiB random, 65 % read", (65, 4 * KIB)),
        ("iops_4k_write", "4 KiB random write", (0, 4 * KIB)),
        ("iops_64k_mixed", "64 KiB random, 65 % read", (65, 64 * KIB)),
        ("iops_1024k_read", "1024 KiB random read", (100, 1024 * KIB)),
    )
    found = ((name, title, matrix[key]["iops"]) for name, title, key in wanted)
    return tuple(
        Value(name, title, None if value is None else float(value), "IOPS", "higher")
        for name, title, value in found
    )


_MIX = Column("mix", "Read/write mix")
_BLOCK = Column("block", "Block size")


def _matrix_table(matrix: Cells, average: str) -> Table:
    rows: tuple[Row, ...] = tuple(
        {"mix": mix_text(mix), "block": size_text(size), "block_kib": size / KIB, **cell}
        for (mix, size), cell in matrix.items()
    )
    columns = (_MIX, _BLOCK, Column("block_kib", "Block size", "KiB"), *RATE_COLUMNS)
    return Table("matrix", f"All combinations, {average}", columns, rows)


def _write_rounds(rounds: list[Cells]) -> Table:
    rows: tuple[Row, ...] = tuple(
        {"round": index, "block": size_text(size), "iops": cells[0, size]["iops"]}
        for index, cells in enumerate(rounds, start=1)
        for size in BLOCK_BYTES
    )
    columns = (Column("round", "Round"), _BLOCK, RATE_COLUMNS[0])
    return Table("write_rounds", "Writes of every size by round", columns, rows)


_CHARTS = (
    Chart("matrix", "IOPS by block size and mix", "heat", "block", "iops", by="mix"),
    Chart(
        "matrix",
        "IOPS by block size",
        "lines",
        "block_kib",
        "iops",
        by="mix",
        log_x=True,
        log_y=True,
    ),
)
_WRITE_ROUNDS_CHART = Chart(
    "write_rounds",
    "Convergence of writes, every block size",
    "lines",
    "round",
    "iops",
    by="block",
    log_y=True,
)

PROCEDURES = (
    IopsTest(
        id="pts-iops",
        title="PTS IOPS: 7 mixes x 8 block sizes, random, to steady state",
        weight=15,
    ),
)
