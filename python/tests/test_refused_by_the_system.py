"""Full disks, and folders of others: one line says what is refused, and nothing is left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
import typer
from small_disk import small_disk

from drivelab import cli
from drivelab.errors import RequestError
from drivelab.lab import store

SWEEP = """
drive = "intel-x25-m-g1-80gb"
scale = "1/128"
seed = 1
[job]
rw = "randwrite"
io_size = "1m"
[grid]
"job.bs" = ["4k", "8k", "16k"]
"""
JOB = "[job]\nrw=randwrite\nbs=4k\nio_size=1m\n"
DRIVE = ("--drive", "intel-x25-m-g1-80gb", "--scale", "1/128")


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    """The status of a command that is refused, and the line that says why."""
    capsys.readouterr()
    status = cli.run([str(word) for word in words])
    said = capsys.readouterr().err.splitlines()
    [line] = [line for line in said if line.startswith("drivelab: ")]
    return status, line


def leave(disk: Path, free_bytes: int) -> Path:
    """A file that leaves so much of a disk."""
    system = os.statvfs(disk)
    filling = disk / "filling"
    filling.write_bytes(bytes(system.f_bavail * system.f_frsize - free_bytes))
    return filling


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A sweep of three points."""
    file = tmp_path / "study.toml"
    file.write_text(SWEEP, encoding="utf-8")
    return file


@pytest.mark.parametrize("free_kib", [0, 4, 12, 20])
@pytest.mark.parametrize("name", ["store.duckdb", "store"])
def test_a_sweep_whose_store_s_disk_is_full_says_so_and_goes_on_later(
    free_kib: int, name: str, study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with small_disk(tmp_path / "disk", "4m") as disk:
        filling = leave(disk, free_kib << 10)
        place = disk / name
        words = ("sweep", study, "--store", place, "--workers", "1")
        status, line = refused(capsys, *words)
        assert (status, "No space left on device" in line) == (1, True), line
        assert f'store "{place}"' in line
        filling.unlink()
        assert cli.run([str(word) for word in words]) == 0


def test_a_store_that_another_program_makes_meanwhile_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "store.duckdb"
    connect = duckdb.connect

    def as_another_does(file: str, **more: Any) -> duckdb.DuckDBPyConnection:
        connect(file, **more).close()
        raise duckdb.IOException(f'IO Error: Could not set lock on file "{file}"')

    monkeypatch.setattr(duckdb, "connect", as_another_does)
    with pytest.raises(RequestError, match="another program has it open"), store.opened(place):
        pass
    assert place.exists()


@pytest.mark.parametrize("free_kib", [0, 4])
def test_a_request_log_on_a_full_disk_is_refused_in_the_system_s_words(
    free_kib: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = tmp_path / "job.fio"
    job.write_text(JOB, encoding="utf-8")
    with small_disk(tmp_path / "disk", "4m") as disk:
        filling = leave(disk, free_kib << 10)
        log = disk / "requests.parquet"
        status, line = refused(capsys, "run", job, *DRIVE, "--request-log", log)
        assert status == 1
        assert line == "drivelab: can't write requests.parquet: No space left on device"
        assert list(disk.iterdir()) == [filling]


def test_what_a_full_disk_refuses_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with small_disk(tmp_path / "disk", "64k") as disk:
        status, line = refused(capsys, "example", "--html", disk / "example.html")
        assert (status, line) == (
            1,
            "drivelab: can't write example.html: No space left on device",
        )
        assert list(disk.iterdir()) == []


CLOSED = [
    ["show", "{}/k.toml"],
    ["run", "JOB", "--drive", "{}/k.toml"],
    ["run", "JOB", *DRIVE, "--timeline", "{}/t.json"],
    ["run", "JOB", *DRIVE, "--request-log", "{}/r.parquet"],
    ["run", "JOB", *DRIVE, "--database", "{}/r.duckdb"],
    ["review", DRIVE[1], "--plugin", "{}/p.py"],
    ["review", DRIVE[1], "--out", "{}/out"],
    ["review", "fio:{}/file", "--size", "64m", "--out", "OUT"],
    ["compare", "{}/results.json", "OUT"],
    ["export", "{}/results.json", "--csv", "OUT"],
    ["runs", "{}/r.duckdb"],
    ["sweep", "STUDY", "--store", "{}/store"],
    ["sweep", "STUDY", "--csv", "{}/points.csv"],
    ["merge", "{}/store", "--into", "OUT"],
    ["convert", "JOB", "--out", "{}/trace.log"],
    ["create", "{}/a.drive", "--model", DRIVE[1]],
    ["check", "{}/a.drive"],
    ["smart", "{}/a.drive"],
    ["fault", "{}/a.drive", "power-cut"],
    ["serve", "{}/a.drive"],
    ["serve", "IMAGE", "--listen", "unix:{}/s"],
    ["serve", "IMAGE", "--control", "{}/s"],
    ["serve", "IMAGE", "--record", "{}/trace"],
    ["web", "{}/r.duckdb"],
    ["web", "OUT.duckdb", "--served", "{}/s"],
    ["web", "--port", "0"],
]
UNWRITTEN = [["serve", "IMAGE"], ["serve", "IMAGE", "--read-only"], ["erase", "IMAGE"]]
ALL = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from drivelab import cli
found = []
for words in json.load(sys.stdin):
    said = io.StringIO()
    with redirect_stderr(said), redirect_stdout(io.StringIO()):
        status = cli.run(words)
    found.append((status, said.getvalue()))
print(json.dumps(found))
"""


def without_root_s_rights(commands: list[list[str]], data: Path) -> list[tuple[int, str]]:
    """The statuses of commands, and what they say, in a process that may not look everywhere."""
    as_others = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
    found = subprocess.run(
        [*(as_others if os.geteuid() == 0 else []), sys.executable, "-c", ALL],
        input=json.dumps(commands),
        env={**os.environ, "XDG_DATA_HOME": str(data)},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return [(status, said) for status, said in json.loads(found.stdout)]


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """A small drive that isn't served."""
    file = tmp_path / "a.drive"
    assert cli.run(["create", str(file), "--model", *DRIVE[1:]]) == 0
    return file


def test_an_image_that_can_t_be_written_is_refused_before_it_is_served(
    image: Path, tmp_path: Path
) -> None:
    image.chmod(0o444)
    commands = [[word.replace("IMAGE", str(image)) for word in words] for words in UNWRITTEN]
    looking = [[word, str(image)] for word in ("smart", "check")]
    found = without_root_s_rights([*commands, *looking], tmp_path)
    line = (
        f'drivelab: IMAGE "{image}": can\'t be written; allowed: files that you may read and write'
    )
    for status, said in found[: len(commands)]:
        assert (status, said.partition(",")[0], said.count("\n")) == (2, line, 1)
    assert [status for status, _ in found[len(commands) :]] == [0, 0]
    assert list(tmp_path.iterdir()) == [image]


def test_what_lies_below_a_folder_of_somebody_else_is_refused_by_name(
    study: Path, image: Path, tmp_path: Path
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    job = tmp_path / "job.fio"
    job.write_text(JOB, encoding="utf-8")
    places = {"JOB": job, "STUDY": study, "IMAGE": image, "OUT": tmp_path / "out"}
    commands = [
        [str(places.get(word, word)).replace("{}", str(closed)) for word in words]
        for words in CLOSED
    ]
    found = without_root_s_rights(commands, closed / "data")
    for words, (status, said) in zip(commands, found, strict=True):
        assert status == 2, (words, said)
        assert said.count("\n") == 1, (words, said)
        assert str(closed) in said, (words, said)
        assert "Permission denied" in said, (words, said)
        assert "Errno" not in said, (words, said)
    assert sorted(tmp_path.iterdir()) == sorted([closed, image, job, study])


@pytest.mark.parametrize("is_typer_s", [True, False])
def test_a_compiled_file_that_is_cut_off_is_no_interruption(
    is_typer_s: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def cut(*_words: object, **_more: object) -> None:
        error = EOFError("marshal data too short")
        if is_typer_s:
            raise typer.Abort from error
        raise error

    monkeypatch.setattr(cli, "_app", lambda: cut)
    status, line = refused(capsys, "list")
    assert status == 1
    assert "marshal data too short" in line
    assert "__pycache__" in line


@pytest.mark.programs("fio")
def test_a_file_that_can_t_be_so_large_is_gone_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def too_large(*_words: object) -> None:
        raise OSError(27, "File too large")

    job = tmp_path / "job.fio"
    job.write_text(JOB, encoding="utf-8")
    monkeypatch.setattr(os, "ftruncate", too_large)
    words = ("run", job, "--drive", f"fio:{tmp_path / 'file'}", "--size", "1m")
    status, line = refused(capsys, *words)
    assert (status, "File too large" in line) == (2, True)
    assert list(tmp_path.iterdir()) == [job]
