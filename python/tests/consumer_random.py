"""Random requests of 4 KiB to consumer drives, for docs/consumer-drives.md.

A gibibyte is written to a new drive of full size and read, or written again, at random: with a
cache it lies there; with `slc_cache.max_bytes = 0` in native blocks, of which reads are shown
beside.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import Literal

from consumer_spans import UNCACHED, write
from published_fills import (
    EVO_PLUS,
    EVO_PLUS_250,
    EVO_PLUS_500,
    I660,
    NM790,
    P1,
    QVO,
    S970PRO,
    S970PRO_512,
    S980,
    S980_250,
    S980_500,
    S980PRO,
    SN770,
    Version,
    sized,
)

from drivelab import model as models
from drivelab.figures.text import deviation, markdown
from drivelab.procedures.flow import flow
from drivelab.progress import TaskProgress
from drivelab.quantities import GIB, KIB
from drivelab.targets import EngineTarget
from drivelab.workload import BlockSize, Job

BLOCK_BYTES = 4 * KIB
REQUESTS = 20_000
"""Of each job; or a thousand times its queue depth, if that is more."""

Direction = Literal["read", "write"]


@dataclass(frozen=True)
class Load:
    """What hosts have outstanding: several jobs, each with its own queue depth."""

    direction: Direction
    queue_depth: int = 1
    jobs: int = 1

    @property
    def title(self) -> str:
        """Words of a table."""
        jobs = f", {self.jobs} jobs" if self.jobs > 1 else ""
        return f"{self.direction}s, QD {self.queue_depth}{jobs}"


@dataclass(frozen=True)
class PublishedRate:
    """Requests a second."""

    version: Version
    load: Load
    iops: float
    role: str
    """What the model's value is: one of `ROLES`."""
    source: str


ROLES = ("specified", "informed", "predicted")
LONE_READ, LONE_WRITE = Load("read"), Load("write")
FOUR_WRITES = Load("write", jobs=4)
DEEP_READS, DEEP_WRITES = Load("read", 32, 4), Load("write", 32, 4)
DEEPEST_READS, DEEPEST_WRITES = Load("read", 32, 16), Load("write", 32, 16)
SATA_READS, SATA_WRITES = Load("read", 32), Load("write", 32)

P1_500 = sized(P1, 500, 1, 70, "assumed: half of what 1 TB has")

PUBLISHED = (
    PublishedRate(S970PRO, LONE_READ, 15_000, "predicted", "[SSDWIKI]"),
    PublishedRate(S970PRO, DEEP_WRITES, 500_000, "predicted", "[SSDWIKI]"),
    PublishedRate(S970PRO_512, DEEP_READS, 370_000, "predicted", "[SSDWIKI]"),
    PublishedRate(EVO_PLUS, LONE_READ, 19_000, "predicted", "[DIGIT177943]"),
    PublishedRate(EVO_PLUS, LONE_WRITE, 60_000, "predicted", "[DIGIT177943]"),
    PublishedRate(EVO_PLUS, FOUR_WRITES, 163_140, "predicted", "[KGEVOPLUS], four jobs probably"),
    PublishedRate(EVO_PLUS, DEEP_WRITES, 354_973, "predicted", "[KGEVOPLUS], the best of all"),
    PublishedRate(EVO_PLUS, DEEP_READS, 600_000, "specified", "[DIGIT177943]"),
    PublishedRate(EVO_PLUS, DEEP_WRITES, 550_000, "specified", "[DIGIT177943]"),
    PublishedRate(EVO_PLUS_500, LONE_READ, 19_000, "predicted", "[DIGIT177943]"),
    PublishedRate(EVO_PLUS_500, LONE_WRITE, 60_000, "predicted", "[DIGIT177943]"),
    PublishedRate(EVO_PLUS_500, DEEP_WRITES, 550_000, "specified", "[DIGIT177943]"),
    PublishedRate(EVO_PLUS_500, DEEP_READS, 480_000, "predicted", "[DIGIT177943]"),
    PublishedRate(EVO_PLUS_250, LONE_READ, 17_000, "predicted", "[DIGIT177943]"),
    PublishedRate(EVO_PLUS_250, LONE_WRITE, 60_000, "predicted", "[DIGIT177943]"),
    PublishedRate(EVO_PLUS_250, DEEP_WRITES, 550_000, "specified", "[DIGIT177943]"),
    PublishedRate(EVO_PLUS_250, DEEP_READS, 250_000, "predicted", "[DIGIT177943]"),
    PublishedRate(S980, LONE_READ, 17_000, "informed", "[AT16504]"),
    PublishedRate(S980, LONE_WRITE, 54_000, "informed", "[AT16504]"),
    PublishedRate(S980, DEEPEST_READS, 500_000, "specified", "[AT16504]"),
    PublishedRate(S980, DEEPEST_WRITES, 480_000, "specified", "[AT16504]"),
    PublishedRate(S980_500, DEEPEST_READS, 400_000, "predicted", "[AT16504]"),
    PublishedRate(S980_250, DEEPEST_READS, 230_000, "predicted", "[AT16504]"),
    PublishedRate(S980PRO, LONE_READ, 22_000, "informed", "[AT16087]"),
    PublishedRate(S980PRO, LONE_WRITE, 60_000, "informed", "[AT16087]"),
    PublishedRate(S980PRO, DEEPEST_READS, 1_000_000, "specified", "[AT16087]"),
    PublishedRate(NM790, LONE_READ, 20_176, "informed", "[KGNM790], 4 TB"),
    PublishedRate(NM790, Load("read", 8), 132_941, "informed", "[KGNM790], 4 TB"),
    PublishedRate(NM790, LONE_WRITE, 57_109, "informed", "[KGNM790], 4 TB"),
    PublishedRate(NM790, FOUR_WRITES, 252_678, "informed", "[KGNM790], 4 TB"),
    PublishedRate(SN770, DEEPEST_READS, 740_000, "specified", "[TPU]"),
    PublishedRate(SN770, DEEPEST_WRITES, 800_000, "specified", "[TPU]"),
    PublishedRate(P1, DEEP_READS, 170_000, "specified", "[TR34266]"),
    PublishedRate(P1, DEEP_WRITES, 240_000, "specified", "[TR34266]"),
    PublishedRate(P1_500, DEEP_READS, 90_000, "predicted", "[TR34266]"),
    PublishedRate(P1_500, DEEP_WRITES, 220_000, "predicted", "[TR34266]"),
    PublishedRate(I660, DEEP_READS, 160_000, "informed", "[TH5719], at best"),
    PublishedRate(I660, DEEP_WRITES, 240_000, "informed", "[TH5719], at best"),
    PublishedRate(QVO, SATA_READS, 98_000, "specified", "[AT15887]"),
    PublishedRate(QVO, SATA_WRITES, 88_000, "specified", "[AT15887]"),
)


@cache
def iops(version: Version, load: Load, is_native: bool = False) -> float:
    """Requests a second of the model at full size, to a gibibyte that was just written."""
    changes = (*version.changes, UNCACHED) if is_native else version.changes
    target = EngineTarget(models.load(version.model, changes), 1)
    write(target, GIB)
    jobs = [
        Job(
            name=f"{load.direction}-{number}",
            rw=f"rand{load.direction}",
            block_sizes=(BlockSize(bytes=BLOCK_BYTES),),
            span_bytes=GIB,
            io_bytes=max(REQUESTS, 1000 * load.queue_depth) * BLOCK_BYTES,
            queue_depth=load.queue_depth,
            seed=2 + number,
        )
        for number in range(load.jobs)
    ]
    report = target.run(jobs, TaskProgress(load.title), 1)
    return sum(
        float(flow(report, load.direction, number)["iops"] or 0) for number in range(load.jobs)
    )


def off_percent(figure: PublishedRate) -> float:
    """By how many percent the model is off; of drives with a cache, in it."""
    return abs(100 * (iops(figure.version, figure.load) / figure.iops - 1))


def table() -> str:
    """Every published rate beside the model's; of reads from native blocks, too."""
    rows = []
    for figure in PUBLISHED:
        found = [iops(figure.version, figure.load)]
        is_cached = models.load(figure.version.model, figure.version.changes).value(UNCACHED[0])
        if is_cached and figure.load.direction == "read":
            found.append(iops(figure.version, figure.load, is_native=True))
        columns = []
        for rate in found:
            columns += [f"{rate:.0f}", deviation(rate, figure.iops)]
        columns += [""] * (4 - len(columns))
        name = figure.version.what or f"`{figure.version.model}`"
        print(figure.version.model, figure.load.title, found, file=sys.stderr, flush=True)
        given = [figure.load.title, f"{figure.iops:.0f}"]
        rows.append([name, *given, *columns, figure.role, figure.source])
    numeric = ["published", "model", "", "native", " "]
    return markdown(["drive", "requests", *numeric, "value is", "source"], rows, numeric)


def summary() -> str:
    """How far the models are off, by what their values are."""
    rows = []
    for what, is_lone in (("one at a time", True), ("several outstanding", False)):
        for role in ROLES:
            figures: Sequence[PublishedRate] = [
                figure
                for figure in PUBLISHED
                if figure.role == role and is_lone == (figure.load in (LONE_READ, LONE_WRITE))
            ]
            if figures:
                off = [off_percent(figure) for figure in figures]
                numbers = (f"{median(off):.0f} %", f"{max(off):.0f} %")
                within = f"{sum(percent <= 10 for percent in off)}"
                rows.append([what, role, f"{len(off)}", within, *numbers])
    numeric = ("figures", "within 10 %", "median", "worst")
    return markdown(["requests", "value is", *numeric], rows, numeric)


if __name__ == "__main__":
    print(table())
    print(summary())
