from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from small import MODEL_NAME, SETS

from drivelab import cli

JOB = """
[global]
bs=4k
size=256m
iodepth=8
percentile_list=50:99.9
[write]
rw=randwrite
fsync=64
io_size=32m
[mixed]
stonewall
rw=randrw
rwmixread=75
numjobs=2
io_size=16m
"""

DIRECTION_KEYS = """
io_bytes io_kbytes bw_bytes bw iops runtime total_ios short_ios drop_ios slat_ns clat_ns lat_ns
bw_min bw_max bw_agg bw_mean bw_dev bw_samples iops_min iops_max iops_mean iops_stddev iops_samples
"""
JOB_KEYS = """
jobname groupid error eta elapsed trim read write sync job_runtime usr_cpu sys_cpu ctx majf minf
iodepth_level iodepth_submit iodepth_complete latency_ns latency_us latency_ms latency_depth
latency_target latency_percentile latency_window
"""


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not strict JSON")


def run(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    path = folder / "job.fio"
    path.write_text(JOB, encoding="utf-8")
    assert cli.run(["run", str(path), "--drive", MODEL_NAME, *SETS, "--json", *words]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out, parse_constant=refuse)
    return document


@pytest.fixture
def document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    return run(tmp_path, capsys)


def test_every_key_of_fio_is_there(document: dict[str, Any]) -> None:
    top = {"fio version", "timestamp", "timestamp_ms", "time", "global options", "jobs"}
    assert set(document) == top | {"disk_util", "errors", "drivelab"}
    for job in document["jobs"]:
        assert set(job) == {*JOB_KEYS.split(), "job options"}
        for direction in ("read", "write", "trim"):
            assert set(job[direction]) == {*DIRECTION_KEYS.split(), "drivelab"}
            for kind in ("slat_ns", "clat_ns", "lat_ns"):
                assert {"min", "max", "mean", "stddev", "N"} <= set(job[direction][kind])


def test_percentiles_stay_when_nothing_was_measured(document: dict[str, Any]) -> None:
    [write, *_] = document["jobs"]
    assert write["read"]["clat_ns"]["percentile"] == {"50.000000": None, "99.900000": None}
    assert write["read"]["clat_ns"]["mean"] is None
    assert write["write"]["clat_ns"]["percentile"]["99.900000"] > 0


def test_what_went_in_came_out(document: dict[str, Any]) -> None:
    write, *mixed = document["jobs"]
    assert write["write"]["io_bytes"] == 32 << 20
    assert write["write"]["total_ios"] == 8192
    # Whether the flush after the last write still belongs to the job is a matter of taste.
    assert write["sync"]["total_ios"] in (127, 128)
    for job in mixed:
        assert job["read"]["io_bytes"] + job["write"]["io_bytes"] == 16 << 20
        assert job["read"]["total_ios"] / 4096 == pytest.approx(0.75, abs=0.03)
    own = document["drivelab"]
    written = sum(job["write"]["io_bytes"] for job in document["jobs"])
    assert own["host_write_bytes"] == written
    assert own["write_amplification"] == own["flash_write_bytes"] / written


FLASH_KEYS = ("flash_write_bytes", "write_amplification", "erases")
HISTORY = """
[global]
bs=4k
size=900m
[fill]
rw=write
bs=128k
[age]
stonewall
rw=randwrite
io_size=600m
[measure]
stonewall
rw=randrw
iodepth=8
io_size=200m
[reads]
stonewall
rw=randread
io_size=8m
"""


def test_every_job_has_the_amplification_of_its_own_writes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "history.fio"
    path.write_text(HISTORY, encoding="utf-8")
    words = ["run", str(path), "--drive", MODEL_NAME, *SETS]
    assert cli.run([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out, parse_constant=refuse)
    fill, age, measure, reads = document["jobs"]
    own = [job["write"]["drivelab"] for job in (fill, age, measure)]
    for part, job in zip(own, (fill, age, measure), strict=True):
        ratio = part["flash_write_bytes"] / job["write"]["io_bytes"]
        assert part["write_amplification"] == ratio
    # What is written in a row costs nothing more, what is written at random later does.
    assert own[0]["write_amplification"] == pytest.approx(1, abs=0.01)
    assert own[0]["erases"] == 0
    assert own[2]["write_amplification"] > 1.5
    assert own[2]["erases"] > 100
    for part in (fill["read"], measure["read"], measure["trim"], reads["read"], reads["write"]):
        assert {key: part["drivelab"][key] for key in FLASH_KEYS} == dict.fromkeys(FLASH_KEYS)
    whole = document["drivelab"]
    for key in ("flash_write_bytes", "erases"):
        assert whole[key] == sum(group[key] for group in whole["groups"])
    assert cli.run(words) == 0
    printed = capsys.readouterr().out
    lines = {tuple(line.split()[:2]): line.split() for line in printed.splitlines()}
    assert float(lines["fill", "write"][8]) == pytest.approx(1, abs=0.01)
    assert int(lines["measure", "write"][10]) == own[2]["erases"]
    assert lines["reads", "read"][8:] == ["-", "-", "-"]
    assert "all jobs: write amplification" in printed


def test_the_flash_of_jobs_that_write_together_is_their_groups(document: dict[str, Any]) -> None:
    write, *mixed = document["jobs"]
    first, second = document["drivelab"]["groups"]
    assert [first["jobs"], second["jobs"]] == [["write"], ["mixed", "mixed"]]
    own = write["write"]["drivelab"]
    assert {key: own[key] for key in FLASH_KEYS} == {key: first[key] for key in FLASH_KEYS}
    for job in mixed:
        own = job["write"]["drivelab"]
        assert {key: own[key] for key in FLASH_KEYS} == dict.fromkeys(FLASH_KEYS)
    written = sum(job["write"]["io_bytes"] for job in mixed)
    assert second["host_write_bytes"] == written
    assert second["write_amplification"] == second["flash_write_bytes"] / written
    assert second["energy_j"] > 0


def test_reads_of_what_was_never_written_say_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "reads.fio"
    path.write_text("[r]\nrw=randread\nbs=4k\nio_size=8m\nsize=256m\n", encoding="utf-8")
    words = ["run", str(path), "--drive", MODEL_NAME, *SETS]
    for state, share in (("new", 1.0), ("filled", 0.0)):
        assert cli.run([*words, "--state", state, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)["drivelab"]["unmapped_read_share"]
        assert found == share
        assert cli.run([*words, "--state", state]) == 0
        said = "r: 100 % of the bytes read were not mapped" in capsys.readouterr().out
        assert said == bool(share)


def test_reads_that_failed_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "reads.fio"
    path.write_text("[r]\nrw=randread\nbs=4k\nio_size=16m\n", encoding="utf-8")
    words = ["run", str(path), "--drive", MODEL_NAME, "--scale", "1/128", "--state", "filled"]
    worn = ["--set", "flash.bit_errors=true", "--set", "flash.initial_cycles=100000"]
    for more in ([], worn):
        assert cli.run([*words, *more, "--json"]) == 0
        own = json.loads(capsys.readouterr().out)["drivelab"]
        failed = own["read_errors"]
        assert (failed is not None and failed > 1) == bool(more)
        assert [group["read_errors"] for group in own["groups"]] == [failed]
        assert cli.run([*words, *more]) == 0
        shown = capsys.readouterr().out
        assert (f"r: {failed} reads failed: more bits were wrong" in shown) == bool(more)


def test_what_flash_reads_for_a_map_is_read_from_flash(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "reads.fio"
    path.write_text("[r]\nrw=randread\nbs=4k\nio_size=8m\nsize=256m\n", encoding="utf-8")
    in_flash = ("map_cache_bytes=8192", "journal_updates_per_page=0", "checkpoint_updates=0")
    changes = [f"--set=ftl.{change}" for change in (*in_flash, "checkpoint_bytes=0")]
    words = ["run", str(path), "--drive", MODEL_NAME, *SETS, "--state", "filled", "--json"]
    # With two lines of the map in memory nearly every read brings a page of it, too.
    for sets, least, most in (([], 1.0, 1.0), (changes, 1.9, 2.0)):
        assert cli.run([*words, *sets]) == 0
        found = json.loads(capsys.readouterr().out)["drivelab"]
        assert least <= found["flash_read_bytes"] / found["host_read_bytes"] <= most


def test_figures_of_one_job_agree_with_each_other(document: dict[str, Any]) -> None:
    job = document["jobs"][0]
    part = job["write"]
    assert part["bw"] == pytest.approx(part["iops"] * 4, rel=1e-3)
    # Little's law: 8 outstanding, apart from the start, the end and the flushes.
    assert part["clat_ns"]["mean"] * part["iops"] / 1e9 < 8.01
    classes = [job[f"latency_{unit}"] for unit in ("ns", "us", "ms")]
    assert sum(sum(part.values()) for part in classes) == pytest.approx(100)
    split = document["drivelab"]["latency_split_us"][0]["write"]
    assert sum(split.values()) * 1000 == pytest.approx(part["clat_ns"]["mean"])
    assert sum(part["clat_ns"]["bins"].values()) == part["total_ios"]


def test_groups_and_copies_are_told_apart(document: dict[str, Any]) -> None:
    assert [job["groupid"] for job in document["jobs"]] == [0, 1, 1]
    shares = [job["read"]["bw_agg"] for job in document["jobs"][1:]]
    assert sum(shares) == pytest.approx(100)


def test_only_wall_fields_depend_on_the_clock(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], document: dict[str, Any]
) -> None:
    again = run(tmp_path, capsys)
    for found in (document, again):
        del found["drivelab"]["wall_s"]
    assert again == document


def test_another_seed_is_another_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], document: dict[str, Any]
) -> None:
    other = run(tmp_path, capsys, "--seed", "2")
    assert other["jobs"][1]["read"]["total_ios"] != document["jobs"][1]["read"]["total_ios"]


def test_what_was_written_is_said_and_changes_no_result_of_a_drive_that_does_not_compress(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], document: dict[str, Any]
) -> None:
    assert {part["pattern"]["kind"] for part in document["drivelab"]["data"]} == {"random"}
    zeros = run(tmp_path, capsys, "--data", "zeros")
    assert {part["pattern"]["kind"] for part in zeros["drivelab"]["data"]} == {"zeros"}
    assert " --data zeros " in zeros["drivelab"]["command_line"]
    assert zeros["jobs"] == document["jobs"]
    said = ("data", "command_line", "wall_s")
    for found in (zeros, document):
        for key in said:
            del found["drivelab"][key]
    assert zeros == document


BESIDE_WRITES = """
[global]
bs=4k
size=32m
[fill]
rw=write
bs=1m
[reads]
stonewall
rw=randread
time_based
runtime=2
[writes]
rw=randwrite
time_based
runtime=2
"""


def test_reads_beside_throttled_writes_are_as_fast_as_beside_the_same_writes_unthrottled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    limit = 4000

    def beside(writes: str, governor: int) -> tuple[float, float]:
        path = tmp_path / "job.fio"
        path.write_text(BESIDE_WRITES + writes, encoding="utf-8")
        sets = {"iops": governor, "burst": 0}
        words = [f"controller.write_governor_{key}={value}" for key, value in sets.items()]
        drive = ["--drive", "ocz-agility-2-100gb"]
        drive += [word for text in words for word in ("--set", text)]
        assert cli.run(["run", str(path), *drive, "--json"]) == 0
        jobs = {job["jobname"]: job for job in json.loads(capsys.readouterr().out)["jobs"]}
        return jobs["reads"]["read"]["iops"], jobs["writes"]["write"]["iops"]

    # The drive limits a host that keeps 16 writes outstanding; or a host limits itself as much.
    reads, writes = beside("iodepth=16\n", limit)
    assert writes == pytest.approx(limit, rel=0.02)
    unthrottled, same_writes = beside(f"iodepth=16\nrate_iops={limit}\n", 0)
    assert same_writes == pytest.approx(writes, rel=0.02)
    assert reads == pytest.approx(unthrottled, rel=0.1)


def test_what_the_drive_writes_beside_reads_is_in_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Erases of the rows add up to those of the run: a drive goes on cleaning while it is read."""
    file = tmp_path / "reads.fio"
    text = "[write]\nrw=randwrite\nbs=4k\nio_size=64m\nsize=512m\niodepth=32\nnorandommap\n"
    file.write_text(text + "[read]\nstonewall\nrw=randread\nbs=4k\nio_size=16m\nsize=512m\n")
    words = ["run", str(file), "--drive", "crucial-t500-2tb", "--scale", "1/128", "--state", "used"]
    assert cli.run([*words, "--json"]) == 0
    groups = json.loads(capsys.readouterr().out)["drivelab"]["groups"]
    assert groups[1]["flash_write_bytes"] > 0
    assert cli.run(words) == 0
    table = capsys.readouterr().out.splitlines()
    [row] = [line.split() for line in table if line.startswith("drive in background")]
    assert row[-1] == str(groups[1]["erases"])
    assert float(row[-2]) == pytest.approx(groups[1]["flash_write_bytes"] / 2**20, rel=0.01)


def test_requests_in_no_time_have_no_rate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "at-once.fio"
    file.write_text("[a]\nrw=read\nbs=4k\n")
    assert cli.run(["run", str(file), "--drive", "hypothetical", "--json"]) == 0
    [job] = json.loads(capsys.readouterr().out)["jobs"]
    assert job["read"]["total_ios"] == 5
    assert [job["read"][key] for key in ("bw_bytes", "bw", "iops")] == [None] * 3
    assert job["write"]["iops"] == 0
    words = ["run", str(file), "--drive", "hypothetical", "--repeat", "2", "--json"]
    assert cli.run(words) == 0
    [of_reads] = json.loads(capsys.readouterr().out)["drivelab"]["repeats"]["jobs"]
    assert "latency_mean_us" in of_reads["numbers"]
    assert not {"mib_per_s", "iops"} & set(of_reads["numbers"])


def test_the_table_says_what_flushes_took(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "flushed.fio"
    file.write_text("[flushed]\nrw=randwrite\nbs=4k\nfsync=1\nio_size=64k\nsize=1m\n")
    words = ["run", str(file), "--drive", MODEL_NAME, *SETS]
    assert cli.run([*words, "--json"]) == 0
    [job] = json.loads(capsys.readouterr().out)["jobs"]
    assert cli.run(words) == 0
    [row] = [line.split() for line in capsys.readouterr().out.splitlines() if " flush " in line]
    assert job["sync"]["total_ios"] > 1
    assert float(row[2]) == pytest.approx(job["sync"]["lat_ns"]["mean"] / 1e6, rel=0.01)
    assert float(row[-1]) == pytest.approx(job["sync"]["lat_ns"]["max"] / 1e6, rel=0.01)
