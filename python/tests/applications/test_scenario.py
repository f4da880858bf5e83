"""Scenarios: what is asked for is what is described, within the files, the same for one seed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small import small_model

from drivelab.applications.scenario import (
    Phase,
    Place,
    install,
    joined,
    phase_requests,
    place_on,
    play,
    waited_s,
)
from drivelab.progress import TaskProgress
from drivelab.quantities import GIB, KIB, MIB, NS_PER_MS, SECTOR_BYTES
from drivelab.targets import EngineTarget
from drivelab.workload import READ, WRITE

PHASE = Phase(
    name="phase",
    total_bytes=64 * MIB,
    read_percent=80,
    read_sizes=((4 * KIB, 1), (64 * KIB, 1)),
    write_sizes=((16 * KIB, 1),),
    read_run_bytes=256 * KIB,
    write_run_bytes=64 * KIB,
    span_bytes=GIB,
    together=4,
    processor_ns=NS_PER_MS,
    lazy_writes=True,
)
PLACE = Place(8 * GIB, 16 * GIB)


def test_a_phase_has_the_shares_and_sizes_that_it_says() -> None:
    requests = phase_requests(PHASE, PLACE, 1)
    reads = requests.op == 0
    assert reads.mean() == pytest.approx(0.8, abs=0.02)
    assert requests.byte_count == pytest.approx(PHASE.total_bytes, rel=0.05)
    assert set(requests.sector_count[reads]) == {8, 128}
    assert set(requests.sector_count[~reads]) == {32}
    first, last = requests.lba.min(), (requests.lba + requests.sector_count).max()
    assert first * SECTOR_BYTES >= PLACE.first_byte
    assert last * SECTOR_BYTES <= PLACE.first_byte + PHASE.span_bytes
    assert requests.think_ns is not None
    assert set(np.flatnonzero(requests.think_ns) % 4) == {0}
    assert requests.background is not None
    assert np.array_equal(requests.background != 0, ~reads)


def test_runs_are_as_long_as_said_on_average() -> None:
    requests = phase_requests(PHASE, PLACE, 1)
    reads = requests.op == 0
    lba, count = requests.lba[reads], requests.sector_count[reads]
    jumps = np.count_nonzero(lba[1:] != lba[:-1] + count[:-1])
    moved = int(count.sum()) * SECTOR_BYTES
    assert moved / jumps == pytest.approx(PHASE.read_run_bytes, rel=0.15)


def test_scattered_writes_are_clusters_at_random_places_and_leave_the_rest_alone() -> None:
    share = 0.25
    requests = phase_requests(replace(PHASE, scattered_writes=share), PLACE, 1)
    writes = requests.op == 1
    small = writes & (requests.sector_count == 8)
    assert small.sum() / writes.sum() == pytest.approx(share, abs=0.03)
    assert requests.byte_count == pytest.approx(PHASE.total_bytes, rel=0.05)
    first, last = requests.lba.min(), (requests.lba + requests.sector_count).max()
    assert first * SECTOR_BYTES >= PLACE.first_byte
    assert last * SECTOR_BYTES <= PLACE.first_byte + PHASE.span_bytes
    clusters = (requests.lba[small] * SECTOR_BYTES - PLACE.first_byte) // (4 * KIB)
    # Uniform over the files: a quarter of them in each quarter, none where the last one ended.
    quarters = np.histogram(clusters, bins=4, range=(0, PHASE.span_bytes // (4 * KIB)))[0]
    assert quarters.min() > 0.15 * small.sum()
    assert np.count_nonzero(np.diff(clusters.astype(np.int64)) == 1) < 3
    # The long writes go on beside them as if there were none.
    long = requests.op == 1
    long[small] = False
    lba, count = requests.lba[long], requests.sector_count[long]
    jumps = np.count_nonzero(lba[1:] != lba[:-1] + count[:-1])
    assert int(count.sum()) * SECTOR_BYTES / jumps == pytest.approx(64 * KIB, rel=0.2)


@pytest.mark.parametrize("share", [0.0, 0.25])
def test_the_operating_system_writes_a_run_at_once_when_its_last_piece_is_there(
    share: float,
) -> None:
    phase = replace(PHASE, scattered_writes=share)
    awaited = phase_requests(replace(phase, lazy_writes=False), PLACE, 1)
    lazy = phase_requests(phase, PLACE, 1)
    small = 4 * KIB // SECTOR_BYTES
    kinds = [
        [requests.op == READ, *((requests.op == WRITE) & part for part in (scattered, ~scattered))]
        for requests in (awaited, lazy)
        for scattered in [requests.sector_count == small]
    ]
    # The same requests, each kind in its order: reads, scattered writes, writes in runs.
    for was, now in zip(*kinds, strict=True):
        assert np.array_equal(awaited.lba[was], lazy.lba[now])
        assert np.array_equal(awaited.sector_count[was], lazy.sector_count[now])
    was, write = (np.flatnonzero(kind[2]) for kind in kinds)
    ends = lazy.lba[write] + lazy.sector_count[write]
    goes_on = lazy.lba[write[1:]] == ends[:-1]
    assert goes_on.sum() > len(write) / 3
    assert (np.diff(write)[goes_on] == 1).all(), "a run is broken by others"
    # No run is later than its last write was.
    last = ~np.append(goes_on, False)
    assert np.array_equal(write[last], was[last])


def test_a_seed_gives_the_same_requests_and_another_seed_others() -> None:
    first, again, other = (phase_requests(PHASE, PLACE, seed) for seed in (1, 1, 2))
    assert np.array_equal(first.lba, again.lba)
    assert not np.array_equal(first.lba[:100], other.lba[:100])


def test_files_lie_behind_the_image_and_on_the_drive() -> None:
    for capacity in (32 * 10**9, 80 * 10**9, 500 * 10**9):
        place = place_on(capacity)
        assert place.first_byte > min(50 * 10**9, 0.625 * capacity)
        assert place.first_byte + place.size_bytes == capacity
    assert place_on(10 * MIB).size_bytes >= 0


def test_a_program_takes_its_processor_time_and_what_it_waits_for() -> None:
    target = EngineTarget(small_model(), 1)
    progress = TaskProgress("play")
    place = install(target, 64 * MIB, 1, progress, 0.1)
    requests = joined([phase_requests(PHASE, place, seed) for seed in (1, 2)])
    report = play(target, requests, "play", 1, progress)
    assert requests.think_ns is not None
    processor_s = int(requests.think_ns.sum()) / 1e9
    assert processor_s < waited_s(report) < 3 * processor_s
    moved = sum(report["jobs"][0][key]["bytes"] for key in ("read", "write"))
    assert moved == requests.byte_count
