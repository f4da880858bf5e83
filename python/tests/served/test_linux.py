"""A Linux kernel's own NBD driver on a served drive, over TCP: real TRIM, FLUSH and FUA."""

from __future__ import annotations

from pathlib import Path

import pytest
from served import uml
from served.conftest import Serve
from served.drive import ServedDrive

MIB = 1 << 20

FIRST = """
cat /sys/block/nbd0/queue/write_cache /sys/block/nbd0/queue/fua
test "$(cat /sys/block/nbd0/queue/write_cache)" = 'write back'
test "$(cat /sys/block/nbd0/queue/fua)" = 1
test "$(cat /sys/block/nbd0/queue/rotational)" = 0
mkfs.ext4 -q -E nodiscard /dev/nbd0
mount -o discard /dev/nbd0 /mnt/drive
dd if=/dev/urandom of=/mnt/drive/kept bs=64k count=128 conv=fsync 2>/dev/null
dd if=/dev/zero of=/mnt/drive/deleted bs=1M count=24 conv=fsync 2>/dev/null
rm /mnt/drive/deleted
sync
umount /mnt/drive
mount /dev/nbd0 /mnt/drive
fstrim -v /mnt/drive
umount /mnt/drive
fsck.ext4 -f -n /dev/nbd0
mount /dev/nbd0 /mnt/drive
echo "sum: $(md5sum </mnt/drive/kept)"
dd if=/mnt/drive/kept of=/mnt/drive/synced bs=64k conv=fsync 2>/dev/null
dd if=/dev/urandom of=/mnt/drive/unsynced bs=64k count=64 2>/dev/null
"""

# The guest went down without unmounting, and then the server was killed.
SECOND = """
mount /dev/nbd0 /mnt/drive
echo "sum: $(md5sum </mnt/drive/kept)"
echo "sum: $(md5sum </mnt/drive/synced)"
umount /mnt/drive
fsck.ext4 -f -n /dev/nbd0
nbd-client -d /dev/nbd0
"""


@pytest.fixture
def tcp_drive(serve: Serve) -> ServedDrive:
    words = uml.namespace()
    drive = serve()
    drive.stop()
    drive.start(f"{uml.HOST}:{uml.PORT}", within=words)
    return drive


def sums(said: str) -> list[str]:
    return [line.split()[1] for line in said.splitlines() if line.startswith("sum: ")]


def test_linux_makes_fills_trims_and_checks_ext4(tcp_drive: ServedDrive, tmp_path: Path) -> None:
    drive = tcp_drive
    guest = uml.Guest(drive, tmp_path)
    said = guest.run(FIRST)
    smart, seen = drive.smart(), drive.control("stats")
    assert smart["host_trim_bytes"] >= 24 * MIB + 250 * MIB  # by `discard`, then by fstrim
    assert seen["requests"]["flush"]["count"] > 5
    assert seen["requests"]["write"]["fua"] > 0
    drive.kill9()
    drive.check()
    drive.start(f"{uml.HOST}:{uml.PORT}", within=uml.namespace())
    assert sums(guest.run(SECOND)) == sums(said) * 2
