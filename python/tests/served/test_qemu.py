"""QEMU's clients on a served drive: qemu-img and qemu-io."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from served.drive import ServedDrive
from served.programs import output, ran, require

MIB = 1 << 20


@pytest.fixture(autouse=True)
def _qemu() -> None:
    require("qemu-img", "qemu-io")


def qemu_io(drive: ServedDrive, *commands: str, cache: str = "writeback") -> str:
    words = [word for command in commands for word in ("-c", command)]
    said = output("qemu-io", "-f", "raw", "-t", cache, "--discard", "unmap", *words, drive.uri)
    assert "failed" not in said, said
    return said


def test_qemu_img_converts_there_and_back(drive: ServedDrive, tmp_path: Path) -> None:
    source, back = tmp_path / "source.qcow2", tmp_path / "back.qcow2"
    raw, size = tmp_path / "source.raw", drive.size_bytes
    noise = np.random.default_rng(6)
    with raw.open("wb") as file:
        file.truncate(size)
        for place in range(0, size - MIB, 17 * MIB):
            file.seek(place)
            file.write(noise.bytes(MIB))
    ran("qemu-img", "convert", "-O", "qcow2", raw, source)
    # Without -n it would create the target; a new drive reads zero, which it is told.
    ran("qemu-img", "convert", "-n", "--target-is-zero", "-O", "raw", source, drive.uri)
    assert drive.smart()["host_write_bytes"] < 2 * 22 * MIB
    ran("qemu-img", "compare", source, drive.uri)
    ran("qemu-img", "convert", "-f", "raw", "-O", "qcow2", "-m", "8", "-W", drive.uri, back)
    ran("qemu-img", "compare", source, back)
    # Over old data the zeros have to be written: without them old bytes would shine through.
    qemu_io(drive, f"write -P 7 {2 * MIB} 4M")
    ran("qemu-img", "compare", source, drive.uri, status=1)
    ran("qemu-img", "convert", "-n", "-O", "raw", source, drive.uri)
    ran("qemu-img", "compare", source, drive.uri)


def test_qemu_img_info_and_map(drive: ServedDrive) -> None:
    info = json.loads(output("qemu-img", "info", "-f", "raw", "--output=json", drive.uri))
    assert info["virtual-size"] == drive.size_bytes
    qemu_io(drive, "write -P 1 1M 64k")
    extents = json.loads(output("qemu-img", "map", "-f", "raw", "--output=json", drive.uri))
    data = [(extent["start"], extent["length"]) for extent in extents if extent["data"]]
    assert data == [(MIB, 65536)]
    assert sum(extent["length"] for extent in extents) == drive.size_bytes


def test_what_qemu_io_wrote_with_fua_outlives_the_server(drive: ServedDrive) -> None:
    qemu_io(
        drive,
        "write -P 1 0 4M",
        "flush",
        "write -f -P 2 1M 64k",
        "discard 2M 1M",
        "write -z 3M 512k",
        "write -z -u 3584k 512k",
        "flush",
    )
    counted = drive.smart()
    assert counted["host_trim_bytes"] >= MIB
    # A last write with FUA and no flush after it.
    words = ["qemu-io", "-f", "raw", drive.uri, "-c", "write -f -P 3 5M 4k"]
    ran(*words)
    drive.kill9()
    drive.check()
    drive.restart()
    qemu_io(
        drive,
        "read -P 1 0 1M",
        "read -P 2 1M 64k",
        "read -P 1 1088k 960k",
        "read -P 0 2M 2M",
        "read -P 3 5M 4k",
    )


def test_write_through_needs_no_flush(drive: ServedDrive) -> None:
    # Every write carries FUA or is followed by a flush.
    qemu_io(drive, "write -P 9 0 1M", "write -P 8 8M 4k", cache="writethrough")
    drive.kill9()
    drive.restart()
    qemu_io(drive, "read -P 9 0 1M", "read -P 8 8M 4k")


def test_qemu_img_bench_keeps_many_requests_under_way(drive: ServedDrive) -> None:
    before = drive.smart()["host_write_bytes"]
    words = ["qemu-img", "bench", "-f", "raw", "-w", "-c", "2000", "-d", "32", "-s", "4096"]
    ran(*words, "--flush-interval=64", "-t", "none", drive.uri)
    assert drive.smart()["host_write_bytes"] - before == 2000 * 4096
