"""Requests in a file that is written while they run."""

import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import drivelab as dl
from drivelab.cli import run as command
from drivelab.lab import request_file
from drivelab.lab.requests import COLUMNS

MIXED = dl.Job(rw="randrw", bs="4k", iodepth=8, size="256m", fsync=64)


@pytest.fixture(scope="module")
def drive() -> dl.Drive:
    return dl.Drive("intel-x25-m-g1-80gb", scale="1/64").prepare("filled")


def test_a_file_has_what_a_log_in_memory_has(drive: dl.Drive, tmp_path: Path) -> None:
    # Several stretches of the writer, and a rest.
    two = (MIXED, dl.Job(name="reads", rw="randread", bs="16k", iodepth=4, size="512m"))
    kept = drive.run(*two, log=True)
    path = tmp_path / "requests.parquet"
    result = drive.run(*two, log=path)
    assert result.requests.equals(kept.requests)
    assert result.requests.schema == kept.requests.schema
    assert kept.requests.height > 1 << 16
    assert result.report == kept.report
    assert [found.name for found in tmp_path.iterdir()] == [path.name]
    # It is the same beside a timeline, which needs the log in memory.
    other = tmp_path / "beside.parquet"
    assert drive.run(*two, log=str(other), timeline="0s:1ms").requests.equals(kept.requests)


def test_a_run_ends_whose_writer_is_behind(
    drive: dl.Drive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It has taken two stretches and is slow with the second; as many more as may wait for it do,
    # when the run ends with some that are left.
    table = request_file._Frames._table

    def slowly(*asked: Any) -> pl.DataFrame:
        time.sleep(0.2)
        return table(*asked)

    monkeypatch.setattr(request_file._Frames, "_table", slowly)
    count = 2 * request_file.CHUNK_ROWS + 64 * 4096 + 100
    job = dl.Job(rw="randread", bs="4k", iodepth=32, io_size=count * 4096, norandommap=True)
    result = drive.run(job, log=tmp_path / "requests.parquet")
    assert result.requests.height == count


def test_requests_of_a_file_that_another_run_has_written_are_refused(
    drive: dl.Drive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    job = dl.Job(rw="randread", bs="4k", size="1m")
    first, gone = drive.run(job, log="x.parquet"), drive.run(job, log="y.parquet")
    second = drive.run(dl.Job(rw="read", bs="4k", size="2m"), log="x.parquet")
    Path("y.parquet").unlink()
    monkeypatch.chdir("/")
    assert second.requests.height == 512
    for lost, name in ((first, "x.parquet"), (gone, "y.parquet")):
        with pytest.raises(dl.RequestError, match=f"requests: .*{name} is not the file"):
            _ = lost.requests


def test_a_run_that_measures_nothing_leaves_an_empty_table(drive: dl.Drive, tmp_path: Path) -> None:
    never = dl.Job(rw="randread", runtime="1s", time_based=True, thinktime="10s", ramp_time="20s")
    path = tmp_path / "none.parquet"
    kept = drive.run(never, log=True).requests
    assert drive.run(never, log=path).requests.equals(kept)
    assert pl.read_parquet(path).schema == kept.schema


def test_groups_of_a_job_file_follow_each_other_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    last = "stonewall\n[a]\nstonewall\nrw=read\nsize=1m\n"
    text = "[a]\nrw=randread\nsize=1m\n[b]\nrw=randwrite\nsize=2m\n" + last
    tables = []
    # The middle group has logs of its own: its requests are in memory until it has ended.
    for own in ("", "write_lat_log=b\n"):
        (tmp_path / "j.fio").write_text(text.replace("size=2m\n", "size=2m\n" + own))
        path = tmp_path / f"o{len(own)}.parquet"
        options = ["--drive", "intel-x25-m-g1-80gb", "--scale", "1/64", "--request-log", str(path)]
        assert command(["run", str(tmp_path / "j.fio"), *options]) == 0
        tables.append(pl.read_parquet(path))
    assert tables[0].equals(tables[1])
    jobs = (
        tables[0]
        .group_by("job", maintain_order=True)
        .agg(
            pl.len(),
            pl.col("issued_ns").min().alias("from"),
            pl.col("completed_ns").max().alias("to"),
        )
    )
    assert jobs["job"].cast(pl.String).to_list() == ["a", "b", "a #2"]
    assert jobs["len"].to_list() == [256, 512, 256]
    assert jobs["from"].to_list() == [0, jobs["to"][0], jobs["to"][1]]


@pytest.mark.parametrize(
    ("log", "told"),
    [
        ("x.csv", "ends in .parquet"),
        ("nowhere/x.parquet", "can't write there"),
        (3, "log = 3: allowed: True, False, the name of a .parquet file"),
    ],
)
def test_a_file_that_can_not_be_is_refused_before_the_run(
    drive: dl.Drive, log: str, told: str
) -> None:
    with pytest.raises(dl.RequestError, match=told):
        drive.run(MIXED, log=log)


class Reader:
    """As the engine's: closing it is refused while it is being read."""

    def __init__(self) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.is_closed = self.is_read = False

    def next(self, _rows: int) -> None:
        self.is_read = True
        self.begun.set()
        assert self.go_on.wait(10)
        self.is_read = False

    def close(self) -> None:
        if self.is_read:
            raise RuntimeError("Already borrowed")
        self.is_closed = True


def test_a_writer_that_fails_while_a_frame_is_read_closes_its_reader() -> None:
    """A reader that stays open makes the run wait for it, for ever."""
    parts: queue.SimpleQueue[Any] = queue.SimpleQueue()
    frames, reader = request_file._Frames(parts, ["a"]), Reader()
    parts.put(request_file._Part(reader, 0, 0))
    with ThreadPoolExecutor(2) as threads:
        reading = threads.submit(list, frames)
        assert reader.begun.wait(10)
        draining = threads.submit(frames.drain)
        end = time.monotonic() + 10
        while not frames._failed:
            assert time.monotonic() < end
            time.sleep(0.001)
        reader.go_on.set()
        parts.put(None)
        draining.result(10)
        assert reading.result(10) == []
    assert reader.is_closed


def test_what_comes_after_a_writer_has_failed_is_closed_whoever_gets_it() -> None:
    class Queue(queue.SimpleQueue[Any]):
        """The one that reads has asked first, and gets what comes once the other has asked."""

        def __init__(self) -> None:
            self.asked, self.both, self.first = threading.Event(), threading.Event(), True

        def get(self, *_: Any, **__: Any) -> Any:
            if self.first:
                self.first = False
                self.asked.set()
                assert self.both.wait(10)
            else:
                self.both.set()
                # The first one takes what is there.
                time.sleep(0.05)
            return super().get(timeout=10)

    parts, readers = Queue(), [Reader(), Reader()]
    frames = request_file._Frames(parts, ["a"])
    for reader in readers:
        reader.go_on.set()
        parts.put(request_file._Part(reader, 0, 0))
    # One end for both.
    parts.put(None)
    with ThreadPoolExecutor(2) as threads:
        reading = threads.submit(list, frames)
        assert parts.asked.wait(10)
        threads.submit(frames.drain).result(10)
        assert reading.result(10) == []
    assert all(reader.is_closed for reader in readers)


OTHERS = (
    pl.DataFrame({"year": [2009], "iops": [3.5]}).write_parquet,
    # The columns of a log, of other types; what begins as a Parquet file and is none.
    pl.DataFrame({name: ["x"] for name in ("job", *COLUMNS)}).write_parquet,
    lambda path: path.write_bytes(b"PAR1 notes that somebody wrote down PAR1"),
)


@pytest.mark.parametrize("write", OTHERS)
def test_a_file_that_is_no_log_is_not_replaced(
    drive: dl.Drive,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    write: Callable[[Path], Any],
) -> None:
    path = tmp_path / "results.parquet"
    write(path)
    before = path.read_bytes()
    job = dl.Job(rw="randread", bs="4k", size="1m")
    with pytest.raises(dl.RequestError, match=r'log ".*": there is another file, no log of'):
        drive.run(job, log=path)
    (tmp_path / "j.fio").write_text("[a]\nrw=read\nsize=1m\n")
    (tmp_path / "t.csv").write_text("1,h,0,Write,4096,4096,5\n")
    small = ["--drive", "intel-x25-m-g1-80gb", "--scale", "1/64", "--request-log", str(path)]
    for words in (["run", str(tmp_path / "j.fio")], ["replay", str(tmp_path / "t.csv")]):
        assert command([*words, *small]) == 2
        assert f'--request-log "{path}": there is another file' in capsys.readouterr().err
    assert path.read_bytes() == before
    # An earlier log may go, whatever its jobs were called, and so may a file that holds nothing.
    path.write_bytes(b"")
    for name in ("one", "two"):
        drive.run(dl.Job(rw="randread", bs="4k", size="1m", name=name), log=path)
    assert command(["run", str(tmp_path / "j.fio"), *small]) == 0
    assert pl.read_parquet(path)["job"].unique().to_list() == ["a"]


LIMITED = """
import resource, sys
import drivelab as dl
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
drive = dl.Drive("intel-x25-m-g1-80gb", scale="1/64").prepare("filled")
try:
    drive.run(dl.Job(rw="randread", bs="4k", iodepth=32, io_size="4g"), log=sys.argv[1])
except dl.WorkError as error:
    print(error)
"""


def test_a_disk_that_refuses_is_told_with_its_reason_and_leaves_no_file(tmp_path: Path) -> None:
    # Over a million requests after the writer has left: nobody waits for it.
    path = tmp_path / "large.parquet"
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout == "can't write large.parquet: File too large\n", done.stderr
    assert not list(tmp_path.iterdir())
