"""fio's logs of a model: against the same jobs in fio itself, and against sums by hand."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from small import MODEL_NAME, SETS

from drivelab import cli

EACH = """
[global]
bs=4k
size=1m
iodepth=4
[w]
rw=randrw
bssplit=4k/50:8k/50
numjobs=2
write_lat_log
write_bw_log=b
write_iops_log=out/i
log_offset=1
[t]
stonewall
rw=randread
write_lat_log=r
per_job_logs=0
"""
AVERAGES = """
[global]
bs=4k
size=64m
iodepth=8
runtime=2s
time_based
ramp_time=300ms
log_avg_msec=100
[m]
rw=randrw
rwmixread=60
write_lat_log=m
write_bw_log=m
write_iops_log=m
"""
needs_fio = pytest.mark.programs("fio")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path)


def run(text: str, *words: str) -> int:
    Path("job.fio").write_text(text, encoding="utf-8")
    return cli.run(["run", "job.fio", "--drive", MODEL_NAME, *SETS, *words])


def document(capsys: pytest.CaptureFixture[str], text: str, *words: str) -> dict[str, Any]:
    assert run(text, "--json", *words) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def rows(path: str | Path) -> list[list[int]]:
    lines = Path(path).read_text(encoding="ascii").splitlines()
    return [[int(field) for field in line.split(", ")] for line in lines]


def logs(folder: Path) -> dict[str, list[list[int]]]:
    return {str(path.relative_to(folder)): rows(path) for path in folder.glob("**/*.log")}


@needs_fio
def test_files_rows_and_columns_are_those_that_fio_writes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    document(capsys, EACH)
    own = logs(tmp_path)
    folder = tmp_path / "fio"
    (folder / "out").mkdir(parents=True)
    shutil.copy("job.fio", folder)
    command = ["fio", "job.fio", "--filename=data", "--output=out.txt"]
    subprocess.run(command, cwd=folder, check=True, env=os.environ | {"LC_ALL": "C"})
    theirs = {name: found for name, found in logs(folder).items() if "slat" not in name}
    expected = {"w_lat.1.log", "w_clat.2.log", "b_bw.1.log", "out/i_iops.2.log", "r_lat.log"}
    assert expected <= set(own)
    assert set(own) == set(theirs)
    for name, found in theirs.items():
        if name.startswith("r_"):
            assert len(own[name]) == len(found) == 256
        assert {len(row) for row in own[name]} == {len(row) for row in found}
        # Priority, offset: of the same alignment; directions and sizes: the same ones.
        assert {row[-1] for row in own[name]} == {row[-1] for row in found} == {0}
        for column in (2, 3):
            assert {row[column] for row in own[name]} == {row[column] for row in found}, name


def test_every_request_has_a_row_in_the_order_of_its_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = document(capsys, EACH, "--request-log", "all.parquet")
    requests = pl.read_parquet("all.parquet")
    for number, name in ((1, "w"), (2, "w #2")):
        own = requests.filter(pl.col("job").cast(pl.String) == name)
        job = found["jobs"][number - 1]
        latency = rows(f"w_lat.{number}.log")
        assert len(latency) == job["read"]["total_ios"] + job["write"]["total_ios"] == own.height
        assert [row[1] for row in latency] == own["latency_ns"].to_list()
        assert [row[3] for row in latency] == own["length_bytes"].to_list()
        assert [row[4] for row in latency] == own["offset_bytes"].to_list()
        assert [row[0] for row in latency] == (own["completed_ns"] // 10**6).to_list()
        assert latency == rows(f"w_clat.{number}.log")
        assert {row[1] for row in rows(f"out/i_iops.{number}.log")} == {1}
        # fio's own formula, in which it has 1000 bytes/s.
        speeds = [size * 10**6 // ns for _, ns, _, size, *_ in latency]
        assert [row[1] for row in rows(f"b_bw.{number}.log")] == speeds
    assert len(rows("r_lat.log")) == found["jobs"][2]["read"]["total_ios"]


def test_averages_add_up_to_what_was_done_after_the_ramp(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = document(capsys, AVERAGES, "--request-log", "all.parquet")
    [job] = found["jobs"]
    requests = pl.read_parquet("all.parquet")
    for number, direction in enumerate(("read", "write")):
        iops, bw, lat = (
            [row for row in rows(f"m_{kind}.1.log") if row[2] == number]
            for kind in ("iops", "bw", "lat")
        )
        # The last request ends microseconds after the last interval, which gives no row.
        for found_rows in (iops, bw, lat):
            assert [row[0] for row in found_rows] == list(range(100, 2001, 100))
            assert {tuple(row[3:]) for row in found_rows} == {(0, 0)}
        done = sum(row[1] for row in iops) / 10
        assert done == pytest.approx(job[direction]["total_ios"], rel=0.01)
        moved = sum(row[1] for row in bw) / 10
        assert moved == pytest.approx(job[direction]["io_kbytes"], rel=0.01)
        # The first interval by hand.
        first = requests.filter(
            (pl.col("op").cast(pl.String) == direction) & (pl.col("completed_ns") <= 400 * 10**6)
        )
        assert iops[0][1] == first.height * 10
        assert lat[0][1] == int(first["latency_ns"].mean() + 0.5)  # type: ignore[operator,arg-type]


def test_a_rest_of_an_interval_has_latencies_only_as_in_fio(
    capsys: pytest.CaptureFixture[str],
) -> None:
    document(capsys, AVERAGES.replace("runtime=2s", "runtime=250ms"))
    for kind, times in (("bw", [100, 200]), ("iops", [100, 200]), ("lat", [100, 200, 250])):
        assert [row[0] for row in rows(f"m_{kind}.1.log") if row[2] == 0] == times
    # Less than an interval in all.
    document(capsys, AVERAGES.replace("runtime=2s", "runtime=50ms"))
    assert rows("m_bw.1.log") == []
    assert [row[0] for row in rows("m_lat.1.log")] == [50, 50]


def test_the_longest_of_an_interval_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, AVERAGES + "log_max_value=1\n")
    longest = max(row[1] for row in rows("m_lat.1.log") if row[2] == 0)
    assert longest == found["jobs"][0]["read"]["lat_ns"]["max"]


@needs_fio
def test_on_a_file_fio_writes_them_itself(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    Path("job.fio").write_text(EACH + AVERAGES.replace("[m]", "[m]\nstonewall"))
    drive = f"fio:{tmp_path / 'drive'}"
    words = ["--drive", drive, "--size", "64m", "--buffered", "--json"]
    assert cli.run(["run", "job.fio", *words]) == 0
    found = json.loads(capsys.readouterr().out)
    w, _, t, m = found["jobs"]
    assert len(rows("w_lat.1.log")) == len(rows("w_slat.1.log"))
    assert len(rows("w_lat.1.log")) == w["read"]["total_ios"] + w["write"]["total_ios"]
    assert {len(row) for row in rows("b_bw.2.log")} == {6}
    assert len(rows("r_lat.log")) == t["read"]["total_ios"]
    # What a report has over time comes from the same rows.
    assert m["read"]["iops_samples"] >= 10
    # On a busy machine fio leaves intervals out.
    assert 5 <= len([row for row in rows("m_iops.4.log") if row[2] == 0]) <= 22


def test_nothing_is_written_where_a_log_can_not_be(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = "[a]\nrw=read\nsize=1m\nwrite_bw_log=there/x\nwrite_lat_log=a\n"
    assert run(text) == 2
    error = capsys.readouterr().err
    assert "there/x_bw.1.log" in error
    assert not list(tmp_path.glob("*.log"))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("log_unix_epoch=1", "no date"),
        ("log_hist_msec=100", "--request-log"),
        ("per_job_logs=2", "per_job_logs=2"),
    ],
)
def test_what_can_not_be_is_said_by_name(
    capsys: pytest.CaptureFixture[str], line: str, told: str
) -> None:
    assert run(f"[a]\nrw=read\nsize=1m\nwrite_lat_log\n{line}\n") == 2
    error = capsys.readouterr().err
    assert line.partition("=")[0] in error
    assert told in error


def test_a_request_log_is_a_parquet_file_or_refused(capsys: pytest.CaptureFixture[str]) -> None:
    text = "[a]\nrw=read\nsize=1m\n"
    assert run(text, "--request-log", "x.csv") == 2
    assert '--request-log "x.csv": allowed: a name that ends in .parquet' in capsys.readouterr().err
    assert run(text, "--request-log", "nowhere/x.parquet") == 2
    assert run(text.replace("read", "write") + "fsync=2\n", "--request-log", "x.parquet") == 0
    kinds = pl.read_parquet("x.parquet")["op"].cast(pl.String).value_counts()
    assert dict(kinds.iter_rows()) == {"write": 256, "flush": 127}
