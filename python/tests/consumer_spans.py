"""Reads of consumer drives over a growing span, for docs/consumer-drives.md.

Small versions of drives whose map is not in memory whole are written once, natively, and read at
random in ever more of it.
"""

from __future__ import annotations

import sys

from drivelab import model as models
from drivelab.figures.text import markdown
from drivelab.procedures.flow import flow
from drivelab.progress import TaskProgress
from drivelab.quantities import GIB, KIB, MIB
from drivelab.targets import EngineTarget
from drivelab.workload import BlockSize, Job

READS = 20_000
SCALE = 16
SPANS_GIB = (4, 64, 128, 256, 512, 931)
"""Of drives of full size."""
UNCACHED = ("slc_cache.max_bytes", "0")


def in_flash() -> list[str]:
    """Models whose map is not in memory whole, of those with a page map."""
    return [
        model.name
        for model in models.load_all()
        if model.family == "page-map" and model.value("ftl.map_cache_bytes")
    ]


def write(target: EngineTarget, span_bytes: int) -> None:
    """Writes the first part of a drive in order."""
    sizes = (BlockSize(bytes=MIB),)
    job = Job(name="write", rw="write", block_sizes=sizes, span_bytes=span_bytes, seed=1)
    target.run([job], TaskProgress("write"), 1)


def read_us(target: EngineTarget, span_bytes: int, seed: int = 1) -> float:
    """Mean latency of random reads of it."""
    job = Job(
        name="read",
        rw="randread",
        block_sizes=(BlockSize(bytes=4 * KIB),),
        span_bytes=span_bytes,
        io_bytes=READS * 4 * KIB,
        seed=seed,
    )
    numbers = flow(target.run([job], TaskProgress("read"), 1), "read")
    return 1000 * float(numbers["mean_ms"])


def of_map(model: models.Model) -> tuple[int, float]:
    """Bytes of the drive that memory maps, and us of reading a line of the map."""

    def number(key: str) -> int:
        return int(model.value(key) or 0)

    memory = max(number("ftl.map_cache_bytes"), number("ftl.host_memory_bytes"))
    share = 1 + number("flash.oob_bytes") / number("flash.page_bytes")
    moved = number("ftl.map_fetch_bytes") * share / number("flash.bus_bytes_per_s")
    line_us = (number("flash.read_ns") + number("flash.command_ns")) / 1e3 + 1e6 * moved
    return memory // 4 * number("ftl.map_unit_bytes"), line_us


def table() -> str:
    """Mean latency by span, and what the formula of docs/nvme.md gives for more than the first."""
    rows = []
    for name in in_flash():
        mapped, line_us = of_map(models.load(name))
        scale = ("scale_divisor", str(SCALE))
        target = EngineTarget(models.load(name, (UNCACHED, scale)), 1)
        write(target, target.capacity_bytes // MIB * MIB)
        cells, first = [], 0.0
        for span in SPANS_GIB:
            span_bytes = min(span * GIB // SCALE, target.capacity_bytes) // MIB * MIB
            read_us(target, span_bytes, seed=2)
            found = read_us(target, span_bytes)
            first = first or found
            formula = first + max(0.0, 1 - mapped / (span_bytes * SCALE)) * line_us
            cells.append(f"{found:.1f} ({formula:.1f})")
        print(name, cells, file=sys.stderr, flush=True)
        rows.append([f"`{name}`", f"{mapped / GIB:.0f} GiB", f"{line_us:.1f}", *cells])
    head = ["drive", "mapped", "line, us", *(f"{span} GiB" for span in SPANS_GIB)]
    return markdown(head, rows, head[1:])


if __name__ == "__main__":
    print(table())
