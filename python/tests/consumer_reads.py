"""Reads of consumer drives at queue depth 1, for docs/consumer-drives.md: in the cache, and native.

A gibibyte is written to a new drive of full size and read at random, 4 KiB at a time. With a cache
it lies there; without (`slc_cache.max_bytes = 0`) it lies in native blocks.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from drivelab import model as models
from drivelab.figures.text import markdown
from drivelab.procedures.flow import flow
from drivelab.progress import TaskProgress
from drivelab.quantities import GIB, KIB, MIB
from drivelab.targets import EngineTarget
from drivelab.workload import BlockSize, Job

SPAN_BYTES = GIB
READS = 20_000
UNCACHED = ("slc_cache.max_bytes", "0")


@dataclass(frozen=True)
class Published:
    """Reads of 4 KiB a second, one at a time."""

    model: str
    iops: float
    what: str


PUBLISHED = (
    Published("samsung-970-pro-1tb", 15_000, "specified"),
    Published("samsung-970-evo-plus-1tb", 19_000, "specified"),
    Published("samsung-980-1tb", 17_000, "specified"),
    Published("samsung-980-pro-1tb", 22_000, "specified"),
    Published("lexar-nm790-2tb", 20_176, "measured, 4 TB, small file"),
)


def microseconds(name: str, *changes: tuple[str, str]) -> float:
    """Mean latency of the reads."""
    target = EngineTarget(models.load(name, changes), 1)
    shared = {"span_bytes": SPAN_BYTES, "seed": 1}
    write = Job(name="write", rw="write", block_sizes=(BlockSize(bytes=MIB),), **shared)
    read = Job(
        name="read",
        rw="randread",
        block_sizes=(BlockSize(bytes=4 * KIB),),
        io_bytes=READS * 4 * KIB,
        **shared,
    )
    target.run([write], TaskProgress(name), 0.5)
    numbers = flow(target.run([read], TaskProgress(name), 0.5), "read")
    return 1000 * float(numbers["mean_ms"])


def table() -> str:
    """Every published rate beside the model's, from both kinds of blocks."""
    rows = []
    for published in PUBLISHED:
        has_cache = bool(models.load(published.model).value(UNCACHED[0]))
        found = [microseconds(published.model)] if has_cache else []
        found.append(microseconds(published.model, UNCACHED))
        print(published.model, found, file=sys.stderr, flush=True)
        columns = [] if has_cache else ["", ""]
        for us in found:
            columns += [f"{1e6 / us:.0f}", f"{100 * (1e6 / us / published.iops - 1):+z.0f} %"]
        given = [f"{published.iops:.0f}", f"{1e6 / published.iops:.1f}"]
        rows.append([f"`{published.model}`", published.what, *given, *columns, f"{found[-1]:.1f}"])
    head = ["drive", "figure", "reads/s", "us", "in the cache", "", "native", " ", "us, native"]
    return markdown(head, rows, head[2:])


if __name__ == "__main__":
    print(table())
