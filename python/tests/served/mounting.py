"""How long a full drive takes from a cut of its power to the first read.

`make bench` runs it: the Intel X25-M of 80 GB, written end to end, then a while at random places,
is killed, and served again. The data is zeros, which take no space in an image; for flash, map and
mount they are data as any other.
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from served import wire
from served.drive import ServedDrive
from served.programs import ran

MODEL = "intel-x25-m-g1-80gb"
RANDOM_WRITES = 1_000_000
KIB4 = 4096
OWN_TIME = re.compile(r"rebuilt its map, in ([\d.]+) ms")


@dataclass(frozen=True)
class Mounted:
    """What was measured, in seconds."""

    fill_s: float
    restart_s: float
    mount_s: float
    size_bytes: int

    def line(self) -> str:
        """For people."""
        return (
            f"{self.size_bytes / 1e9:.1f} GB: filled in {self.fill_s:.1f} s; after a kill ready in "
            f"{self.restart_s:.2f} s, of the drive's own time {self.mount_s:.2f} s"
        )


def measured(folder: Path, sets: tuple[str, ...] = (), writes: int = RANDOM_WRITES) -> Mounted:
    """Fills a drive, kills its server, and serves it again."""
    drive = ServedDrive(folder, MODEL, sets, "instant")
    try:
        started = time.perf_counter()
        size = drive.size_bytes
        job = ["fio", "--name=fill", "--ioengine=nbd", f"--uri={drive.uri}", "--zero_buffers"]
        ran(*job, "--rw=write", "--bs=1m", "--iodepth=4", cwd=folder, timeout_s=3600)
        more = [f"--io_size={writes * KIB4}", "--bs=4k", "--iodepth=32", "--norandommap"]
        ran(*job, "--rw=randwrite", *more, cwd=folder, timeout_s=3600)
        filled = time.perf_counter()
        drive.kill9()
        cut = time.perf_counter()
        drive.restart()
        connection = wire.Connection(drive.socket)
        assert connection.done(wire.READ, size - KIB4, KIB4) == bytes(KIB4)
        ready = time.perf_counter()
        connection.close()
        [took_ms] = OWN_TIME.findall(drive.log())
        return Mounted(filled - started, ready - cut, float(took_ms) / 1e3, size)
    finally:
        drive.discard()


def main() -> None:
    """Prints the line."""
    with tempfile.TemporaryDirectory(prefix="drive") as folder:
        print(measured(Path(folder)).line())


if __name__ == "__main__":
    sys.exit(main())
