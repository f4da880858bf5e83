"""libnbd's clients on a served drive: nbdinfo, nbdcopy, nbdsh."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from served.conftest import Serve
from served.drive import ServedDrive
from served.programs import NBDSH, output, ran, require

MIB = 1 << 20
SESSION = Path(__file__).with_name("session.py")


def extents(drive: ServedDrive) -> list[tuple[int, int, str]]:
    """Offset, length and what nbdinfo calls it, extents of one kind joined."""
    found: list[tuple[int, int, str]] = []
    for extent in json.loads(output("nbdinfo", "--json", "--map", drive.uri)):
        kind = extent["description"]
        if found and found[-1][2] == kind:
            start, length, _ = found.pop()
            found.append((start, length + extent["length"], kind))
        else:
            found.append((extent["offset"], extent["length"], kind))
    return found


def test_nbdinfo_tells_what_the_drive_can_do(drive: ServedDrive) -> None:
    [export] = json.loads(output("nbdinfo", "--json", drive.uri))["exports"]
    can = ["flush", "fua", "trim", "zero", "cache", "df"]
    assert [word for word in can if not export[f"can_{word}"]] == []
    assert not export["is_read_only"]
    assert not export["is_rotational"]
    assert export["export-size"] == 399998976
    assert export["block_size_minimum"] == 512
    assert export["block_size_preferred"] == 4096
    assert export["block_size_maximum"] == 32 * MIB
    assert "base:allocation" in export["contexts"]


def test_only_what_was_written_is_allocated(drive: ServedDrive) -> None:
    require("nbdsh")
    assert extents(drive) == [(0, drive.size_bytes, "hole,zero")]
    ran(*NBDSH, "-u", drive.uri, "-c", "h.pwrite(b'x' * 65536, 1048576); h.flush()")
    size = drive.size_bytes
    assert extents(drive) == [
        (0, MIB, "hole,zero"),
        (MIB, 65536, "data"),
        (MIB + 65536, size - MIB - 65536, "hole,zero"),
    ]
    ran(*NBDSH, "-u", drive.uri, "-c", "h.trim(65536, 1048576); h.flush()")
    assert extents(drive) == [(0, size, "hole,zero")]


def test_nbdcopy_brings_back_what_it_took(drive: ServedDrive, tmp_path: Path) -> None:
    require("nbdcopy")
    source, back = tmp_path / "source", tmp_path / "back"
    size = drive.size_bytes
    noise = np.random.default_rng(5)
    with source.open("wb") as file:
        file.truncate(size)
        for _ in range(40):  # odd places and lengths, holes between them
            file.seek(int(noise.integers(size - MIB)))
            file.write(noise.bytes(int(noise.integers(1, MIB))))
    before = drive.smart()["host_write_bytes"]
    ran("nbdcopy", "--flush", source, drive.uri)
    written = drive.smart()["host_write_bytes"] - before
    assert 10 * MIB < written < 80 * MIB, "holes aren't copied as data"
    drive.stop()
    drive.check()
    drive.restart()
    ran("nbdcopy", drive.uri, back)
    ran("cmp", source, back)
    assert back.stat().st_blocks * 512 < size / 2


FILL = "[h.pwrite(bytes([i]) * 65536, i * 1000448) for i in range(1, 100)]"
FILLED = "assert all(h.pread(65536, i * 1000448) == bytes([i]) * 65536 for i in range(1, 100))"


@pytest.mark.parametrize("connections", [1, 4])
def test_nbdcopy_from_drive_to_drive(serve: Serve, connections: int) -> None:
    require("nbdcopy", "nbdsh")
    here, there = serve(), serve()
    ran(*NBDSH, "-u", here.uri, "-c", FILL)
    ran("nbdcopy", f"--connections={connections}", "--flush", here.uri, there.uri)
    for drive in (here, there):
        ran(*NBDSH, "-u", drive.uri, "-c", FILLED)


def test_a_session_of_nbdsh(drive: ServedDrive) -> None:
    require("nbdsh")
    code = f"exec(open({str(SESSION)!r}).read()); run(h, {drive.uri!r})"
    said = output(*NBDSH, "--base-allocation", "-u", drive.uri, "-c", code)
    [export] = json.loads(output("nbdinfo", "--json", drive.uri))["exports"]
    assert said.strip() == ("multi-conn" if export["can_multi_conn"] else "single")
    drive.kill9()
    drive.check()
    drive.restart()
    kept = "assert h.pread(512, 512) == b'Z' * 512 and h.pread(4096, 8 << 20) == b'\\x11' * 4096"
    ran(*NBDSH, "-u", drive.uri, "-c", kept)
