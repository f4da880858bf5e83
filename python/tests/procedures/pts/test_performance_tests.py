"""The tests of the standard on a drive of 1 GB, with times that suit its size."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from small import MODEL_NAME, OVERRIDES, small_model

from drivelab import model
from drivelab.procedures import PROCEDURES, pts
from drivelab.procedures.pts.cross_stimulus_recovery import Part, parts_table, recovery_minutes
from drivelab.procedures.pts.demand_intensity import most_useful
from drivelab.procedures.pts.performance_test import PerformanceTest
from drivelab.procedures.pts.rates import Sample, samples
from drivelab.procedures.pts.settings import CLIENT, FULL, Lengths
from drivelab.progress import TaskProgress
from drivelab.targets import EngineTarget

BLOCKS_PER_DIE = 28
SHORT = Lengths(
    stimulus_s=0.5,
    composite_s=2,
    rounds_max=6,
    precondition_fills=2,
    histogram_s=5,
    spacing_s=20,
    saturation_s=1200,
    saturation_fills=8,
    idle_passes=1,
    idle_spacing_s=20,
    idle_bursts=4,
    sequential_s=60,
    random_s=60,
    prewrite_s=1,
)
ROW = dict[str, Any]


def run(test_id: str, lengths: Lengths = SHORT, seed: int = 1) -> tuple[dict[str, Any], Any]:
    """A test's record and the drive that it left behind."""
    test = PROCEDURES[test_id]
    assert isinstance(test, PerformanceTest)
    target = EngineTarget(small_model(), seed)
    measured = replace(test, lengths=lengths).measure(target, seed, False, TaskProgress("test"))
    return measured.found(), target


def values(record: dict[str, Any]) -> dict[str, float]:
    return {value["name"]: value["value"] for value in record["values"]}


def rows(record: dict[str, Any], table: str) -> list[ROW]:
    (found,) = [t["rows"] for t in record["tables"] if t["name"] == table]
    return list(found)


def fifo_write_amplification(user_ratio: float) -> float:
    """WA of uniform random writes with FIFO cleaning: v = exp(-(1 - v) / user ratio)."""
    valid = 0.5
    for _ in range(10_000):
        valid = math.exp(-(1 - valid) / user_ratio)
    return 1 / (1 - valid)


def test_write_saturation_settles_where_arithmetic_says() -> None:
    record, target = run("pts-write-saturation")
    assert record["steady_state"]["reached"]
    found = values(record)
    # The X25-M takes 13 800 writes a second while there are erased blocks.
    assert found["first_iops"] == pytest.approx(13_790, rel=0.02)
    # What the host gets is what the flash programs, divided by the write amplification ...
    stretches = rows(record, "stretches")
    programmed = [row["programmed_mb_per_s"] for row in stretches[-3:]]
    assert max(programmed) < 1.1 * min(programmed)
    expected = programmed[-1] * 1e6 / 4096 / found["write_amplification"]
    assert found["last_iops"] == pytest.approx(expected, rel=0.1)
    # ... between theory with all the spare area and without the open and free blocks of each die.
    ratio = target.capacity_bytes / small_model().raw_capacity_bytes
    kept = 3 / BLOCKS_PER_DIE
    theory = (fifo_write_amplification(ratio), fifo_write_amplification(ratio / (1 - kept)))
    assert theory[0] < found["write_amplification"] < theory[1]


def test_write_saturation_ends_at_its_limits() -> None:
    record, target = run("pts-write-saturation", replace(SHORT, saturation_fills=1.5))
    found = values(record)
    assert found["written_fills"] == pytest.approx(1.5, rel=0.01)
    samples = rows(record, "samples")
    assert samples[-1]["drive_fills"] <= 1.5
    minutes = [row["minute"] for row in samples]
    assert minutes == sorted(set(minutes))
    assert not record["steady_state"]["reached"]
    assert any(note.startswith("Not steady after") for note in record["notes"])
    assert any("1.5 times the capacity" in line for line in record["deviations"])
    counted = target.counters()["host_write_bytes"]
    assert counted == pytest.approx(found["written_gb"] * 1e9, rel=1e-6)


@pytest.mark.parametrize("blocks_per_plane", [28, 112])
def test_write_saturation_becomes_steady_by_default_where_spare_area_lets_it(
    blocks_per_plane: int,
) -> None:
    # No seconds are given: rounds fit drives of any size. A fourfold drive needs fourfold time.
    geometry = (("flash.blocks_per_plane", str(blocks_per_plane)), ("spare_ratio", "0.28"))
    target = EngineTarget(model.load(MODEL_NAME, geometry), 1)
    test = PROCEDURES["pts-write-saturation"]
    record = test.measure(target, 1, False, TaskProgress("test")).found()
    assert record["steady_state"]["reached"]
    assert record["notes"] == []
    found = values(record)
    assert 2 <= found["written_fills"] < 4
    # Erased blocks are used up: this is the level of a drive that cleans, not of a new one.
    assert found["last_iops"] < 0.5 * found["first_iops"]
    assert 5 < record["steady_state"]["rounds"] <= 32
    assert any("two" in line or "2 capacities" in line for line in record["deviations"])


def test_a_window_has_five_rounds_or_is_none() -> None:
    record, _ = run("pts-write-saturation", replace(SHORT, saturation_fills=0.5))
    assert record["steady_state"]["rounds"] == 4
    assert record["steady_state"]["window"] == "none: a window has 5 rounds"
    titles = {value["name"]: value["title"] for value in record["values"]}
    assert titles["last_iops"] == "Last sample: 4 rounds, and a window has 5"
    assert values(record)["last_iops"] == rows(record, "samples")[-1]["iops"]
    record, _ = run("pts-latency", replace(SHORT, rounds_max=2))
    [matrix] = [table for table in record["tables"] if table["name"] == "matrix"]
    assert "average of 2 rounds, too few of a window" in matrix["title"]


@pytest.mark.parametrize("test_id", [test.id for test in pts.PROCEDURES])
def test_time_for_no_request_crashes_nothing(test_id: str) -> None:
    # 10 s for a write, and stimuli of a tenth of a second.
    slow = (("controller.write_firmware_ns", str(10 * 10**9)), *OVERRIDES)
    target = EngineTarget(model.load(MODEL_NAME, slow), 1)
    blink = dict.fromkeys(("stimulus_s", "composite_s", "histogram_s", "prewrite_s"), 0.1)
    lengths = replace(
        SHORT,
        **blink,
        **dict.fromkeys(("saturation_s", "sequential_s", "random_s", "idle_spacing_s"), 0.1),
        spacing_s=0.1,
        idle_passes=0,
        precondition_fills=1e-3,
        **dict.fromkeys(("rounds_max", "idle_bursts"), 1),
    )
    test = replace(PROCEDURES[test_id], lengths=lengths)
    record = test.measure(target, 1, False, TaskProgress("test")).found()
    assert record["values"]
    # Cross-stimulus recovery has no steady state.
    assert not (record["steady_state"] or {}).get("reached")


def test_iops_measures_56_combinations_and_says_if_they_never_settle() -> None:
    record, _ = run("pts-iops", replace(SHORT, rounds_max=2, stimulus_s=0.1))
    matrix = rows(record, "matrix")
    assert len({(row["mix"], row["block"]) for row in matrix}) == len(matrix) == 56
    of = {(row["mix"], row["block"]): row["iops"] for row in matrix}
    assert values(record)["iops_4k_write"] == of["0/100", "4 KiB"] < of["100/0", "4 KiB"]
    assert of["100/0", "1024 KiB"] < of["100/0", "0.5 KiB"]
    assert not record["steady_state"]["reached"]
    assert any("Not steady after 2 rounds" in note for note in record["notes"])


def test_throughput_is_that_of_the_link_and_of_the_flash() -> None:
    for test_id in ("pts-throughput-128k", "pts-throughput-1024k"):
        record, _ = run(test_id, replace(SHORT, stimulus_s=5))
        assert record["steady_state"]["reached"]
        found = values(record)
        assert found["read_mb_per_s"] == pytest.approx(250, rel=0.02)
        assert found["write_mb_per_s"] == pytest.approx(78, rel=0.04)


def test_latency_is_one_over_iops_at_queue_depth_one() -> None:
    record, _ = run("pts-latency")
    for row in rows(record, "matrix"):
        # Means over rounds: where rounds differ by a factor of r at most, the product of the means
        # is between that of a round and (r + 1)^2 / 4 r of it; a small drive's writes, r = 2.
        most = 1020 if row["mix"].startswith("100/") else 1020 * 9 / 8
        assert 980 <= row["mean_ms"] * row["iops"] <= most, row
        assert row["max_ms"] >= row["mean_ms"]
    histogram = rows(record, "histogram")
    assert histogram[-1]["share_percent"] == 100
    requests = sum(row["requests"] for row in histogram)
    write = next(r for r in rows(record, "matrix") if (r["mix"], r["block"]) == ("0/100", "4 KiB"))
    assert requests == pytest.approx(SHORT.histogram_s * write["iops"], rel=0.1)


def test_host_idle_recovery_pauses_between_bursts_only() -> None:
    lengths = replace(SHORT, idle_fills=2.0, rounds_max=25)
    record, target = run("pts-host-idle-recovery", lengths)
    assert [row["wait_s"] for row in rows(record, "waits")] == [5, 10, 15, 25, 50]
    bursts = SHORT.idle_bursts
    paused_s = bursts * (5 + 10 + 15 + 25 + 50)
    writing_s = 5 * 2 * bursts * 5
    fill_s = target.capacity_bytes / 78.5e6
    before_s = fill_s + rows(record, "samples")[-1]["minute"] * 60
    assert target.now_ns / 1e9 == pytest.approx(before_s + paused_s + writing_s, rel=0.01)
    assert rows(record, "bursts")[-1]["minute"] * 60 == pytest.approx(paused_s + writing_s)
    # A pass was written before, and the head of the report doesn't say "none".
    head = {row["item"]: row["value"] for row in rows(record, "header")}
    assert head["Preconditioning, workload-independent"].endswith("over the active range, once")
    found = values(record)
    assert found["iops_after_5_s"] > 0.8 * found["last_iops"] > 0
    # What isn't steady has no number that says it is.
    reached = record["steady_state"]["reached"]
    assert found["steady_iops"] == (found["last_iops"] if reached else None)


def test_cross_stimulus_recovery_sees_the_collapse_and_the_way_back() -> None:
    record, _ = run("pts-cross-stimulus-recovery")
    found = values(record)
    assert found["random_mb_per_s"] < 0.2 * found["before_mb_per_s"]
    assert found["after_mb_per_s"] < found["end_mb_per_s"] < 0.5 * found["before_mb_per_s"]
    # A minute of sequential writes is a fraction of what this drive needs to come back.
    assert found["recovery_min"] is None
    [note] = record["notes"]
    share = 100 * found["end_mb_per_s"] / found["before_mb_per_s"]
    assert note.startswith("Not recovered")
    assert f"the last sample has {share:.1f} % of it" in note


def test_cross_stimulus_recovery_that_comes_is_timed_and_needs_no_note() -> None:
    record, _ = run("pts-cross-stimulus-recovery", replace(SHORT, random_s=1))
    found = values(record)
    assert record["notes"] == []
    last = rows(record, "parts")[-1]["part"]
    after = [row for row in rows(record, "samples") if row["part"] == last]
    late = [row["mb_per_s"] >= found["before_mb_per_s"] for row in after].index(True)
    assert late > 10
    assert found["recovery_min"] * 60 == pytest.approx((late + 1) * SHORT.stimulus_s)
    assert found["nearly_recovered_min"] < found["recovery_min"]


def test_parts_shorter_than_a_sample_are_no_verdict() -> None:
    """A small, fast drive is done with a part within the minute of a sample: its average holds the
    way back, and isn't the 0.0 % that a part without samples looked like."""
    record, _ = run("pts-cross-stimulus-recovery", replace(SHORT, stimulus_s=600))
    found = values(record)
    by_part = {row["part"]: row["mb_per_s"] for row in rows(record, "samples")}
    assert list(by_part.values()) == pytest.approx(
        [row["mb_per_s"] for row in rows(record, "parts")], rel=0.01
    )
    assert len(by_part) == 3
    assert (found["end_mb_per_s"], found["recovery_min"]) == (None, None)
    short, verdict = record["notes"]
    assert short.startswith("No sample of 600 s in ")
    assert all(name in short for name in by_part)
    assert verdict.startswith("Whether and when it recovered can't be said")


def part(*rates: float) -> Part:
    found = tuple(
        Sample(60.0 * index, 60.0, 0, round(rate * 60e6), None, 0.0)
        for index, rate in enumerate(rates)
    )
    return Part("part", 0.0, found, sum(rates) / len(rates), None)


def test_recovery_is_the_first_sample_at_the_first_average() -> None:
    before = part(110, 90)
    assert recovery_minutes(before, part(10, 60, 99, 100, 80)) == 4
    assert recovery_minutes(before, part(10, 60, 99)) is None
    assert recovery_minutes(before, part(10, 60, 99), 0.95) == 3
    assert recovery_minutes(before, part(100)) == 1


def test_samples_of_a_drive_that_tells_no_latencies_have_none() -> None:
    series = {
        "interval_ns": 60 * 10**9,
        "bytes": [6 * 10**9, 0],
        "ios": [6000, 0],
        "latency_mean_ns": [None, None],
        "latency_max_ns": [2_000_000, None],
    }
    report = {"jobs": [{"write": {"runtime_ns": 120 * 10**9, "series": series}}]}
    found = samples(report)
    assert [(sample.mb_per_s, sample.max_ms) for sample in found] == [(100, 2), (0, None)]
    [row] = parts_table([Part("part", 0.0, tuple(found), 50.0, None)]).rows
    assert (row["highest_mean_ms"], row["max_ms"]) == (None, 2)


def test_a_sample_in_which_nothing_was_done_has_no_longest_latency() -> None:
    """The engine's report has 0 there."""
    series = {
        "interval_ns": 10**9,
        "bytes": [4096, 0],
        "ios": [1, 0],
        "latency_mean_ns": [2e6, None],
        "latency_max_ns": [2_000_000, 0],
    }
    report = {"jobs": [{"write": {"runtime_ns": 2 * 10**9, "series": series}}]}
    assert [sample.max_ms for sample in samples(report)] == [2, None]


def test_composite_follows_its_mix() -> None:
    record, _ = run("pts-composite")
    found = values(record)
    # 4, 1, 1, 1, 1, 1, 1, 67, 10, 7, 3 and 3 percent of 0.5 to 64 KiB.
    mean_bytes = 1024 * (0.02 + 0.14 + 2.68 + 0.8 + 1.12 + 0.96 + 1.92 - 0.005)
    assert found["mb_per_s"] * 1e6 / found["iops"] == pytest.approx(mean_bytes, rel=0.05)
    assert len(rows(record, "demand")) == 49
    # Little's law: requests outstanding are arrivals times latency.
    assert found["iops"] * found["mean_ms"] / 1000 == pytest.approx(1024, rel=0.1)


def test_demand_intensity_follows_littles_law() -> None:
    record, _ = run("pts-demand-intensity", replace(SHORT, rounds_max=1))
    demand = rows(record, "demand")
    assert len(demand) == 49
    for row in demand:
        if row["outstanding"] <= 64:
            held = row["iops"] * row["mean_ms"] / 1000
            assert held == pytest.approx(row["outstanding"], rel=0.1)
    assert values(record)["full_iops"] == next(
        row["iops"] for row in demand if row["outstanding"] == 1024
    )


def test_the_most_useful_demand_has_most_iops_within_five_ms() -> None:
    cells = {
        (1, 1): {"iops": 900.0, "mean_ms": 1.0},
        (2, 2): {"iops": 2000.0, "mean_ms": 2.0},
        (4, 1): {"iops": 2000.0, "mean_ms": 2.0},
        (32, 32): {"iops": 9000.0, "mean_ms": 100.0},
    }
    assert most_useful(cells) == (2, 2)
    assert most_useful({(32, 32): cells[32, 32]}) is None


def test_client_settings_use_three_quarters_of_the_drive() -> None:
    test = next(test for test in pts.PROCEDURES if test.id == "pts-throughput-128k-client")
    assert test.settings == CLIENT
    target = EngineTarget(small_model(), 1)
    measured = replace(test, lengths=SHORT).measure(target, 1, False, TaskProgress("test"))
    assert measured.span_bytes == pytest.approx(0.75 * target.capacity_bytes, rel=2e-3)
    # Twice the user capacity before, over and over the active range, as with enterprise settings.
    head = {row["item"]: row["value"] for row in rows(measured.found(), "header")}
    before = "128 KiB sequential writes, 2 times the user capacity"
    assert head["Preconditioning, workload-independent"] == before
    measuring_s = measured.steady_state["rounds"] * SHORT.stimulus_s
    filled = target.counters()["host_write_bytes"] - 2 * target.capacity_bytes
    assert 0 < filled < 100e6 * measuring_s
    assert target.counters()["valid_units"] * 4096 == measured.span_bytes


def test_one_seed_one_result() -> None:
    lengths = replace(SHORT, rounds_max=1)
    assert run("pts-latency", lengths)[0] == run("pts-latency", lengths)[0]
    assert run("pts-latency", lengths)[0] != run("pts-latency", lengths, seed=2)[0]


def test_every_test_has_a_full_length_and_a_head() -> None:
    for test in pts.PROCEDURES:
        assert test.unabridged().lengths is FULL
        assert test.unabridged().id == test.id
        assert test.states == ("new",)
    record, _ = run("pts-throughput-128k", replace(SHORT, rounds_max=1, stimulus_s=0.1))
    head = {row["item"]: row["value"] for row in rows(record, "header")}
    assert head["Revision"] == "PTS 2.0.x as implemented"
    assert {"Purge", "Data pattern", "Active range", "Volatile write cache"} <= set(head)
