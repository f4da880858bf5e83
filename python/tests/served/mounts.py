"""A served drive as a file, a block device, a mounted file system."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from served.drive import ServedDrive
from served.programs import output, ran, require, started, unavailable

READY_S = 180.0


@contextmanager
def as_file(drive: ServedDrive, folder: Path, *, any_bytes: bool = False) -> Iterator[Path]:
    """The drive as a file, by nbdfuse; in whole sectors, unless `any_bytes` may be written.

    libnbd refuses what isn't aligned, and so does a drive; a filter of nbdkit's reads, changes and
    writes the sectors around such bytes, as nbdfuse's manual has it.
    """
    require("nbdfuse", "fusermount3")
    place = [drive.uri]
    if any_bytes:
        require("nbdkit")
        filtered = ["nbdkit", "--exit-with-parent", "--filter=blocksize", "nbd"]
        place = ["[", *filtered, f"uri={drive.uri}", "minblock=512", "]"]
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        unavailable("/dev/fuse can't be opened")
    folder.mkdir()
    file = folder / "drive"
    process = started(["nbdfuse", file, *place], stderr=subprocess.PIPE)
    assert process.stderr is not None
    try:
        deadline = time.monotonic() + READY_S
        while not file.exists():
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < deadline, "nbdfuse isn't ready"
            time.sleep(0.02)
        yield file
    finally:
        # Lazily, so that a failed test leaves no mount behind that something still holds; and when
        # nbdfuse has ended with its drive, it is still mounted.
        unmounted = subprocess.run(
            ["fusermount3", "-u", "-z", folder], capture_output=True, check=False
        )
        assert unmounted.returncode == 0 or process.poll() is not None, unmounted.stderr
        process.wait(READY_S)
        process.stderr.close()


@contextmanager
def as_block_device(file: Path) -> Iterator[str]:
    """A loop device on a file."""
    require("losetup")
    if os.geteuid() != 0:
        unavailable("loop devices are for root")
    done = subprocess.run(
        ["losetup", "--find", "--show", file], capture_output=True, text=True, check=False
    )
    if done.returncode:
        unavailable(f"no loop device: {done.stderr.strip()}")
    device = done.stdout.strip()
    try:
        yield device
    finally:
        ran("losetup", "--detach", device)


@contextmanager
def mounted(device: str, place: Path, options: str = "noatime") -> Iterator[Path]:
    """The file system of a block device."""
    place.mkdir(exist_ok=True)
    ran("mount", "-o", options, device, place)
    try:
        yield place
    finally:
        ran("umount", place)


@contextmanager
def mounted_without_root(file: Path, place: Path) -> Iterator[Path]:
    """The same by a program, fuse2fs."""
    place.mkdir()
    process = started(["fuse2fs", "-f", file, place, "-o", "fakeroot"], stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + READY_S
        while not place.is_mount():
            assert process.poll() is None, "fuse2fs has ended"
            assert time.monotonic() < deadline, "fuse2fs isn't ready"
            time.sleep(0.02)
        yield place
    finally:
        ran("fusermount3", "-u", place)
        assert process.wait(READY_S) == 0  # everything is written by then


def trimmed_bytes(said: str) -> int:
    """What fstrim -v says that it trimmed."""
    return int(said.partition("(")[2].partition(" bytes")[0])


def fstrim(place: Path) -> int:
    """Tells the drive what the file system doesn't use; bytes."""
    return trimmed_bytes(output("fstrim", "--verbose", place))
