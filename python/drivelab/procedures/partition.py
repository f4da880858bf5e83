"""Partition: what leaving a part of the drive unpartitioned does for it after torture.

Each point is a new drive of which the host uses a share only: filled, tortured for 20 minutes
within that share, left to rest. Then 4 KiB random writes at queue depth 32 for 3 minutes, on a
copy; a pass of writes over all its blocks (HD Tach's graph, `hdtach.py`); and the same pass again,
on what the first one left. 60 of 74.5 GiB is the review's own partition [XV].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.counters import spent_in, write_amplification
from drivelab.data_patterns import parse_data_pattern
from drivelab.errors import RequestError
from drivelab.procedures import hdtach
from drivelab.procedures.flow import flow
from drivelab.procedures.measured import Chart, Column, Measured, Table, Value
from drivelab.procedures.steady_writes import raw_bytes
from drivelab.procedures.stream import QUICK_DURATION_S, REPEATING
from drivelab.procedures.study import Study
from drivelab.progress import TaskProgress
from drivelab.quantities import GIB, KIB, MIB, NS_PER_S, derive_seed
from drivelab.states import steps
from drivelab.targets import Target
from drivelab.traits import TestTraits
from drivelab.workload import BlockSize, Job

SHARES = (1.0, 60 / 74.5, 0.5)
"""Shares of the drive that the host uses."""
REVIEW_SHARE = 60 / 74.5
QUICK_SHARES = (1.0, REVIEW_SHARE)
QUICK_TORTURE_MINUTES = 2
RANDOM_S = 180.0
PASS = next(test for test in hdtach.PROCEDURES if test.id == "hdtach-write")

COLUMNS = (
    Column("partition_percent", "Share that the host uses", "%"),
    Column("partition_gib", "Partition", "GiB"),
    Column("spare_percent", "Spare area over partition", "%"),
    Column("pass_mb_per_s", "Pass after torture: mean", "MB/s"),
    Column("pass_floor_mb_per_s", "Pass after torture: lowest", "MB/s"),
    Column("random_mib_per_s", "Random write, queue depth 32", "MiB/s"),
    Column("random_write_amplification", "Write amplification of it"),
    Column("recovered_mb_per_s", "The same pass again: mean", "MB/s"),
    Column("recovered_floor_mb_per_s", "The same pass again: lowest", "MB/s"),
)


@dataclass(frozen=True, kw_only=True)
class Partition(Study):
    """The same history on partitions of several sizes."""

    has_fixed_length = True

    def fits(self, capacity_bytes: int) -> bool:
        """Whether the smallest partition of a drive of this size is large enough for a pass."""
        return capacity_bytes >= 64 * MIB

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes."""
        shares = self.points(SHARES, QUICK_SHARES, capacity_bytes, quick)
        return 2 * (2 if quick else 4 * len(shares)) * capacity_bytes / 100e9

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Makes a new drive for each share; the given one stays as it is."""
        shares = self.points(SHARES, QUICK_SHARES, target.capacity_bytes, quick)
        rows = [
            self._point(target, share, seed, quick, progress, 1 / len(shares)) for share in shares
        ]
        table = Table("partitions", "After torture, by size of the partition", COLUMNS, tuple(rows))
        charts = tuple(
            Chart("partitions", title, "lines", "partition_percent", key)
            for title, key in (
                ("Pass after torture, mean", "pass_mb_per_s"),
                ("Pass after torture, lowest", "pass_floor_mb_per_s"),
                ("Random write after torture", "random_mib_per_s"),
            )
        )
        return Measured(
            target.capacity_bytes,
            values=_values(rows),
            tables=(table,),
            charts=charts,
            notes=(*_remarks(target, quick), *self.cut_notes(target.capacity_bytes, quick)),
        )

    def _point(
        self,
        target: Target,
        share: float,
        seed: int,
        quick: bool,
        progress: TaskProgress,
        part: float,
    ) -> dict[str, Any]:
        # Parameters are those of the drive at its full size, of which this may be a small version.
        original = target.original
        whole = target.capacity_bytes if original is None else original.user_bytes
        part_bytes = int(whole * share)
        part_bytes -= part_bytes % MIB
        drive = target.variant([] if share == 1 else [("partition_bytes", str(part_bytes))])
        size = drive.capacity_bytes
        torture = steps.Torture(
            REPEATING, QUICK_TORTURE_MINUTES if quick else steps.Torture().minutes
        )
        steps.fill(drive, derive_seed(seed, "fill"), progress, part * 0.2, steps.Fill(REPEATING))
        steps.torture(drive, derive_seed(seed, "torture"), progress, part * 0.2, torture)
        steps.settle(drive, progress)
        report = drive.clone().run([self._random(size, seed, quick)], progress, part * 0.1)
        tortured = self._pass(drive, seed, quick, progress, part * 0.3)
        if quick:
            # A quick pass writes samples, which bring nothing back.
            again = derive_seed(seed, "again")
            steps.fill(drive, again, progress, 0.0, steps.Fill(REPEATING))
        steps.settle(drive, progress)
        recovered = self._pass(drive, seed, quick, progress, part * 0.2)
        return {
            "partition_percent": 100 * share,
            "partition_gib": size / GIB,
            "spare_percent": _spare_percent(target, size),
            "pass_mb_per_s": tortured["mean_mb_per_s"],
            "pass_floor_mb_per_s": tortured["floor_mb_per_s"],
            "random_mib_per_s": flow(report, "write")["mib_per_s"],
            "random_write_amplification": write_amplification(spent_in(report)),
            "recovered_mb_per_s": recovered["mean_mb_per_s"],
            "recovered_floor_mb_per_s": recovered["floor_mb_per_s"],
        }

    @staticmethod
    def _pass(
        drive: Target, seed: int, quick: bool, progress: TaskProgress, share: float
    ) -> dict[str, Any]:
        inner = TaskProgress(PASS.id)
        progress.follow(inner, share)
        found = PASS.measure(drive, derive_seed(seed, PASS.id), quick, inner)
        inner.finish()
        record: dict[str, Any] = found.more["pass"]
        return record

    @staticmethod
    def _random(size: int, seed: int, quick: bool) -> Job:
        return Job(
            name="partition-random-write",
            rw="randwrite",
            block_sizes=(BlockSize(bytes=4 * KIB),),
            span_bytes=size - size % (4 * KIB),
            queue_depth=steps.Torture().queue_depth,
            runtime_ns=round((QUICK_DURATION_S if quick else RANDOM_S) * NS_PER_S),
            time_based=True,
            data=parse_data_pattern(REPEATING),
            seed=derive_seed(seed, "random"),
        )

    @property
    def time_text(self) -> str:
        """How long it measures."""
        return "20 minutes of torture and two passes at each size"

    @property
    def data_text(self) -> str:
        """What is written or read."""
        return REPEATING


def _remarks(target: Target, quick: bool) -> tuple[str, ...]:
    """Where it isn't what its titles say."""
    found = []
    if quick:
        minutes = steps.Torture().minutes
        found.append(
            f"a quick review: {QUICK_TORTURE_MINUTES} minutes of torture, not {minutes:g}, "
            f"and {len(QUICK_SHARES)} sizes only; {hdtach.SAMPLED}"
        )
    if target.parameter("partition_bytes") is not None:
        found.append("the model is a partition of a drive: what is called the drive here is that")
    return tuple(found)


def _spare_percent(target: Target, partition_bytes: int) -> float | None:
    try:
        return 100 * (raw_bytes(target) / partition_bytes - 1)
    except RequestError:
        return None


def _values(rows: Sequence[dict[str, Any]]) -> tuple[Value, ...]:
    whole = rows[0]
    review = next(row for row in rows if row["partition_percent"] == 100 * REVIEW_SHARE)
    words = f"{100 * REVIEW_SHARE:.0f} % of the drive"
    floor, random = "Lowest of a pass after torture", "Random write after torture"

    def value(name: str, title: str, row: dict[str, Any], key: str, unit: str) -> Value:
        return Value(name, title, row[key], unit, "higher")

    return (
        value(
            "whole_floor_mb_per_s", f"{floor}, whole drive", whole, "pass_floor_mb_per_s", "MB/s"
        ),
        value(
            "partition_floor_mb_per_s", f"{floor}, {words}", review, "pass_floor_mb_per_s", "MB/s"
        ),
        value(
            "whole_random_mib_per_s", f"{random}, whole drive", whole, "random_mib_per_s", "MiB/s"
        ),
        value(
            "partition_random_mib_per_s", f"{random}, {words}", review, "random_mib_per_s", "MiB/s"
        ),
    )


PROCEDURES = (
    Partition(
        id="partition",
        title="Partition study: 50 to 100 % of the drive in use, after 20 minutes of torture",
        group="studies",
        states=("new",),
        begins_new=True,
        kinds=("flash",),
        extra_drives=2,
        traits=TestTraits(story="partition"),
    ),
)
