"""Sweeps with a store: what is there is measured once, however they were ended."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from lab.sample import DRIVE, JOB, swept

import drivelab as dl
from drivelab.lab import store


@pytest.fixture(scope="module")
def alone() -> dl.Study:
    return swept(workers=1)


def test_a_store_finds_what_other_sweeps_measured(alone: dl.Study, tmp_path: Path) -> None:
    place = tmp_path / "study"
    first = dl.sweep(
        DRIVE, {"job.iodepth": [32]}, job=JOB, state="filled", store=place, progress=False
    )
    assert len(first) == 1
    began = _written(place)
    assert swept(store=place).frame().equals(alone.frame())
    assert _written(place)[: len(began)] == began
    # All that is there already: not even a worker is started.
    assert swept(store=place, workers=1).frame().equals(alone.frame())
    with duckdb.connect(str(place / "study.duckdb")) as file:
        assert file.execute("SELECT count(*), count(DISTINCT key) FROM points").fetchone() == (5, 5)


def _written(place: Path) -> list[Any]:
    with duckdb.connect(str(place / "study.duckdb")) as file:
        return file.execute("SELECT rowid, key FROM points ORDER BY rowid").fetchall()


SCRIPT = """
import sys, time
import drivelab as dl
from drivelab.lab.store import Store

add, kept = Store.add, []

def added(self, point, text, report):
    if len(kept) == int(sys.argv[2]):
        print("so many", flush=True)
        time.sleep(600)
    kept.append(point)
    add(self, point, text, report)

Store.add = added
dl.sweep(
    dl.Drive("intel-x25-m-g1-80gb", scale="1/64"),
    {"spare_ratio": [0.07, 0.1, 0.14, 0.2, 0.28, 0.4]},
    job=dl.Job(rw="randwrite", bs="4k", iodepth=32, io_size="256m"),
    state="filled", workers=2, store=sys.argv[1],
)
print("whole")
"""


def test_a_sweep_that_goes_on_says_how_many_points_are_there(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    drive, job, place = DRIVE, dl.Job(rw="randread", bs="4k", io_size="1m"), tmp_path / "study"
    told = []
    for depths in ([1, 2], [1, 2, 4], [1, 2, 4]):
        grid = {"job.iodepth": depths}
        study = dl.sweep(drive, grid, job=job, store=place, workers=1)
        told.append(capfd.readouterr().err)
        # Who goes on has what he had gone without a stop.
        again = dl.sweep(drive, grid, job=job, store=place, workers=1, progress=False)
        assert (again.notes, capfd.readouterr().err) == (study.notes, "")
    assert "already" not in told[0]
    assert f"{place}: 2 of 3 points are there already\n" in told[1]
    assert f"{place}: 3 of 3 points are there already\n" in told[2]


def test_killed_in_the_middle_a_sweep_goes_on_where_it_was(tmp_path: Path) -> None:
    place = tmp_path / "killed"
    command = [sys.executable, "-c", SCRIPT]
    with subprocess.Popen([*command, str(place), "2"], stdout=subprocess.PIPE) as begun:
        assert begun.stdout is not None
        assert begun.stdout.readline() == b"so many\n"
        begun.send_signal(signal.SIGKILL)
    before = _written(place)
    assert len(before) == 2, "what was kept is there"
    done = subprocess.run([*command, str(place), "-1"], capture_output=True, text=True, check=True)
    assert done.stdout == "whole\n"
    after = _written(place)
    assert [key for _, key in after[: len(before)]] == [key for _, key in before]
    assert len(after) == 6
    other = tmp_path / "other"
    subprocess.run([*command, str(other), "-1"], check=True, capture_output=True)
    assert _reports(place) == _reports(other)


def _reports(place: Path) -> list[Any]:
    with duckdb.connect(str(place / "study.duckdb")) as file:
        return file.execute("SELECT key, report FROM points ORDER BY key").fetchall()


def test_a_file_of_something_else_is_no_store(tmp_path: Path) -> None:
    file = tmp_path / "other.duckdb"
    with duckdb.connect(str(file)) as made:
        made.execute("CREATE TABLE mine (x INTEGER)")
    with pytest.raises(dl.RequestError, match="no store of points"):
        swept(store=file)


@pytest.mark.parametrize(
    "made",
    [
        "CREATE TABLE layout (revision INTEGER); CREATE TABLE points (key VARCHAR, report JSON)",
        "CREATE TABLE layout AS SELECT 1::INTEGER AS version; CREATE TABLE points (x INTEGER)",
    ],
)
def test_tables_of_the_same_names_are_no_store(made: str, tmp_path: Path) -> None:
    file = tmp_path / "other.duckdb"
    with duckdb.connect(str(file)) as other:
        other.execute(made)
    with pytest.raises(dl.RequestError, match="no store of points"):
        swept(store=file)


def test_a_finished_store_is_read_where_nothing_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A study on a read-only mount: who runs it again gets its table."""
    place = tmp_path / "study"
    options: Any = {"job": JOB, "state": "new", "store": place, "progress": False, "workers": 1}
    first = dl.sweep(DRIVE, {"job.iodepth": [32]}, **options)
    # The tests may run as root, whom permissions don't stop.
    monkeypatch.setattr(store, "_writable", lambda _: False)
    before = (place / "study.duckdb").read_bytes()
    assert dl.sweep(DRIVE, {"job.iodepth": [32]}, **options).frame().equals(first.frame())
    with pytest.raises(dl.RequestError, match="not every point is in it"):
        dl.sweep(DRIVE, {"job.iodepth": [1]}, **options)
    assert (place / "study.duckdb").read_bytes() == before
