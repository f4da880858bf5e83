"""Resiliency: a drive that was written at random for long, and what brings it back.

The test is run in a tortured state, so the torture is shared with every other test in that state.
On copies of that drive it measures: as it is; after TRIM of everything; after a second TRIM; after
one sequential pass instead; and after secure erase, which is the drive as new but for its wear.
In each condition a pass over all logical blocks reads and another one writes (HD Tach's graph,
`hdtach.py`), and a file of incompressible data is read and written (AS SSD, `as_ssd.py`), each on
a copy of its own. After TRIM and after secure erase nothing is left to be read, and the map alone
would answer: there the pass of reads follows that of writes on the same copy. A drive that ignores
TRIM is not measured after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Any, Literal

from drivelab.counters import spent_in, unmapped_read_share
from drivelab.procedures import as_ssd, hdtach
from drivelab.procedures.flow import flow
from drivelab.procedures.measured import Chart, Column, Measured, Table, Value
from drivelab.procedures.procedure import Procedure
from drivelab.procedures.stream import RANDOM, REPEATING, Stream
from drivelab.progress import TaskProgress
from drivelab.quantities import derive_seed
from drivelab.states import steps
from drivelab.targets import Target
from drivelab.traits import TestTraits

CONDITIONS = {
    "tortured": "as it is",
    "trimmed": "after TRIM",
    "trimmed-twice": "after a second TRIM",
    "passed": "after one sequential pass",
    "clean": "after secure erase",
}
EMPTIED = frozenset(("trimmed", "trimmed-twice", "clean"))
"""Conditions without data: what a pass reads there, a pass has written before."""
UNMAPPED_MAX = 0.5
"""A pass of which this share or more touched no flash says nothing of the drive's reads."""
PASSES = {test.id: test for test in hdtach.PROCEDURES}
FILES = {test.id: test for test in as_ssd.PROCEDURES}
MEASURE_SHARE = 0.85
"""Share of the work that is measuring; the rest is TRIM and the pass between."""

UNREAD_NOTE = "most of what the pass of reads asked for is not mapped: it is left out."

COLUMNS = (
    Column("condition", "Condition"),
    Column("pass_read_mb_per_s", "Pass, reading: mean over positions", "MB/s"),
    Column("pass_read_floor_mb_per_s", "Pass, reading: lowest", "MB/s"),
    Column("pass_write_mb_per_s", "Pass, writing: mean over positions", "MB/s"),
    Column("pass_write_floor_mb_per_s", "Pass, writing: lowest", "MB/s"),
    Column("pass_write_dips", "Pass, writing: dips"),
    Column("file_read_mib_per_s", "AS SSD, reading", "MiB/s"),
    Column("file_write_mib_per_s", "AS SSD, writing", "MiB/s"),
)
GRAPH = (
    Column("condition", "Condition"),
    Column("position_percent", "Position", "%"),
    Column("read_mb_per_s", "Reading", "MB/s"),
    Column("write_mb_per_s", "Writing", "MB/s"),
)
GRAPH_POINTS = 128
"""Points of a graph in the results; each is the mean over its part of the drive."""
WAYS: tuple[Literal["read", "write"], ...] = ("read", "write")
MEASURES = {
    "pass_read_mb_per_s": "Pass, reading",
    "pass_write_mb_per_s": "Pass, writing",
    "file_read_mib_per_s": "AS SSD, reading",
    "file_write_mib_per_s": "AS SSD, writing",
}


@dataclass(frozen=True, kw_only=True)
class Resiliency(Procedure):
    """Every condition of a tortured drive, measured in the same way."""

    has_fixed_length = True

    data: str

    def fits(self, capacity_bytes: int) -> bool:
        """Whether a drive of this size is large enough for every part."""
        return all(test.fits(capacity_bytes) for test in (*PASSES.values(), *FILES.values()))

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes."""
        return len(CONDITIONS) * (2 * capacity_bytes / 100e9 * (0.1 if quick else 1) + 0.2)

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Measures copies of a drive that is in a tortured state; brings each back in its way."""
        share = MEASURE_SHARE / len(CONDITIONS)
        between = (1 - MEASURE_SHARE) / 4
        rows: list[dict[str, Any]] = []
        points: list[dict[str, Any]] = []
        notes: list[str] = []

        def measure(condition: str, drive: Target) -> None:
            emptied = condition in EMPTIED
            row, graph = self._condition(drive, emptied, seed, quick, progress, share)
            rows.append({"condition": CONDITIONS[condition]} | row)
            if row["pass_read_mb_per_s"] is None:
                notes.append(f"Drive {CONDITIONS[condition]}: {UNREAD_NOTE}")
            points.extend({"condition": CONDITIONS[condition]} | point for point in graph)

        measure("tortured", target)
        drive = target.clone()
        if _trim(drive, seed, progress, between):
            measure("trimmed", drive)
            _trim(drive, seed, progress, between)
            measure("trimmed-twice", drive)
        else:
            notes.append("The drive ignores TRIM: nothing is measured after it.")
        drive = target.clone()
        again = derive_seed(seed, "pass")
        steps.fill(drive, again, progress, 2 * between, steps.Fill(self.data))
        steps.settle(drive, progress)
        measure("passed", drive)
        drive = target.clone()
        drive.secure_erase()
        steps.settle(drive, progress)
        measure("clean", drive)
        return Measured(
            target.capacity_bytes,
            values=_values(rows),
            tables=(
                Table("conditions", "Conditions of the drive", COLUMNS, tuple(rows)),
                Table("positions", "Passes over all logical blocks", GRAPH, tuple(points)),
            ),
            charts=_charts(),
            notes=(*notes, *((f"quick: {hdtach.SAMPLED}",) if quick else ())),
        )

    def _condition(
        self,
        drive: Target,
        emptied: bool,
        seed: int,
        quick: bool,
        progress: TaskProgress,
        share: float,
    ) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """One row of the table, and the graphs of the two passes; the drive stays as it is."""

        def run(test: Stream, part: float, on: Target | None = None) -> Measured:
            inner = TaskProgress(test.id)
            progress.follow(inner, share * part)
            copy = drive.clone() if on is None else on
            found = test.measure(copy, derive_seed(seed, test.id), quick, inner)
            inner.finish()
            return found

        writing = "hdtach-write" if self.data == REPEATING else "hdtach-write-random-data"
        copy = drive.clone()
        writes = run(PASSES[writing], 0.4, copy).more["pass"]
        if emptied:
            steps.settle(copy, progress)
        else:
            # Before the next copy is made, not after.
            del copy
            copy = drive.clone()
        pass_of_reads = run(PASSES["hdtach-read"], 0.4, copy)
        reads = pass_of_reads.more["pass"] if _touched_flash(pass_of_reads) else None
        del copy
        files = [run(FILES[f"as-ssd-{way}"], 0.1).report for way in ("read", "write")]
        file_read, file_write = (
            flow(report, way)["mib_per_s"] if report else None
            for report, way in zip(files, WAYS, strict=True)
        )
        row = {
            "pass_read_mb_per_s": reads and reads["mean_mb_per_s"],
            "pass_read_floor_mb_per_s": reads and reads["floor_mb_per_s"],
            "pass_write_mb_per_s": writes["mean_mb_per_s"],
            "pass_write_floor_mb_per_s": writes["floor_mb_per_s"],
            "pass_write_dips": writes["dips"],
            "file_read_mib_per_s": file_read,
            "file_write_mib_per_s": file_write,
        }
        return row, _graph(reads and reads["mb_per_s"], writes["mb_per_s"])

    @property
    def time_text(self) -> str:
        """How long it measures."""
        return "once over in each condition"

    @property
    def data_text(self) -> str:
        """What is written or read."""
        return self.data


def _trim(drive: Target, seed: int, progress: TaskProgress, share: float) -> bool:
    """TRIM of everything and a rest, as in the states; whether the drive took any notice.

    Of an empty drive nobody can tell, and nothing is wrong with it.
    """
    before = drive.counters().get("units_trimmed")
    steps.trim(drive, derive_seed(seed, "trim"), progress, share)
    steps.settle(drive, progress)
    after = drive.counters()
    return before is None or after.get("units_trimmed") != before or after.get("valid_units") == 0


def _touched_flash(measured: Measured) -> bool:
    """Whether the pass read data, not the map alone; a drive that doesn't say is believed."""
    assert measured.report is not None
    share = unmapped_read_share(spent_in(measured.report))
    return share is None or share < UNMAPPED_MAX


def _graph(reads: Sequence[float] | None, writes: Sequence[float]) -> list[dict[str, Any]]:
    """Both passes against position, a point for each part of the drive."""
    count = min(GRAPH_POINTS, len(writes))
    bounds = [index * len(writes) // count for index in range(count + 1)]
    return [
        {
            "position_percent": 100 * (start + end) / 2 / len(writes),
            "read_mb_per_s": None if reads is None else fmean(reads[start:end]),
            "write_mb_per_s": fmean(writes[start:end]),
        }
        for start, end in pairwise(bounds)
    ]


def _charts() -> tuple[Chart, ...]:
    graphs = tuple(
        Chart("positions", title, "lines", "position_percent", key, "condition")
        for title, key in (
            ("Reading against position", "read_mb_per_s"),
            ("Writing against position", "write_mb_per_s"),
        )
    )
    bars = tuple(
        Chart("conditions", f"{words}, by condition", "bars", "condition", key)
        for key, words in MEASURES.items()
    )
    return (*graphs, *bars)


def _values(rows: Sequence[dict[str, Any]]) -> tuple[Value, ...]:
    """What each condition keeps of the speed after secure erase."""
    by_condition = {row["condition"]: row for row in rows}
    clean = by_condition[CONDITIONS["clean"]]
    values: list[Value] = []
    for condition, words in CONDITIONS.items():
        if words not in by_condition or condition == "clean":
            continue
        for key, measure in MEASURES.items():
            kept, whole = by_condition[words][key], clean[key]
            values.append(
                Value(
                    f"{condition.replace('-', '_')}_{key.rsplit('_m', 1)[0]}_percent",
                    f"{measure}, {words}",
                    100 * kept / whole if whole and kept is not None else None,
                    "% of clean",
                    "higher",
                )
            )
    return tuple(values)


PROCEDURES = (
    Resiliency(
        id="resiliency-table",
        title="Resiliency: tortured, trimmed once and twice, passed over, erased",
        group="resiliency",
        states=("tortured",),
        kinds=("flash",),
        extra_drives=2,
        traits=TestTraits(story="resiliency"),
        data=REPEATING,
    ),
    Resiliency(
        id="resiliency-table-random-data",
        title="Resiliency: tortured, trimmed once and twice, passed over, erased; random data",
        group="resiliency",
        states=("tortured-random",),
        kinds=("flash",),
        extra_drives=2,
        traits=TestTraits(story="resiliency"),
        data=RANDOM,
    ),
)
