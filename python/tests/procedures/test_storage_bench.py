from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small import small_model

from drivelab.procedures import PROCEDURES, storage_bench
from drivelab.procedures.measured import Measured
from drivelab.procedures.storage_bench import IDLE_CAP_NS, StorageBench, recorded
from drivelab.progress import TaskProgress
from drivelab.storage_bench import find, specification, statistics, synthesise, traces
from drivelab.targets import EngineTarget

SCALE = 20


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> StorageBench:
    """The light trace with one of so many requests, on an image that a small drive holds."""
    light = find("2010-light")
    counted = ("reads", "writes", "gb_written", "duration_min")
    aims = {
        name: replace(aim, value=aim.value / SCALE) if name in counted else aim
        for name, aim in light.aims.items()
    }
    trace = replace(light, name="tiny", aims=aims, image_bytes=48 * 2**20)
    monkeypatch.setitem(specification.traces(), "tiny", trace)
    return replace(storage_bench.PROCEDURES[0], id="storage-bench-tiny", trace_name="tiny")


def run(test: StorageBench, quick: bool = False) -> Measured:
    return test.measure(EngineTarget(small_model(), 1), 1, quick, TaskProgress("test"))


def values(measured: Measured) -> dict[str, float | None]:
    return {value.name: value.value for value in measured.values}


def test_every_trace_is_a_test() -> None:
    assert [test.id for test in PROCEDURES.values() if test.group == "storage bench"] == [
        f"storage-bench-{name}" for name in traces()
    ]


def test_a_replay_moves_what_the_trace_says(tiny: StorageBench) -> None:
    measured = run(tiny)
    expected = statistics(synthesise(tiny.trace, 1))
    read, write, both = measured.tables[0].rows
    assert (read["requests"], write["requests"]) == (expected.reads, expected.writes)
    assert write["gb"] == pytest.approx(expected.gb_written, rel=1e-9)
    assert read["gb"] == pytest.approx(expected.gb_read, rel=1e-9)
    found = values(measured)
    busy_s, total_gb = found["busy_s"], expected.gb_read + expected.gb_written
    assert busy_s is not None
    assert found["mb_per_s"] == pytest.approx(total_gb * 1000 / busy_s)
    assert found["iops"] == pytest.approx(tiny.trace.request_count / busy_s, rel=1e-3)
    assert measured.more["trace"] == expected.as_dict()
    assert both["requests"] == tiny.trace.request_count
    measured.found()


def test_idle_time_counts_for_nothing(tiny: StorageBench, monkeypatch: pytest.MonkeyPatch) -> None:
    short = values(run(tiny))
    monkeypatch.setattr(storage_bench, "IDLE_CAP_NS", 100 * IDLE_CAP_NS)
    idle = values(run(tiny))
    assert idle["busy_s"] == pytest.approx(short["busy_s"], rel=0.02)


def test_bursts_stay_together_and_pauses_are_cut() -> None:
    trace = synthesise(find("2010-light"), 3)
    assert trace.arrival_ns is not None
    found = recorded(trace)
    assert found.think_ns is not None
    gaps = np.diff(trace.arrival_ns.astype(np.int64))
    assert np.array_equal(found.think_ns[1:] == 0, gaps == 0)
    assert found.think_ns[0] == 1
    assert int(found.think_ns.max()) == IDLE_CAP_NS
    short = (gaps > 0) & (gaps < IDLE_CAP_NS)
    assert np.array_equal(found.think_ns[1:][short].astype(np.int64), gaps[short])


@pytest.mark.parametrize("name", ["2010-light", "2010-heavy", "2010-gaming", "2011-heavy"])
def test_requests_of_a_replay_find_as_many_before_them_as_published(name: str) -> None:
    trace = find(name)
    think_ns = recorded(synthesise(trace, 1)).think_ns
    assert think_ns is not None
    # A request with processor time before it finds none, every other one more than the last.
    outstanding, depths = 0, []
    for think in think_ns.tolist():
        outstanding = 1 if think else outstanding + 1
        depths.append(outstanding)
    assert np.mean(depths) == pytest.approx(trace.aim("mean_queue_depth"), rel=0.01)


def test_a_quick_replay_is_a_part_and_says_so(
    tiny: StorageBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage_bench, "QUICK_REQUESTS", 500)
    measured = run(tiny, quick=True)
    assert measured.tables[0].rows[2]["requests"] == 500
    assert any("first 500 requests" in note for note in measured.notes)


def test_a_drive_smaller_than_the_image_is_too_small() -> None:
    assert not PROCEDURES["storage-bench-2010-light"].fits(32 * 10**9)
    assert PROCEDURES["storage-bench-2010-light"].fits(40 * 10**9)
    assert not PROCEDURES["storage-bench-2011-heavy"].fits(40 * 10**9)
