from __future__ import annotations

import numpy as np
import pytest

from drivelab.figures.comparison import judge
from drivelab.quantities import SECTOR_BYTES
from drivelab.storage_bench import find, statistics, synthesise, traces
from drivelab.storage_bench.bursts import burst_sizes

TOLERANCE = 0.01
SEEDED = [(name, seed) for name in traces() for seed in ((1, 2, 3) if "2010" in name else (1, 2))]


@pytest.mark.parametrize(("name", "seed"), SEEDED)
def test_a_trace_has_its_statistics(name: str, seed: int) -> None:
    trace = find(name)
    found = statistics(synthesise(trace, seed)).as_dict()
    for statistic, aim in trace.aims.items():
        assert found[statistic] == pytest.approx(aim.value, rel=TOLERANCE), statistic
    for statistic, figure in trace.published().items():
        error, holds = judge(figure, found[statistic])
        assert holds is not False, f"{figure.id}: {statistic} = {found[statistic]}"
        assert error is not None, figure.id
        assert abs(error) <= TOLERANCE, f"{figure.id}: {statistic} = {found[statistic]}"
    assert found["span_gb"] * 10**9 <= trace.image_bytes
    assert found["max_queue_depth"] <= trace.habits.max_depth


def test_one_seed_is_one_trace() -> None:
    trace = find("2010-gaming")
    first, again, other = (synthesise(trace, seed) for seed in (1, 1, 2))
    assert np.array_equal(first.lba, again.lba)
    assert first.arrival_ns is not None
    assert again.arrival_ns is not None
    assert np.array_equal(first.arrival_ns, again.arrival_ns)
    assert not np.array_equal(first.lba, other.lba)


def test_a_trace_is_one_that_a_drive_accepts() -> None:
    found = synthesise(find("2010-light"), 1)
    assert found.arrival_ns is not None
    assert int(found.arrival_ns[0]) == 0
    assert np.all(np.diff(found.arrival_ns.astype(np.int64)) >= 0)
    assert np.all(found.arrival_ns % np.uint64(1000) == 0)
    assert np.all(found.sector_count > 0)
    assert np.all(found.lba * np.uint64(SECTOR_BYTES) % np.uint64(4096) == 0)


def test_reads_and_writes_come_in_phases_and_hot_places_are_hot() -> None:
    trace = find("2010-light")
    found = synthesise(trace, 1)
    turns = int((np.diff(found.op.astype(np.int64)) != 0).sum())
    runs = len(found) * (1 - trace.aim("pct_sequential") / 100)
    assert turns == pytest.approx(runs / trace.habits.direction_runs, rel=0.02)
    stretch = trace.image_bytes / trace.habits.stretch_count
    hits = np.bincount((found.lba * np.uint64(SECTOR_BYTES) / stretch).astype(np.int64))
    hottest = np.sort(hits)[::-1][: round(trace.habits.stretch_count * 0.1)]
    assert hottest.sum() / len(found) == pytest.approx(0.6, abs=0.04)


@pytest.mark.parametrize("name", traces())
def test_bursts_hold_every_request(name: str) -> None:
    trace = find(name)
    sizes = burst_sizes(trace, np.random.Generator(np.random.PCG64(7)))
    assert int(sizes.sum()) == trace.request_count
    assert 1 <= sizes.min() <= sizes.max() <= trace.habits.max_depth
