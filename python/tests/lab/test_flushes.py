"""What flushes take, which is what a commit waits for, stands in every table of latencies."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import drivelab as dl
from drivelab import cli

DRIVE = dl.Drive("intel-x25-m-g1-80gb", scale="1/128")
COMMITS = dl.Job(rw="write", bs="4k", size="1m", fsync=4)
"""As fio's, it doesn't flush after its last write: 63 times."""


def test_a_result_tells_what_its_log_tells() -> None:
    result = DRIVE.run(COMMITS, log=True, progress=False)
    took_us = result.requests.filter(op="flush")["latency_ns"] / 1000
    told = result.summary.filter(direction="flush").row(0, named=True)
    assert told["ios"] == took_us.len() == 63
    assert told["latency_mean_us"] == pytest.approx(took_us.mean())
    assert told["latency_max_us"] == took_us.max()
    assert told["bytes"] is told["mib_per_s"] is told["write_amplification"] is None
    assert result.latency.filter(direction="flush")["count"].sum() == 63
    assert result.latency.filter(direction="flush")["share"].max() == 1
    # Numbers of a run of one direction are those of its writes.
    assert result.metrics()["ios"] == 256


def test_a_sweep_has_a_row_for_each_points_flushes() -> None:
    study = dl.sweep(DRIVE, {"job.fsync": [1, 64]}, job=COMMITS, state="new", progress=False)
    flushes = study.frame().filter(direction="flush").sort("job.fsync")
    assert flushes["ios"].to_list() == [255, 3]
    assert flushes["latency_mean_us"].is_not_null().all()


@pytest.mark.parametrize("command", ["run", "replay"])
def test_databases_have_them_and_drives_are_compared_by_them(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if command == "run":
        work = tmp_path / "wal.fio"
        work.write_text("[wal]\nrw=write\nbs=4k\nsize=1m\nfsync=4\n", encoding="utf-8")
    else:
        work = tmp_path / "wal.iolog"
        lines = [f"d write {at * 4096} 4096\nd sync 0 0" for at in range(64)]
        text = "\n".join(["fio version 2 iolog", "d add", "d open", *lines, "d close"])
        work.write_text(text + "\n", encoding="utf-8")
    file = tmp_path / "lab.duckdb"
    for model in ("intel-x25-m-g1-80gb", "micron-7450-pro-960gb"):
        words = [command, str(work), "--drive", model, "--scale", "1/64", "--database", str(file)]
        assert cli.run(words) == 0
    capsys.readouterr()
    sql = "SELECT ios, bytes, latency_mean_us FROM measurements WHERE direction = 'flush'"
    sql += " ORDER BY run_id"
    with duckdb.connect(str(file), read_only=True) as connection:
        slow, fast = connection.execute(sql).fetchall()
        for table in ("percentiles", "histogram_bins"):
            runs = f"SELECT DISTINCT run_id FROM {table} WHERE direction = 'flush'"
            assert len(connection.execute(runs).fetchall()) == 2
    # One has capacitors, and flushes nothing.
    assert slow[:2] == fast[:2] == (63 if command == "run" else 64, None)
    assert slow[2] > 5 * fast[2]
    assert cli.run(["compare", f"{file}:1", f"{file}:2", "--out", str(tmp_path / "out")]) == 0
    assert ", flush" in capsys.readouterr().out


def test_repeats_are_of_flushes_too_and_reports_of_studies_show_them(tmp_path: Path) -> None:
    work = tmp_path / "wal.fio"
    work.write_text("[wal]\nrw=randwrite\nbs=4k\nsize=1m\nfsync=4\n", encoding="utf-8")
    file = tmp_path / "lab.duckdb"
    words = ["run", str(work), "--drive", "crucial-p1-1tb", "--scale", "1/64", "--repeat", "3"]
    assert cli.run([*words, "--database", str(file)]) == 0
    sql = """SELECT count(*) FROM repeats
        WHERE direction = 'flush' AND number = 'latency_mean_us'"""
    with duckdb.connect(str(file), read_only=True) as connection:
        assert connection.execute(sql).fetchall() == [(3,)]
    study = dl.sweep(DRIVE, {"job.bs": ["4k", "8k"]}, job=COMMITS, state="new", progress=False)
    study.report(tmp_path / "study.html")
    assert "flush" in (tmp_path / "study.html").read_text("utf-8")
    assert list(study.to_xarray()["latency_mean_us"].sizes.values()) == [2, 2]


def test_a_store_of_another_version_gets_its_rows(tmp_path: Path) -> None:
    store = tmp_path / "study.duckdb"
    grid, sql = {"job.fsync": [4]}, "SELECT direction FROM metrics ORDER BY direction"
    for _ in range(2):
        dl.sweep(DRIVE, grid, job=COMMITS, state="new", store=store, progress=False)
        with duckdb.connect(str(store)) as connection:
            assert connection.execute(sql).fetchall() == [("flush",), ("write",)]
            connection.execute("DELETE FROM metrics WHERE direction = 'flush'")
            connection.execute("COMMENT ON TABLE metrics IS NULL")
