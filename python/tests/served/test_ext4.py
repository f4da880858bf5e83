"""ext4 on a served drive: by the host's kernel on a loop device, and without root by e2fsprogs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from served.drive import ServedDrive
from served.mounts import as_block_device, as_file, fstrim, mounted, mounted_without_root
from served.programs import PATIENCE_S, output, ran, require

MIB = 1 << 20
PROGRAMMED = ("host", "cleaning", "wear", "map")


@pytest.fixture(autouse=True)
def _ext4() -> None:
    require("mke2fs", "e2fsck", "debugfs")


def tree(folder: Path, seed: int, count: int = 60) -> Path:
    """Files of odd sizes."""
    draw = np.random.default_rng(seed)
    for number in range(count):
        file = folder / f"{number % 7}" / f"file {number}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(draw.bytes(int(draw.integers(1, 400_000))))
    return folder


class Pass:
    """What the drive did for a part of a test, by its own counters and its own clock."""

    def __init__(self, drive: ServedDrive) -> None:
        self._drive = drive
        self._before = drive.smart()

    def _delta(self, after: dict[str, Any], key: str) -> int:
        return int(after[key]) - int(self._before[key])

    def end(self) -> tuple[float, float]:
        """Bytes written per second of the drive's time, and write amplification."""
        after = self._drive.smart()
        written = self._delta(after, "host_write_bytes")
        programmed = sum(self._delta(after, f"program_bytes_{kind}") for kind in PROGRAMMED)
        return written / self._delta(after, "power_on_ns") * 1e9, programmed / written


def rewrite(drive: ServedDrive, file: Path, size: int) -> tuple[float, float]:
    """4 KiB at random places of a file, past the cache; speed and write amplification."""
    measured = Pass(drive)
    job = ["--name=job", f"--filename={file}", "--rw=randwrite", "--bs=4k", f"--io_size={size}"]
    ran("fio", *job, "--direct=1", "--ioengine=libaio", "--iodepth=8", "--overwrite=1")
    return measured.end()


def test_ext4_is_made_filled_trimmed_and_checked(drive: ServedDrive, tmp_path: Path) -> None:
    """Also: what the host deleted makes the drive fast again, but only when it is told (fstrim)."""
    require("fio", "fstrim")
    kept = tree(tmp_path / "kept", seed=1)
    with as_file(drive, tmp_path / "fuse") as file, as_block_device(file) as device:
        # Whole map units. Inode tables that the kernel zeroes as it finds time come as trims, too.
        ran("mke2fs", "-q", "-t", "ext4", "-b", "4096", "-E", "lazy_itable_init=0", device)
        with mounted(device, tmp_path / "mount") as place:
            ran("cp", "-r", kept, place)
            probe = place / "probe"
            probe.write_bytes(bytes(48 * MIB))
            new_speed, new_amplification = rewrite(drive, probe, 32 * MIB)

            ballast = place / "ballast"
            ran("fio", "--name=job", f"--filename={ballast}", "--rw=write", "--bs=1m",
                "--size=250m", "--end_fsync=1")  # fmt: skip
            rewrite(drive, ballast, 100 * MIB)
            full_speed, full_amplification = rewrite(drive, probe, 32 * MIB)

            ballast.unlink()
            ran("sync")
            before = drive.smart()["host_trim_bytes"]
            said = fstrim(place)
            arrived = drive.smart()["host_trim_bytes"] - before
            assert arrived >= 250 * MIB
            assert abs(arrived - said) < MIB
            rewrite(drive, probe, 16 * MIB)
            speed, amplification = rewrite(drive, probe, 32 * MIB)
        ran("e2fsck", "-f", "-n", device)
        with mounted(device, tmp_path / "mount", "ro") as place:
            ran("diff", "-r", kept, place / "kept")
    speeds = f"{new_speed:.3g} new, {full_speed:.3g} full, {speed:.3g} B/s after fstrim"
    print(speeds)
    assert full_speed < 0.7 * new_speed, speeds
    assert speed > 0.8 * new_speed, speeds
    assert full_amplification > new_amplification + 0.3
    assert amplification < new_amplification + 0.3


def test_online_discard_arrives_as_trims(drive: ServedDrive, tmp_path: Path) -> None:
    with as_file(drive, tmp_path / "fuse") as file, as_block_device(file) as device:
        ran("mke2fs", "-q", "-t", "ext4", "-E", "nodiscard", device)
        before = drive.smart()["host_trim_bytes"]
        with mounted(device, tmp_path / "mount", "discard") as place:
            (place / "file").write_bytes(bytes(range(256)) * (20 * MIB // 256))
            ran("sync")
            (place / "file").unlink()
            ran("sync")
            # The kernel discards in the background, and what it hasn't when it unmounts it forgets.
            deadline = time.monotonic() + PATIENCE_S
            while drive.smart()["host_trim_bytes"] - before < 20 * MIB:
                assert time.monotonic() < deadline, "the trims never came"
                time.sleep(0.05)
        ran("e2fsck", "-f", "-n", device)


def test_ext4_synced_before_kill_9_is_whole_after_it(drive: ServedDrive, tmp_path: Path) -> None:
    kept = tree(tmp_path / "kept", seed=2)
    with as_file(drive, tmp_path / "fuse") as file, as_block_device(file) as device:
        ran("mke2fs", "-q", "-t", "ext4", device)
        with mounted(device, tmp_path / "mount") as place:
            ran("cp", "-r", kept, place)
            ran("sync", "--file-system", place)
            # Nobody asks for these to be there.
            (place / "late").write_bytes(bytes(8 * MIB))
            drive.kill9()
    drive.check()
    drive.restart()
    with as_file(drive, tmp_path / "again") as file, as_block_device(file) as device:
        with mounted(device, tmp_path / "mount") as place:  # its journal is replayed
            ran("diff", "-r", kept, place / "kept")
        ran("e2fsck", "-f", "-n", device)


def test_ext4_without_root(drive: ServedDrive, tmp_path: Path) -> None:
    """mke2fs, fuse2fs, debugfs and e2fsck on the file that nbdfuse shows."""
    require("fuse2fs")
    kept, more = tree(tmp_path / "kept", seed=3), tree(tmp_path / "more", seed=4)
    with as_file(drive, tmp_path / "fuse", any_bytes=True) as file:
        ran("mke2fs", "-q", "-F", "-t", "ext4", "-d", kept, file)
        with mounted_without_root(file, tmp_path / "mount") as place:
            ran("cp", "-r", more, place)
            ran("rm", "-r", place / "3")
    drive.stop()
    drive.check()
    drive.restart()
    before = drive.smart()["host_trim_bytes"]
    with as_file(drive, tmp_path / "again", any_bytes=True) as file:
        ran("e2fsck", "-f", "-y", "-E", "discard", file)
        assert drive.smart()["host_trim_bytes"] - before > 300 * MIB
        ran("e2fsck", "-f", "-n", file)
        back = tmp_path / "back"
        back.mkdir()
        said = output("debugfs", "-R", f'rdump / "{back}"', file)
        assert "rdump" not in said, said
    ran("rm", "-r", kept / "3")
    (back / "lost+found").rmdir()
    ran("diff", "-r", more, back / "more")
    (back / "more").rename(tmp_path / "done")
    ran("diff", "-r", kept, back)
