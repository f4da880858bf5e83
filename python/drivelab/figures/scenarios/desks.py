"""Desktops: hours of use, programs beside a virus scan, replays on a smaller image."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from drivelab.applications import desktop
from drivelab.applications.loading import LOADS
from drivelab.applications.scenario import (
    PROGRAM_SEED,
    Place,
    install,
    phase_requests,
    play,
    waited_s,
)
from drivelab.figures.scenarios.bench import Bench, Found, scenarios, value_of
from drivelab.procedures import PROCEDURES
from drivelab.procedures.applications import PIECE_S, PIECES
from drivelab.procedures.storage_bench import StorageBench
from drivelab.progress import TaskProgress
from drivelab.quantities import KIB, SECTOR_BYTES, derive_seed
from drivelab.storage_bench import Specification
from drivelab.targets import Report
from drivelab.workload import READ, WRITE, Requests

USERS = 3
PIECES_PER_HOUR = 3600 // PIECE_S


def desktop_hours(bench: Bench) -> Found:
    """Two hours of use by three people: seconds in which a request took too long, per hour, of the
    first half hour and of the second hour."""
    place = install(bench.target, desktop.FILES_BYTES, bench.seed, bench.progress, 0.0)
    first = second = 0
    for user in range(USERS):
        drive = bench.target.clone()
        own_seed = derive_seed(PROGRAM_SEED, f"user {user}")
        for piece in range(PIECES):
            requests = desktop.hours_of_use(PIECE_S, place, derive_seed(own_seed, f"piece {piece}"))
            seconds = _stuttering(play(drive, requests, "use", bench.seed, bench.progress, 0.0))
            first += seconds if piece < PIECES_PER_HOUR // 2 else 0
            second += seconds if piece >= PIECES_PER_HOUR else 0
    return {"first_per_hour": first * 2 / USERS, "second_per_hour": second / USERS}


def _stuttering(report: Report) -> int:
    job = report["jobs"][0]
    series = [job[key]["series"]["latency_max_ns"] for key in ("read", "write")]
    return sum(
        max(pair) > desktop.STUTTER_NS
        for pair in zip(*([ns or 0 for ns in part] for part in series), strict=False)
    )


SCAN_BYTES, LOG_BYTES = 64 * KIB, 4 * KIB


def background_start(bench: Bench) -> Found:
    """Three programs started, alone and beside a virus scan: with every request of theirs one read
    of 64 KB of another file goes out, and one small write, which nobody waits for."""
    load = next(item for item in LOADS if item.name == "three-programs")
    found: dict[str, float | None] = {}
    for name in ("alone", "scanned"):
        drive = bench.target.clone()
        place = install(drive, load.phase.span_bytes, bench.seed, bench.progress, 0.0)
        requests = phase_requests(load.phase_of(), place, PROGRAM_SEED)
        if name == "scanned":
            requests = _beside_scan(requests, place)
        report = play(drive, requests, name, bench.seed, bench.progress, 0.0)
        found[f"{name}_s"] = load.before_s + waited_s(report)
    return found


def _beside_scan(requests: Requests, place: Place) -> Requests:
    """Three requests for each: the program's own, a read of the scan, a write of its log."""
    assert requests.think_ns is not None
    assert requests.background is not None
    count = len(requests)
    rng = np.random.Generator(np.random.PCG64(derive_seed(PROGRAM_SEED, "scan")))
    first, blocks = place.first_byte // SECTOR_BYTES, place.size_bytes // SCAN_BYTES
    # Files lie anywhere in what was written; the scan reads them one after another in pieces.
    scan = np.floor(rng.random(count) * blocks).astype(np.uint64) * np.uint64(
        SCAN_BYTES // SECTOR_BYTES
    )
    log = np.floor(rng.random(count) * (place.size_bytes // LOG_BYTES)).astype(
        np.uint64
    ) * np.uint64(LOG_BYTES // SECTOR_BYTES)

    def three(own: object, read: object, write: object, kind: type) -> np.ndarray:
        columns = [np.broadcast_to(np.asarray(item), (count,)) for item in (own, read, write)]
        return np.stack(columns, axis=1).reshape(-1).astype(kind)

    return Requests(
        op=three(requests.op, READ, WRITE, np.uint8),
        lba=three(requests.lba, scan + np.uint64(first), log + np.uint64(first), np.uint64),
        sector_count=three(
            requests.sector_count, SCAN_BYTES // SECTOR_BYTES, LOG_BYTES // SECTOR_BYTES, np.uint32
        ),
        think_ns=three(requests.think_ns, 0, 0, np.uint64),
        background=three(requests.background, 1, 1, np.uint8),
    )


@dataclass(frozen=True, kw_only=True)
class HalfImage(StorageBench):
    """A replay of which the image, and all that it touches, is half as large."""

    @property
    def trace(self) -> Specification:
        """The trace's own, on half of the image."""
        whole = super().trace
        return replace(whole, image_bytes=whole.image_bytes // 2)


def half_image(bench: Bench) -> Found:
    """Write amplification of the light and the heavy replay on half of the image."""
    found = {}
    for name in ("light", "heavy"):
        own = PROCEDURES[f"storage-bench-2010-{name}"]
        assert isinstance(own, StorageBench)
        test = HalfImage(
            id=f"half-{own.id}", title=own.title, group=own.group, trace_name=own.trace_name
        )
        measured = test.measure(bench.target.clone(), bench.seed, False, TaskProgress(test.id))
        found[name] = value_of(measured, "replay_write_amplification")
    return found


SCENARIOS = scenarios(
    ("desktop-hours", "Two hours of use: how often it stutters, early and late", desktop_hours),
    ("background-start", "Three programs beside a virus scan", background_start),
    ("half-image", "Replays of 2010 on half of their image", half_image),
)
