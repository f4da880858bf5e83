"""TRIM, and what a drive does with what it was told."""

from __future__ import annotations

from drivelab.figures.scenarios.bench import Bench, Found, scenarios, trim_range
from drivelab.procedures.flow import flow
from drivelab.quantities import GIB, KIB, NS_PER_S
from drivelab.states.steps import REPEATING

WRITING_S = 60.0


def trim_before_writes(bench: Bench) -> Found:
    """The first quarter of a used drive is written at random (4 KB, queue depth 1, a minute): as it
    is, and after TRIM of it; mean and longest latency."""
    found: dict[str, float | None] = {}
    span = bench.target.capacity_bytes // 4
    for name, trimmed in (("untold", False), ("trimmed", True)):
        drive = bench.target.clone()
        if trimmed:
            trim_range(bench, drive, 0, span)
        bench.settle(drive)
        report = bench.write(
            drive, "quarter", depth=1, span=span, seconds=WRITING_S, data=REPEATING
        )
        numbers = flow(report, "write")
        found |= {f"{name}_mean_ms": numbers["mean_ms"], f"{name}_max_ms": numbers["max_ms"]}
    return found


def rest_after_trim(bench: Bench) -> Found:
    """After torture and TRIM: two sequential passes and ten minutes of rest, then a pass."""
    drive = bench.target.clone()
    for _ in range(2):
        bench.fill(drive)
    bench.settle(drive)
    drive.idle(600 * NS_PER_S)
    found = bench.measured("hdtach-write", drive).more["pass"]
    return {"mean_mb_per_s": found["mean_mb_per_s"], "dips": found["dips"]}


def trimmed_at_once(bench: Bench) -> Found:
    """Passes right after TRIM of everything, without any rest: of writes of random data, and, on a
    copy, of reads."""
    found = {}
    for name in ("read", "write"):
        drive = bench.target.clone()
        bench.trim(drive)
        test = "hdtach-read" if name == "read" else "hdtach-write-random-data"
        measured = bench.measured(test, drive).more["pass"]
        found[f"{name}_mb_per_s"] = measured["mean_mb_per_s"]
    return found


def shared_contents(bench: Bench) -> Found:
    """The same contents at two places: what flash holds after one of them is trimmed, and after
    both. Units are those that something still refers to."""
    drive = bench.target.clone()
    size = GIB // 4

    def units() -> float:
        drive.idle(NS_PER_S)
        return float(drive.counters()["valid_units"])

    before = units()
    found: dict[str, float | None] = {}
    # Every block a copy of one: what is written at A is what is written at B.
    same = "duplicate:100,pool:1"
    for name, offset in (("a", 0), ("b", size)):
        bench.write(
            *(drive, "same"),
            rw="write",
            block=128 * KIB,
            depth=1,
            offset=offset,
            span=size,
            data=same,
        )
        found[f"with_{name}"] = units() - before
    trim_range(bench, drive, 0, size)
    found["without_a"] = units() - before
    trim_range(bench, drive, size, size)
    found["without_both"] = units() - before
    return found


SCENARIOS = scenarios(
    (
        "trim-before-writes",
        "Writes to a trimmed quarter of a used drive",
        trim_before_writes,
    ),
    ("rest-after-trim", "A pass after TRIM, two passes and ten minutes of rest", rest_after_trim),
    ("trimmed-at-once", "A pass of random data right after TRIM", trimmed_at_once),
    ("shared-contents", "Flash behind contents at two places", shared_contents),
)
