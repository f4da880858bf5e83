"""docs/modern-drives.md, "What was written before": random writes of new and of filled drives.

SSD-iq's runs of the P5520, of which a counter tells write amplification: writes of 4 KiB after a
sequential fill or after nothing, uniform, of a true zipf, and of one whose hot pages are
neighbours. On one die with its share of the commands; the last two fifths of five capacities, as
its other runs were long. Those of fio's zipf are left out: how many blocks are never drawn depends
on the number of blocks to a unit, which isn't known.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from modelled import Modelled
from modern_zones import PartOf, Zones, filled, how_far, written

import drivelab as dl
from drivelab.figures.text import deviation
from drivelab.procedures.zones import requests_at
from drivelab.progress import TaskProgress
from drivelab.quantities import KIB
from drivelab.targets import EngineTarget
from drivelab.workload import (
    Distribution,
    Job,
    Recorded,
    Requests,
    Uniform,
    ZipfTrue,
)

MODEL = "solidigm-p5520-1920gb"
BLOCK_BYTES = 4 * KIB
DEPTH = 1024
"""Commands inside of a whole drive: four threads of 256."""
CAPACITIES = 5
MEASURED_SHARE = 0.4
"""Of what is written, at its end."""
THETA = 0.8
SEED = 1
TOLERANCE = 0.1


@dataclass(frozen=True)
class Before:
    """A run: what it wrote, after what, and what was measured."""

    name: str
    law: Distribution | None
    """None: a true zipf whose ranks are addresses."""
    is_filled: bool
    mib_per_s: float
    amplification: float | None = None
    capacities: int = CAPACITIES
    """User capacities that are written."""

    @property
    def what(self) -> str:
        """Name of its value among those that are kept."""
        longer = f", {self.capacities} capacities" if self.is_informed else ""
        return f"{self.name} after {'a fill' if self.is_filled else 'nothing'}{longer}"

    @property
    def is_informed(self) -> bool:
        """Whether it is longer than other runs were."""
        return self.capacities != CAPACITIES


RUNS = (
    Before("uniform", Uniform(), False, 477.3),
    Before("uniform", Uniform(), True, 471.0, 3.521),
    Before("zipf 0.8", ZipfTrue(theta=THETA), False, 644.3, 2.51),
    Before("uniform", Uniform(), False, 477.3, capacities=10),
    Before("zipf 0.8", ZipfTrue(theta=THETA), False, 644.3, 2.51, capacities=10),
    Before("zipf 0.8", ZipfTrue(theta=THETA), True, 482.6, 3.359),
    Before("zipf 0.8, hot pages adjacent", None, True, 414.0, 3.906),
)


def adjacent(pages: int, count: int, draws: np.random.Generator) -> Requests:
    """Writes of a true zipf whose ranks are addresses."""
    shares = np.cumsum(np.arange(1, pages + 1, dtype=np.float64) ** -THETA)
    ranks = np.searchsorted(shares, draws.random(count) * shares[-1])
    return requests_at(ranks.astype(np.int64) * BLOCK_BYTES, BLOCK_BYTES)


def measured(part: dl.Drive, share: int, run: Before) -> Zones:
    """One die of a drive that has so many, written as in the run."""
    target = filled(part) if run.is_filled else EngineTarget(part.model, part.seed)
    progress = TaskProgress("writes")
    size = target.capacity_bytes // BLOCK_BYTES * BLOCK_BYTES
    draws = np.random.default_rng(SEED)
    report = {}
    for number, part_of_run in enumerate((1 - MEASURED_SHARE, MEASURED_SHARE)):
        count = round(part_of_run * run.capacities * size / BLOCK_BYTES)
        job = Job(name="writes", rw="randwrite", queue_depth=DEPTH // share, seed=SEED + number)
        if run.law is None:
            job = job.model_copy(update={"source": Recorded(pacing="closed")})
            requests = adjacent(size // BLOCK_BYTES, count, draws)
            report = target.run_requests(job, requests, progress)
        else:
            changes = {"distribution": run.law, "io_bytes": count * BLOCK_BYTES}
            report = target.run([job.model_copy(update=changes)], progress)
    found = written(report, share)
    print(part.name, run.what, found, file=sys.stderr, flush=True)
    return found


HEADS = ("writes", "after", "capacities", "WA", "model", "MiB/s", "model")


def rows(kept: Modelled, part_of: PartOf) -> tuple[list[list[str]], list[float]]:
    """Measured and modelled; and by how much rate and write amplification of each are off."""
    found, off = [], []
    for run in RUNS:
        now = kept.of(MODEL, run.what, Zones, lambda run=run: measured(*part_of(MODEL), run))
        pairs = ((run.amplification, now.amplification, 2), (run.mib_per_s, now.mib_per_s, 0))
        row = [run.name, "a fill" if run.is_filled else "nothing", f"{run.capacities}"]
        for published, modelled, digits in pairs:
            row += ["", f"{modelled:.{digits}f}"]
            if published is not None:
                off += [] if run.is_informed else [modelled / published - 1]
                row[-2] = f"{published:.{digits}f}"
                row[-1] += f" ({deviation(modelled, published)})"
        found.append(row)
    return found, off


def said(off: list[float]) -> str:
    """How far the table's figures are off."""
    return f"Of {len(off)} predictions (five capacities) {how_far(off, TOLERANCE)}\n"
