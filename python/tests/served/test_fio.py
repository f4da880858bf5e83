"""fio through its nbd engine on a served drive."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from served.drive import ServedDrive
from served.programs import ran, require

MIB = 1 << 20
VERIFIED = ("--verify=crc32c", "--verify_fatal=1", "--verify_backlog=0")


@pytest.fixture(autouse=True)
def _fio() -> None:
    require("fio")


def fio(drive: ServedDrive, folder: Path, options: Sequence[str]) -> dict[str, Any]:
    """The first job's results."""
    # Not standard output: the engine says there that it is connected.
    out = folder / "fio.json"
    words = ["fio", "--output-format=json", f"--output={out}", "--name=job"]
    ran(*words, "--ioengine=nbd", f"--uri={drive.uri}", *options, cwd=folder)
    return dict(json.loads(out.read_text())["jobs"][0])


def test_random_reads_and_writes_are_verified(drive: ServedDrive, tmp_path: Path) -> None:
    options = ["--rw=randrw", "--bs=4k", "--size=64m", "--iodepth=32", *VERIFIED]
    job = fio(drive, tmp_path, options)
    assert job["error"] == 0
    assert job["write"]["io_bytes"] + job["read"]["io_bytes"] >= 64 * MIB


def test_odd_sizes_and_places_are_verified(drive: ServedDrive, tmp_path: Path) -> None:
    options = ["--rw=randwrite", "--bsrange=512-128k", "--blockalign=512", "--size=48m"]
    job = fio(drive, tmp_path, [*options, "--iodepth=8", "--verify_interval=512", *VERIFIED])
    assert job["error"] == 0
    assert job["read"]["io_bytes"] == job["write"]["io_bytes"]


def test_four_jobs_with_two_connections_each(drive: ServedDrive, tmp_path: Path) -> None:
    options = ["--rw=randwrite", "--bs=8k", "--size=8m", "--offset_increment=100m"]
    options += ["--numjobs=4", "--group_reporting", "--iodepth=16", "--fsync=64", *VERIFIED]
    job = fio(drive, tmp_path, options)
    assert job["error"] == 0
    assert job["read"]["io_bytes"] == 32 * MIB


def test_random_trims_arrive(drive: ServedDrive, tmp_path: Path) -> None:
    fio(drive, tmp_path, ["--rw=write", "--bs=1m", "--size=64m"])
    before = drive.smart()
    job = fio(drive, tmp_path, ["--rw=randtrim", "--bs=64k", "--size=64m", "--iodepth=8"])
    assert job["trim"]["io_bytes"] == 64 * MIB
    after = drive.smart()
    assert after["host_trim_bytes"] - before["host_trim_bytes"] == 64 * MIB
    assert after["host_write_bytes"] == before["host_write_bytes"]


def test_trimwrite_trims_what_it_is_about_to_write(drive: ServedDrive, tmp_path: Path) -> None:
    job = fio(drive, tmp_path, ["--rw=trimwrite", "--bs=64k", "--size=64m", "--end_fsync=1"])
    assert job["trim"]["io_bytes"] == job["write"]["io_bytes"] == 64 * MIB
    smart = drive.smart()
    assert smart["host_trim_bytes"] == smart["host_write_bytes"] == 64 * MIB


def test_fsync_is_a_flush(drive: ServedDrive, tmp_path: Path) -> None:
    before = drive.smart()
    job = fio(drive, tmp_path, ["--rw=randwrite", "--bs=4k", "--size=4m", "--fsync=16"])
    assert job["error"] == 0
    flushes = flush_count(drive.smart()) - flush_count(before)
    assert 63 <= flushes <= 66


def flush_count(smart: dict[str, Any]) -> int:
    return int(smart["host_flush_commands"])
