"""TRIM, and what a drive does with what it was told."""

from __future__ import annotations

from drivelab.figures.scenarios.bench import Bench, Found, scenarios, trim_range
from drivelab.procedures.flow import flow
from drivelab.quantities import GIB, KIB, NS_PER_S
from drivelab.states.steps import RANDOM, REPEATING

WRITING_S = 60.0


def trim_before_writes(bench: Bench) -> Found:
    """The first quarter of a used drive is written at random (4 KB, queue depth 1, a minute) as it
    is; and the same writes after TRIM of it. Mean and longest latency. A minute of both would not
    be the same writes: the longest of several times as many is no measure of one."""
    found: dict[str, float | None] = {}
    span = bench.target.capacity_bytes // 4
    moved: int | None = None
    for name in ("untold", "trimmed"):
        drive = bench.target.clone()
        if name == "trimmed":
            trim_range(bench, drive, 0, span)
        bench.settle(drive)
        report = bench.write(
            *(drive, "quarter"),
            depth=1,
            span=span,
            seconds=WRITING_S if moved is None else None,
            moved=moved,
            data=REPEATING,
        )
        numbers = flow(report, "write")
        moved = int(numbers["bytes"] or 0)
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
    copy, of reads. Those touch no flash; `written_read` is of what the writes left."""
    found = {}
    for name in ("read", "write"):
        drive = bench.target.clone()
        bench.trim(drive)
        test = "hdtach-read" if name == "read" else "hdtach-write-random-data"
        measured = bench.measured(test, drive).more["pass"]
        found[f"{name}_mb_per_s"] = measured["mean_mb_per_s"]
    again = bench.measured("hdtach-read", drive).more["pass"]
    return found | {"written_read_mb_per_s": again["mean_mb_per_s"]}


def shared_contents(bench: Bench) -> Found:
    """The same contents at two places: what flash holds of them after one place is trimmed and
    overwritten, and after both. Units are those that something still refers to; what overwrites
    them is all different, and taken off.

    A TRIM alone would not tell sharing from firmware that puts trims off.
    """
    drive = bench.target.clone()
    size = GIB // 4

    def write(data: str, place: int) -> None:
        bench.write(
            *(drive, "contents"),
            rw="write",
            block=128 * KIB,
            depth=1,
            offset=place * size,
            span=size,
            data=data,
        )

    def units() -> float:
        drive.idle(NS_PER_S)
        return float(drive.counters()["valid_units"])

    before = units()
    write(RANDOM, 2)
    different = units() - before
    before = units()
    found: dict[str, float | None] = {}
    for name, place in (("a", 0), ("b", 1)):
        # Every block a copy of one: what is written at A is what is written at B.
        write("duplicate:100,pool:1", place)
        found[f"with_{name}"] = units() - before
    for name, place in (("a", 0), ("both", 1)):
        trim_range(bench, drive, place * size, size)
        write(RANDOM, place)
        before += different
        found[f"without_{name}"] = units() - before
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
