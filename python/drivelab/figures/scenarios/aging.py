"""How drives age: copies of an image, passes, torture, traffic of many days."""

from __future__ import annotations

from typing import Any

from drivelab.counters import write_amplification_of
from drivelab.figures.scenarios.bench import (
    Bench,
    Found,
    amplification,
    rate,
    scenarios,
    value_of,
)
from drivelab.procedures.flow import flow
from drivelab.quantities import KIB, MIB
from drivelab.states import steps
from drivelab.states.image import ImageCopy
from drivelab.states.steps import RANDOM, REPEATING
from drivelab.targets import Report, Target

QUARTER, EIGHTH = 4, 8
"""Parts of a drive's flash that scenarios work on: one of so many."""


def repeated_image(bench: Bench) -> Found:
    """PCMark's disk score on a used drive, and after four more copies of the same image."""
    once = bench.measured("pcmark-vantage", bench.target.clone())
    drive = bench.target.clone()
    for _ in range(4):
        steps.copy_image(drive, bench.own_seed("image"), bench.progress, 0.0, ImageCopy())
    bench.settle(drive)
    five = bench.measured("pcmark-vantage", drive)
    return {"once": value_of(once, "hdd_score"), "five_times": value_of(five, "hdd_score")}


def five_passes(bench: Bench) -> Found:
    """Five sequential passes in a row: the first, the slowest later one, what they wrote."""
    drive = bench.small(QUARTER)
    rates: list[float] = []
    amplifications: list[float] = []
    for index in range(5):
        report = bench.write(drive, f"pass-{index}", rw="write", block=128 * KIB, depth=1)
        rates.append(rate(report) or 0.0)
        amplifications.append(amplification(report) or 0.0)
    return {
        "first_mib_per_s": rates[0],
        "slowest_later_mib_per_s": min(rates[1:]),
        "largest_write_amplification": max(amplifications),
    }


def passes(bench: Bench, drive: Target, label: str, quick: bool = False) -> dict[str, Any]:
    """HD Tach's passes, writing on one copy and reading on another: means in MB/s."""
    found = {}
    for way in ("read", "write"):
        measured = bench.measured(f"hdtach-{way}", drive.clone(), quick)
        found[f"{label}_{way}"] = measured.more["pass"]["mean_mb_per_s"]
    return found


def tortured_part(bench: Bench) -> Found:
    """HD Tach's passes on an eighth of the drive: filled, tortured for an eighth of the time, and
    trimmed. Reads of the drive as new are those of the filled one, so that they reach flash;
    `erased_read` and `told_read` are those of the erased drive and right after TRIM."""
    drive = bench.small(EIGHTH)
    erased = passes(bench, drive, "new")
    found = {"new_write": erased["new_write"], "erased_read": erased["new_read"]}
    bench.fill(drive)
    found["new_read"] = bench.measured("hdtach-read", drive.clone()).more["pass"]["mean_mb_per_s"]
    bench.torture(drive, steps.Torture().minutes / EIGHTH, REPEATING)
    bench.settle(drive, EIGHTH)
    found |= passes(bench, drive, "tortured")
    bench.trim(drive)
    bench.settle(drive, EIGHTH)
    found["told_read"] = bench.measured("hdtach-read", drive.clone()).more["pass"]["mean_mb_per_s"]
    found["trimmed_write"] = bench.measured("hdtach-write", drive).more["pass"]["mean_mb_per_s"]
    # What is read after TRIM was written after it: nothing else would reach flash.
    found["trimmed_read"] = bench.measured("hdtach-read", drive).more["pass"]["mean_mb_per_s"]
    return found


def random_torture_part(bench: Bench) -> Found:
    """AS SSD's writes on an eighth of the drive: new, and after an eighth of an hour of torture
    with random data and TRIM of everything."""
    drive = bench.small(EIGHTH)
    found = {"new": _file_writes(bench, drive)}
    bench.fill(drive, RANDOM)
    bench.torture(drive, 60 / EIGHTH, RANDOM)
    bench.settle(drive, EIGHTH)
    found["tortured"] = _file_writes(bench, drive)
    bench.trim(drive)
    bench.settle(drive, EIGHTH)
    return found | {"trimmed": _file_writes(bench, drive)}


def _file_writes(bench: Bench, drive: Target) -> float | None:
    report = bench.measured("as-ssd-write", drive.clone()).report
    assert report is not None
    return rate(report)


def erase_restores(bench: Bench) -> Found:
    """Passes and AS SSD on a new drive, and on one that was filled, tortured and erased; the
    largest difference. A sample of each zone, on a quarter of the drive."""
    drive = bench.small(QUARTER)
    before = _rates(bench, drive)
    bench.fill(drive)
    bench.torture(drive, 2.0)
    drive.secure_erase()
    bench.settle(drive)
    after = _rates(bench, drive)
    ratios = [after[name] / before[name] for name in before]
    return {"lowest": min(ratios), "highest": max(ratios)}


def _rates(bench: Bench, drive: Target) -> dict[str, float]:
    copy = drive.clone()
    found = {
        f"pass-{way}": bench.measured(f"hdtach-{way}", copy, quick=True).more["pass"][
            "mean_mb_per_s"
        ]
        for way in ("write", "read")
    }
    for way in ("read", "write"):
        report = bench.measured(f"as-ssd-{way}", drive.clone()).report
        assert report is not None
        found[f"file-{way}"] = rate(report, way) or 0.0
    return found


SHARES = (0, 30, 60, 100)
"""Random share of the bytes, in percent; the rest follows each other. All in writes of 4 KiB."""
PIECES = 64
"""Pieces of a fill; in each both kinds take turns, so that they are mixed throughout."""


def random_share(bench: Bench) -> Found:
    """A full drive written on with more and more random writes: once over to be steady, then a
    quarter of it measured. Of a drive's eighth."""
    full = bench.small(EIGHTH)
    bench.fill(full)
    found: dict[str, float | None] = {}
    for share in SHARES:
        drive = full.clone()
        pieces = [_piece(bench, drive, share, index) for index in range(PIECES + PIECES // 4)]
        reports = [report for piece in pieces[PIECES:] for report in piece]
        numbers = [flow(report, "write") for report in reports]
        moved = sum(float(item["bytes"] or 0.0) for item in numbers)
        seconds = sum(float(item["duration_s"] or 0.0) for item in numbers)
        found[f"mib_per_s_{share}"] = moved / seconds / MIB
        found[f"write_amplification_{share}"] = write_amplification_of(reports)
    return found


def _piece(bench: Bench, drive: Target, share: int, index: int) -> list[Report]:
    """Random writes over the whole drive, and the next part of the sequential ones."""
    size = drive.capacity_bytes // PIECES
    random = size * share // 100
    reports = []
    if random:
        reports.append(bench.write(drive, f"random-{index}", moved=random))
    if random < size:
        offset = index % PIECES * size
        offset -= offset % (4 * KIB)
        reports.append(
            bench.write(drive, f"row-{index}", rw="write", offset=offset, span=size - random)
        )
    return reports


RANDOM_SHARE = 0.3
MEASURES = 6


def daily_traffic(bench: Bench) -> Found:
    """Traffic of which 30 % of the bytes are random, for three fills of a filled drive; each half
    fill the speed of a sequential pass (a sample of each zone, on a copy); then one sequential
    fill, and the same pass. A quarter of the drive."""
    drive = bench.small(QUARTER)
    bench.fill(drive)
    size = drive.capacity_bytes
    rates = [_sampled_pass(bench, drive)]
    for index in range(MEASURES):
        # In pieces small enough that both kinds are mixed throughout.
        for piece in range(16):
            part = size // (2 * 16)
            offset = (index * 16 + piece) * part % size
            bench.write(drive, f"random-{index}-{piece}", moved=int(part * RANDOM_SHARE))
            bench.write(
                *(drive, f"sequential-{index}-{piece}"),
                rw="write",
                block=128 * KIB,
                depth=1,
                offset=offset - offset % (128 * KIB),
                span=int(part * (1 - RANDOM_SHARE)),
            )
        rates.append(_sampled_pass(bench, drive))
    bench.fill(drive)
    found: dict[str, float | None] = {f"half_{index}": value for index, value in enumerate(rates)}
    return found | {"after_fill": _sampled_pass(bench, drive)}


def _sampled_pass(bench: Bench, drive: Target) -> float:
    copy = drive.clone()
    return float(bench.measured("hdtach-write", copy, quick=True).more["pass"]["mean_mb_per_s"])


SCENARIOS = scenarios(
    ("repeated-image", "PCMark after one copy of an image, and after five", repeated_image),
    ("five-passes", "Five sequential passes in a row", five_passes),
    ("tortured-part", "Passes on an eighth of the drive: tortured, trimmed", tortured_part),
    ("random-torture-part", "AS SSD: new, random torture, TRIM", random_torture_part),
    ("erase-restores", "New against tortured and erased", erase_restores),
    ("random-share", "A full drive under more and more random writes", random_share),
    ("daily-traffic", "Three fills of mixed traffic, then a sequential one", daily_traffic),
)
