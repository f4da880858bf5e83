"""A block device: a whole drive, or a partition."""

from __future__ import annotations

import fcntl
import os
import struct
from pathlib import Path
from typing import Any

from drivelab.errors import RequestError, WorkError
from drivelab.quantities import GIB, SECTOR_BYTES, bytes_text
from drivelab.targets.fio import mounts
from drivelab.targets.fio.place import Place, Stopped, Wish, check_destroy, whole_sectors

BLKDISCARD = 0x1277
"""The ioctl that discards a range of (start, length) in bytes: linux/fs.h."""
DISCARD_BYTES = GIB
"""Discarded at once, so that Ctrl-C is answered."""
ATA_BYTES_PER_S = 600 * 10**6
"""The fastest link of ATA: 6 Gb/s, of which 8 of 10 bits are data."""


class BlockDevice(Place):
    """A block device; what makes it new is a discard of all of it."""

    def __init__(self, name: str, wish: Wish) -> None:
        self._path = Path(name)
        number = self._path.stat().st_rdev
        self._number = f"{os.major(number)}:{os.minor(number)}"
        mounts.check_device_unused(name, self._number)
        size = _size_bytes(name, self._path)
        loss = f"it is a block device of {bytes_text(size)}"
        check_destroy(name, wish, loss)
        sector = int(self._queue("logical_block_size") or SECTOR_BYTES)
        wanted = whole_sectors(name, wish, size, sector)
        if wanted > size:
            raise RequestError(f"fio:{name}: --size {wanted}: the device has {size} bytes")
        super().__init__(name, wanted, sector)
        self.loss = loss
        self._descriptor: int | None = None
        self._buffered = wish.buffered
        self.rotating = self._queue("rotational") == "1"
        if mounts.is_on_ata(self._number):
            self.link_bytes_per_s = ATA_BYTES_PER_S
        self._discards = int(self._queue("discard_max_bytes") or 0) > 0
        if not self._discards and not self.rotating:
            raise RequestError(
                f"fio:{name}: the device doesn't discard, so it can't be brought into a known "
                "state; measure a file on it instead"
            )

    def _fact(self, name: str) -> str:
        """A file of the device's folder in sysfs, or of the drive that it is a partition of."""
        for folder in mounts.device_folders(self._number)[:1]:
            for place in (folder, folder.parent):
                try:
                    return (place / name).read_text(encoding="utf-8").strip()
                except OSError:
                    continue
        return ""

    def _queue(self, name: str) -> str:
        return self._fact(f"queue/{name}")

    @property
    def title(self) -> str:
        """The drive's own name, if it has one."""
        model = " ".join((self._fact("device/vendor"), self._fact("device/model"))).strip()
        return f"{model} ({self.name})" if model else f"Block device {self.name}"

    @property
    def facts(self) -> dict[str, Any]:
        """What results record about it."""
        return {
            "kind": "block device",
            "drive": self._fact("device/model") or None,
            "firmware": self._fact("device/rev") or self._fact("device/firmware_rev") or None,
            "direct": not self._buffered,
            "rotating": self.rotating,
            "sector_bytes": self.sector_bytes,
            "write_cache": self._queue("write_cache") or None,
            "scheduler": self._queue("scheduler") or None,
        }

    @property
    def erase_method(self) -> str:
        """How the new state is brought about."""
        if not self._discards:
            return "none: a hard disk without discard; what was written before stays"
        return (
            "discard of the whole device (BLKDISCARD); what the drive keeps of its history stays "
            "as it is"
        )

    @property
    def trim_refusal(self) -> str | None:
        """Why it can't be trimmed."""
        return None if self._discards else "the device doesn't discard"

    @property
    def smart_device(self) -> str | None:
        """Itself."""
        return str(self._path)

    def options(self, rw: str) -> dict[str, str]:
        """fio's options."""
        return {
            "ioengine": "libaio",
            "filename": "drive",
            "direct": "0" if self._buffered else "1",
        }

    def linked(self) -> str | None:
        """The path that fio opens."""
        return str(self._path.absolute())

    def claim(self) -> None:
        """Opens the device exclusively: nobody can mount it meanwhile."""
        try:
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_EXCL | os.O_CLOEXEC)
        except OSError as error:
            raise RequestError(
                f"fio:{self.name}: can't be had exclusively ({error.strerror})"
            ) from None

    def release(self) -> None:
        """Closes the device."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def erase(self, stopped: Stopped) -> bool:
        """Discards everything that is measured."""
        assert self._descriptor is not None
        if not self._discards:
            return True
        for start in range(0, self.capacity_bytes, DISCARD_BYTES):
            if stopped():
                raise WorkError("stopped")
            length = min(DISCARD_BYTES, self.capacity_bytes - start)
            try:
                fcntl.ioctl(self._descriptor, BLKDISCARD, struct.pack("QQ", start, length))
            except OSError as error:
                raise WorkError(f"fio:{self.name}: discard failed ({error.strerror})") from None
        return True

    def flush(self) -> bool:
        """Flushes the device's cache."""
        assert self._descriptor is not None
        os.fsync(self._descriptor)
        return True


def _size_bytes(name: str, path: Path) -> int:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise RequestError(f"fio:{name}: can't open it ({error.strerror})") from None
    try:
        return os.lseek(descriptor, 0, os.SEEK_END)
    finally:
        os.close(descriptor)
