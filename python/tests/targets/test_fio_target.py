"""The laboratory through the real fio, on small files; skipped where there is none."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from served.programs import require

from drivelab import cli, counters
from drivelab.errors import RequestError, WorkError
from drivelab.progress import TaskProgress
from drivelab.quantities import MIB, NS_PER_MS, NS_PER_S
from drivelab.targets.fio import RealDrive, Wish
from drivelab.targets.fio.lineage import Lineage
from drivelab.workload import FLUSH, READ, TRIM, WRITE, BlockSize, Job, Recorded, Requests

pytestmark = pytest.mark.programs("fio")
SIZE = 32 * MIB


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Lineage]:
    drive = RealDrive(f"fio:{tmp_path / 'drive'}", Wish(size="32m", buffered=True))
    with drive.claimed():
        yield drive.target(TaskProgress("test"))


def writes(count: int, gap_ns: int = 0) -> Requests:
    return Requests(
        np.full(count, WRITE, np.uint8),
        np.arange(count, dtype=np.uint64) * np.uint64(8),
        np.full(count, 8, np.uint32),
        np.arange(count, dtype=np.uint64) * np.uint64(gap_ns),
    )


def test_a_pass_moves_every_byte_once(target: Lineage) -> None:
    job = Job(name="pass", rw="write", block_sizes=(BlockSize(bytes=MIB),))
    report = target.run([job], TaskProgress("run"))
    write = report["jobs"][0]["write"]
    assert (write["ios"], write["bytes"]) == (32, SIZE)
    assert write["latency_ns"]["count"] == 32
    assert write["bytes_per_s"] > 0
    assert target.counters()["host_write_bytes"] == SIZE
    assert report["counters_after"]["host_write_bytes"] == SIZE


def test_jobs_together_are_reported_in_their_order(target: Lineage) -> None:
    common = {"runtime_ns": 300 * NS_PER_MS, "time_based": True}
    jobs = [
        Job(name="reads", rw="randread", **common),
        Job(name="both", rw="randrw", queue_depth=4, **common),
    ]
    parts = target.run(jobs, TaskProgress("run"))["jobs"]
    assert [part["name"] for part in parts] == ["reads", "both"]
    assert parts[0]["read"]["ios"] > 0
    assert parts[0]["write"]["ios"] == 0
    assert parts[1]["write"]["ios"] > 0


def test_trims_give_the_files_blocks_back(target: Lineage, tmp_path: Path) -> None:
    progress = TaskProgress("run")
    size = (BlockSize(bytes=MIB),)
    target.run([Job(name="write", rw="write", block_sizes=size)], progress)
    target.run_requests(
        Job(name="flush", source=Recorded(pacing="closed")), Requests.of([(FLUSH, 0, 0)]), progress
    )
    assert (tmp_path / "drive").stat().st_blocks * 512 >= SIZE
    target.run([Job(name="trim", rw="trim", block_sizes=size)], progress)
    assert (tmp_path / "drive").stat().st_blocks == 0
    assert (tmp_path / "drive").stat().st_size == SIZE


def test_requests_are_conserved_whatever_their_pace(target: Lineage) -> None:
    for pacing, least_s in (("closed", 0.0), ("arrival", 0.49), ("capped", 0.045)):
        source = Recorded(pacing=pacing, idle_cap_ns=NS_PER_MS if pacing == "capped" else None)
        job = Job(name=pacing, source=source, queue_depth=2 if pacing == "closed" else 1)
        report = target.run_requests(job, writes(50, 10 * NS_PER_MS), TaskProgress("run"))
        write = report["jobs"][0]["write"]
        assert (write["ios"], write["bytes"]) == (50, 50 * 4096)
        assert write["runtime_ns"] / NS_PER_S >= least_s


def test_a_copy_finds_what_the_drive_held(target: Lineage, tmp_path: Path) -> None:
    progress, size = TaskProgress("run"), (BlockSize(bytes=MIB),)
    target.secure_erase()
    target.run([Job(name="fill", rw="write", block_sizes=size, io_bytes=4 * MIB)], progress)
    target.idle(0)
    held = (tmp_path / "drive").read_bytes()
    other = target.clone()
    other.run([Job(name="all", rw="write", block_sizes=size)], progress)
    assert (tmp_path / "drive").read_bytes() != held
    target.run([Job(name="read", rw="read", io_bytes=MIB)], progress)
    assert (tmp_path / "drive").read_bytes() == held


def test_what_a_file_cannot_do_is_refused_by_name(target: Lineage) -> None:
    progress = TaskProgress("run")
    mixed = Requests.of([(WRITE, 0, 8), (TRIM, 0, 8), (READ, 0, 8)])
    with pytest.raises(RequestError, match="fio leaves trims out"):
        target.run_requests(Job(name="m", source=Recorded(pacing="closed")), mixed, progress)
    with pytest.raises(RequestError, match="a real drive has none"):
        target.variant([("spare_ratio", "0.2")])


def test_waiting_ends_with_the_task(tmp_path: Path) -> None:
    drive = RealDrive(f"fio:{tmp_path / 'drive'}", Wish(size="1m", buffered=True))
    task = TaskProgress("task")
    with drive.claimed():
        target = drive.target(task)
        threading.Timer(0.3, task.cancel).start()
        start = time.perf_counter()
        with pytest.raises(WorkError, match="stopped"):
            target.idle(600 * NS_PER_S)
        assert time.perf_counter() - start < 300
        with pytest.raises(WorkError, match="stopped"):
            target.run([Job(name="late", rw="read")], task)


def test_a_review_of_a_file_says_how_it_was_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "drive", tmp_path / "out"
    words = ["review", f"fio:{path}", "--size", "32m", "--buffered", "--quick"]
    words += ["--tests", "as-ssd-write,as-ssd-read", "--states", "new", "--out", str(out)]
    assert cli.run([*words, "--plan"]) == 0
    plan = capsys.readouterr().out
    assert "as-ssd-write, new: 33.6 MB written" in plan
    assert "--quick shortens the tests; bringing the drive into their states takes as long" in plan
    assert not path.exists()
    assert not out.exists()
    assert cli.run(words) == 0
    assert not path.exists()
    results = json.loads((out / "results.json").read_text())
    [model], tests = results["models"], results["tests"]
    assert model["family"] == "real"
    assert model["parameters"] == []
    assert model["real"]["fio_version"].startswith("fio-")
    assert model["real"]["new_state"].startswith("the file is cut to nothing")
    assert results["states"][0]["description"] == model["real"]["new_state"]
    assert [test["id"] for test in tests] == ["as-ssd-read", "as-ssd-write"]
    assert tests[1]["bytes"] == SIZE
    assert tests[1]["write_amplification"] is None
    assert tests[1]["mean_power_w"] is None
    assert f"fio:{path}" in (out / "report.html").read_text()


def test_options_of_real_drives_mean_nothing_for_models(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["review", "intel-x25-m-g1-80gb", "--size", "1g"]) == 2
    assert "--size: counts for drives fio:... only" in capsys.readouterr().err
    assert cli.run(["review", "fio:/tmp/none", "--size", "1g", "--set", "a=b"]) == 2
    assert "is a real drive, without parameters" in capsys.readouterr().err


def test_tests_without_meaning_are_refused_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["review", f"fio:{tmp_path / 'drive'}", "--size", "32m", "--buffered", "--plan"]
    assert cli.run([*words, "--tests", "power-idle"]) == 2
    assert "has no meter of its power" in capsys.readouterr().err


def test_a_job_file_runs_on_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = tmp_path / "job.fio"
    job.write_text(
        "[a]\nrw=randwrite\nbs=4k\niodepth=4\nio_size=4m\n[b]\nstonewall\nrw=read\nbs=1m\n"
    )
    words = ["run", str(job), "--drive", f"fio:{tmp_path / 'drive'}", "--size", "32m", "--buffered"]
    assert cli.run([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [j["jobname"] for j in document["jobs"]] == ["a", "b"]
    assert document["jobs"][0]["write"]["io_bytes"] == 4 * MIB
    assert document["jobs"][1]["read"]["io_bytes"] == SIZE
    assert document["drivelab"]["write_amplification"] is None
    assert cli.run(words) == 0
    assert "erases" not in capsys.readouterr().out


def test_repeats_of_a_real_drive_have_intervals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "j.fio").write_text("[j]\nrw=write\nbs=1m\nsize=8m\n", encoding="utf-8")
    drive = f"fio:{tmp_path / 'drive'}"
    common = ["--size", "32m", "--buffered", "--repeat", "3", "--json"]
    assert cli.run(["run", str(tmp_path / "j.fio"), "--drive", drive, *common]) == 0
    printed = capsys.readouterr()
    assert "--repeat 3: all of this 3 times, states included" in printed.err
    found = json.loads(printed.out)["drivelab"]["repeats"]
    rate = found["jobs"][0]["numbers"]["mib_per_s"]
    assert len(found["seeds"]) == len(rate["values"]) == 3
    assert rate["low"] < rate["mean"] < rate["high"]
    assert rate["mean"] == pytest.approx(sum(rate["values"]) / 3)
    words = ["review", drive, "--tests", "as-ssd-write", "--states", "new", "--quick", *common]
    assert cli.run([*words, "--out", str(tmp_path / "out")]) == 0
    [test] = json.loads(capsys.readouterr().out)["tests"]
    own = test["repeats"]["mib_per_s"]
    assert test["mib_per_s"] == own["mean"] == pytest.approx(sum(own["values"]) / 3)
    assert own["low"] < own["mean"] < own["high"]
    # What a real drive doesn't tell has no mean either.
    assert "write_amplification" not in test["repeats"]


def test_a_trace_replays_on_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = tmp_path / "trace.txt"
    lines = [f"{index * 100_000} 0 {index * 8} 8 {index % 2}\n" for index in range(40)]
    trace.write_text("".join(lines))
    words = ["replay", str(trace), "--drive", f"fio:{tmp_path / 'drive'}", "--size", "32m"]
    words += ["--buffered", "--format", "mqsim"]
    assert cli.run([*words, "--plan"]) == 0
    assert "trace.txt: 81.9 kB written" in capsys.readouterr().out
    assert cli.run([*words, "--json"]) == 0
    replay = json.loads(capsys.readouterr().out)["replay"]
    assert (replay["read"]["ios"], replay["write"]["bytes"]) == (20, 20 * 4096)
    assert replay["busy_s"] is None
    assert cli.run(words) == 0
    assert "erases" not in capsys.readouterr().out


def test_the_plan_of_a_trace_with_flushes_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "trace.blkparse"
    rows = ["W 0 + 8", "FN", "R 0 + 8"]
    lines = [f"8,0 0 {n} 0.00{n}000000 100 Q {row} [a]\n" for n, row in enumerate(rows)]
    trace.write_text("".join(lines))
    words = ["replay", str(trace), "--drive", f"fio:{tmp_path / 'drive'}", "--size", "32m"]
    assert cli.run([*words, "--buffered", "--plan"]) == 0
    assert "trace.blkparse: 4.1 kB written" in capsys.readouterr().out


def test_ctrl_c_ends_fio_and_leaves_nothing(tmp_path: Path) -> None:
    path, out = tmp_path / "drive", tmp_path / "out"
    # What runs these tests in the background ignores Ctrl-C, and so would all that it starts.
    words = ["env", "--default-signal=INT", sys.executable, "-c"]
    words += ["from drivelab.cli import main; main()", "review", f"fio:{path}"]
    words += ["--size", "32m", "--buffered", "--tests", "random-write-4k-qd1-drive"]
    words += ["--states", "new", "--out", str(out)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        for _ in range(3000):
            if path.exists() and path.stat().st_blocks:
                break
            time.sleep(0.1)
        assert path.stat().st_blocks, "fio never wrote"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=300)
    assert process.returncode == cli.INTERRUPTED
    assert "interrupted" in said
    assert not path.exists()
    assert not out.exists() or list(out.iterdir()) == []


@pytest.fixture
def export(tmp_path: Path) -> Iterator[str]:
    require("nbdkit", "nbdinfo")
    socket = tmp_path / "socket"
    server = subprocess.Popen(["nbdkit", "-f", "-U", str(socket), "memory", "32M"])
    try:
        while not socket.exists():
            assert server.poll() is None, "nbdkit has ended"
            time.sleep(0.05)
        yield f"nbd+unix:///?socket={socket}"
    finally:
        server.terminate()
        server.wait()


def test_a_served_drive_is_measured_like_any_other(export: str) -> None:
    with pytest.raises(RequestError, match=r"served drive of 33\.6 MB, which every test"):
        RealDrive(f"fio:{export}", Wish())
    drive = RealDrive(f"fio:{export}", Wish(destroy=(export,)))
    progress = TaskProgress("run")
    assert drive.user_capacity_bytes == SIZE
    with drive.claimed():
        target = drive.target(progress)
        target.secure_erase()
        assert target.counters()["host_trim_bytes"] == 0
        report = target.run(
            [Job(name="w", rw="write", block_sizes=(BlockSize(bytes=MIB),))], progress
        )
        assert report["jobs"][0]["write"]["bytes"] == SIZE
        closed = Recorded(pacing="closed")
        flush = target.run_requests(
            Job(name="f", source=closed), Requests.of([(FLUSH, 0, 0)]), progress
        )
        assert flush["jobs"][0]["flush"]["count"] == 1
        mixed = Requests.of([(WRITE, 0, 8), (FLUSH, 0, 0), (READ, 0, 8)])
        part = target.run_requests(Job(name="m", source=closed), mixed, progress)["jobs"][0]
        assert [part["read"]["ios"], part["write"]["ios"], part["flush"]["count"]] == [1, 1, 1]


def test_reads_of_a_file_of_holes_are_said_to_be_of_nothing(target: Lineage) -> None:
    target.secure_erase()
    job = Job(name="read", rw="read", io_bytes=MIB)
    report = target.run([job], TaskProgress("run"))
    assert counters.unmapped_read_share(counters.spent_in(report)) == 1.0
    write = Job(name="write", rw="write", io_bytes=MIB)
    target.run([write], TaskProgress("run"))
    report = target.run([job], TaskProgress("run"))
    assert counters.unmapped_read_share(counters.spent_in(report)) is None, "nobody knows"
    assert all(isinstance(value, int) for value in report["counters_after"].values())


def test_a_total_over_groups_that_nobody_knows_is_null(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = tmp_path / "job.fio"
    job.write_text(
        "[global]\nbs=64k\nsize=1m\n[r]\nrw=read\n[w]\nstonewall\nrw=write\n"
        "[again]\nstonewall\nrw=read\n"
    )
    words = ["run", str(job), "--drive", f"fio:{tmp_path / 'new'}", "--size", "8m", "--buffered"]
    assert cli.run([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["drivelab"]
    assert [group["unmapped_read_share"] for group in told["groups"]] == [1.0, None, None]
    assert told["unmapped_read_share"] is None
