from __future__ import annotations

import itertools
import json
import pickle
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import drivelab as dl

WRITES = dl.Job(rw="randwrite", bs="4k", iodepth=8, io_size="16m", name="w")
READS = dl.Job(rw="randread", bs="4k", size="8m", name="r")
ENDLESS = dl.Job(rw="randwrite", bs="4k", iodepth=32, norandommap=True)


@pytest.fixture(scope="module")
def filled() -> dl.Drive:
    return dl.Drive("intel-x25-m-g1-80gb", scale="1/128").prepare("filled", progress=False)


def test_steps_change_nothing_of_what_a_run_gives(filled: dl.Drive) -> None:
    whole = filled.run(WRITES, READS, progress=False)
    steps = filled.steps(WRITES, READS, every="70ms")
    taken = list(steps)
    assert steps.result.report == whole.report
    assert sum(step.ios for step in taken) == whole.summary["ios"].sum()
    assert [step.duration_s for step in taken[:-1]] == [0.07] * (len(taken) - 1)
    assert 0 < taken[-1].duration_s <= 0.07
    assert all(step.latency_mean_us is None for step in taken if not step.ios)
    with pytest.raises(dl.RequestError, match="have ended"):
        steps.advance()
    # The drive that was handed over is as it was.
    assert filled.run(WRITES, READS, progress=False).report == whole.report


def test_steps_can_be_stopped_and_the_result_is_of_what_was_done(filled: dl.Drive) -> None:
    steps = filled.steps(ENDLESS, every="0.5s", log=True)
    with pytest.raises(dl.RequestError, match="go on"):
        _ = steps.result
    seen = 0
    for step in steps:
        seen += step.ios
        if step.time_s >= 2:
            steps.stop()
    (row,) = steps.result.summary.rows(named=True)
    assert seen <= row["ios"] <= seen + 32
    assert steps.result.requests.height == row["ios"]
    with pytest.raises(dl.RequestError, match="keep=True"):
        _ = steps.result.drive


def test_a_log_has_what_the_summary_counts(filled: dl.Drive) -> None:
    result = filled.run(WRITES, READS, log=True, progress=False)
    log = result.requests
    assert result.report == filled.run(WRITES, READS, progress=False).report
    parts = sum(pl.col(f"{part}_ns") for part in ("queueing", "link", "firmware", "flash"))
    assert log.select((parts + pl.col("cleaning_ns") == pl.col("latency_ns")).all()).item()
    for row in result.summary.rows(named=True):
        own = log.filter(pl.col("job") == row["job"], pl.col("op") == row["direction"])
        assert own.height == row["ios"]
        assert own["length_bytes"].sum() == row["bytes"]
        assert own["latency_ns"].max() == round(row["latency_max_us"] * 1000)
        assert own["latency_ns"].mean() == pytest.approx(row["latency_mean_us"] * 1000)
    assert log["completed_ns"].is_sorted()
    assert set(log["outcome"].unique()) == {"done"}
    with pytest.raises(dl.RequestError, match="log=True"):
        _ = filled.run(READS, progress=False).requests


def test_a_log_survives_parquet_with_its_words(filled: dl.Drive, tmp_path: Path) -> None:
    log = filled.run(READS, log=True, progress=False).requests
    log.write_parquet(tmp_path / "log.parquet")
    assert pl.read_parquet(tmp_path / "log.parquet").equals(log)


def test_write_amplification_of_jobs_that_only_read_is_refused(filled: dl.Drive) -> None:
    until = dl.Steady("write_amplification")
    reads = dl.Job(rw="randread", bs="4k")
    for jobs in ([reads], [reads, dl.Job(rw="randrw", bs="4k", rwmixread=100)]):
        with pytest.raises(dl.RequestError, match="no job writes"):
            filled.run(*jobs, until=until, progress=False)


def test_a_run_until_steady_ends_with_a_level_window(filled: dl.Drive) -> None:
    until = dl.Steady("write_amplification", every="10s", limit="2h")
    result = filled.run(ENDLESS, until=until, keep=True, progress=False)
    steady = result.steady
    assert steady is not None
    assert steady["reached"]
    # The same windows, judged the plain way.
    rounds = []
    for step in filled.steps(until.endless(ENDLESS), every="10s"):
        rounds.append(step.write_amplification or 0.0)
        if len(rounds) == steady["rounds"]:
            break
    last = rounds[-5:]
    assert steady["average"] == pytest.approx(sum(last) / 5)
    assert max(last) - min(last) <= 0.2 * steady["average"]
    before = rounds[-6:-1]
    slope = sum(place * value for place, value in zip((-2, -1, 0, 1, 2), before, strict=True)) / 10
    level = max(before) - min(before) <= 0.04 * sum(before) and 4 * abs(slope) <= sum(before) / 50
    assert steady["rounds"] == 5 or not level
    # The drive that it leaves is done again where it is needed.
    again = pickle.loads(pickle.dumps(result.drive))
    assert again.inside().blocks.equals(result.drive.inside().blocks)


def test_a_run_that_never_gets_steady_says_so(filled: dl.Drive) -> None:
    result = filled.run(WRITES, until=dl.Steady("iops", every="5s"), progress=False)
    assert result.steady is not None
    assert not result.steady["reached"]
    assert "iops was not steady" in " ".join(result.notes)
    assert result.report == filled.run(WRITES, progress=False).report


def test_what_cannot_be_is_refused_at_once(filled: dl.Drive) -> None:
    with pytest.raises(dl.RequestError, match='did you mean "iops"'):
        dl.Steady("iop")  # type: ignore[arg-type]
    with pytest.raises(dl.RequestError, match="at least 5 rounds"):
        dl.Steady("iops", every="60s", limit="2m")
    with pytest.raises(dl.RequestError, match="every = 0: allowed: 1 ns or more"):
        filled.steps(WRITES, every=0)
    with pytest.raises(dl.RequestError, match="needs at least one job"):
        filled.steps()


def test_the_inside_agrees_with_the_counters(filled: dl.Drive) -> None:
    inside = filled.run(WRITES, keep=True, progress=False).drive.inside()
    blocks, dies = inside.blocks, inside.dies
    assert blocks.height == dies.height * blocks["block"].n_unique()
    roles = dict(blocks["role"].value_counts().iter_rows())
    assert roles["closed"] > roles["free"] > 0
    assert roles["open"] > 0
    assert dies["free_blocks"].sum() == roles["free"]
    assert dies["valid_bytes"].sum() == blocks["valid_bytes"].sum()
    erased = blocks.filter(pl.col("written_pages") == 0)
    assert erased["age_programs"].null_count() == erased.height
    assert blocks.filter(pl.col("role") == "open")["stream"].null_count() == 0
    disk = dl.Drive("wd-velociraptor-300gb").inside()
    assert (disk.blocks.height, disk.dies.height) == (0, 0)


def test_rounds_begin_after_the_ramp_and_count_pauses(filled: dl.Drive) -> None:
    reads = dl.Job(rw="randread", bs="4k", ramp_time="0.5s", time_based=True, runtime="30s")
    result = filled.run(reads, until=dl.Steady("iops", every="1s", limit="20s"), progress=False)
    steady = result.steady
    assert steady is not None
    # A reading drive is steady at once, if no round has half a ramp in it.
    assert (steady["reached"], steady["rounds"]) == (True, 5)
    assert steady["excursion_percent"] < 1
    # One read, and a pause of two seconds: 1, 0, 1, 0 a second are no steady rate.
    paused = dl.Job(rw="randread", bs="4k", thinktime="2s", time_based=True, runtime="30s")
    verdict = filled.run(paused, until=dl.Steady("iops", every="1s"), progress=False).steady
    assert verdict is not None
    assert not verdict["reached"]
    assert verdict["average"] == pytest.approx(0.5, abs=0.11)


def test_steps_say_nothing_of_a_ramp_and_stop_does_not_wait_for_it(filled: dl.Drive) -> None:
    job = ENDLESS.with_options(ramp_time="2.5s")
    first, second, third, fourth, *_ = list(filled.steps(job.with_options(runtime=4), every="1s"))
    assert (first.iops, first.mib_per_s, first.latency_mean_us) == (None, None, None)
    assert second.iops is None
    # Half of it is measured.
    assert third.iops == pytest.approx(third.ios / 0.5)
    assert fourth.iops == pytest.approx(fourth.ios)
    steps = filled.steps(job.with_options(ramp_time="60s", runtime=4, time_based=True))
    steps.advance()
    steps.stop()
    assert steps.result.report["end_ns"] - steps.result.report["start_ns"] < 2e9


def test_one_time_is_one_time_wherever_it_is_said(filled: dl.Drive) -> None:
    for seconds, time_ns in ((0.1 + 0.2, 300_000_000), (2e-5, 20_000), (1 / 3, 333_333_333)):
        assert filled.idle(seconds).history[-1] == {"idle_ns": time_ns}
        assert dl.Steady(every=seconds).every_ns == time_ns
        session = filled.open()
        before_ns = session.now_ns
        session.advance(seconds)
        assert session.now_ns - before_ns == time_ns
        (step,) = itertools.islice(filled.steps(ENDLESS, every=seconds), 1)
        assert step.duration_s == pytest.approx(time_ns / 1e9, abs=1e-12)
        for key, field in (("runtime", "runtime_ns"), ("ramp_time", "ramp_ns")):
            job = dl.Job(rw="read", **{key: seconds})
            assert getattr(job.on_drive(2**30, 1, 0).job, field) == time_ns
    for wrong in (1e-12, float("inf"), float("nan"), -1e-5, 1e300):
        for call in (filled.idle, filled.open().advance, lambda time: dl.Job(runtime=time)):
            with pytest.raises(dl.RequestError):
                call(wrong)


def test_numbers_of_numpy_can_be_written_down(filled: dl.Drive) -> None:
    job = dl.Job(rw="randwrite", bs=np.int64(4096), io_size="1m", rwmixread=np.float64(50))
    assert job == dl.Job(rw="randwrite", bs=4096, io_size="1m", rwmixread=50.0)
    steady = dl.Steady(every=np.int64(1), limit=np.int64(60))
    same = dl.Steady(every=1, limit=60)
    left = filled.run(job, until=steady, keep=True, progress=False).drive
    plain = filled.run(dl.Job.of_record(job.record()), until=same, keep=True, progress=False).drive
    assert json.loads(json.dumps(left.history)) == list(plain.history)
    assert left.key == plain.key
    with pytest.raises(dl.RequestError, match="a number or a text"):
        dl.Job(bs=np.arange(2))  # type: ignore[arg-type]


def test_reads_that_failed_are_told_and_counted_as_in_the_log() -> None:
    worn = {"flash.bit_errors": True, "flash.retention_hours": 10, "flash.initial_cycles": 20_000}
    drive = dl.Drive("intel-x25-m-g1-80gb", worn, scale="1/128").prepare("filled")
    job = dl.Job(rw="randread", bs="4k", io_size="16m")
    fresh = drive.run(job, log=True)
    assert set(fresh.requests["outcome"]) == {"done"}
    assert not [note for note in fresh.notes if "failed" in note]

    late = drive.age("3650d").run(job, log=True)

    failed = (late.requests["outcome"] == "uncorrectable").sum()
    assert failed > 1
    told = f"{failed} reads failed: more bits were wrong than can be corrected"
    assert [note for note in late.notes if note.startswith(told)]
