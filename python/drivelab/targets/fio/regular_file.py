"""A regular file as a drive: made for the measurement, or given and overwritten."""

from __future__ import annotations

import fcntl
import mmap
import os
import stat
from pathlib import Path
from typing import Any

from drivelab import paths
from drivelab.errors import RequestError, WorkError
from drivelab.quantities import SECTOR_BYTES, bytes_text
from drivelab.targets.fio import mounts
from drivelab.targets.fio.place import Place, Stopped, Wish, check_destroy, whole_sectors

LARGE_SECTOR_BYTES = 4096


class RegularFile(Place):
    """A file; what it makes new is that the file system forgets all of its blocks."""

    def __init__(self, name: str, wish: Wish) -> None:
        self._path = paths.expanded(name).absolute()
        paths.check_reachable(f"fio:{name}", self._path)
        self._made = not self._path.exists()
        """Whether drivelab makes the file, and so removes it."""
        size = 0 if self._made else self._path.stat().st_size
        _check_folder(name, self._path)
        loss = f"the file holds {bytes_text(size)}" if size else None
        if loss:
            check_destroy(name, wish, loss)
        wanted = wish.size_bytes
        if wanted is None and not size:
            raise RequestError(f"fio:{name}: how large shall the file be? e.g. --size 1g")
        mounts.check_file_unused(name, self._path)
        sector = SECTOR_BYTES if wish.buffered else _direct_sector_bytes(name, self._path)
        super().__init__(name, whole_sectors(name, wish, size, sector), sector)
        self.loss = loss
        self._check_room(size)
        self._buffered = wish.buffered
        self._mount = mounts.mount_of(self._path.parent)
        self._descriptor: int | None = None

    def _check_room(self, present_bytes: int) -> None:
        system = os.statvfs(self._path.parent)
        free = system.f_bavail * system.f_frsize
        allocated = 0 if self._made else self._path.stat().st_blocks * 512
        if self.capacity_bytes > free + allocated:
            raise RequestError(
                f"fio:{self.name}: {bytes_text(self.capacity_bytes)} don't fit; the file system "
                f"has {bytes_text(free)} free. Allowed with --size: up to that"
            )

    @property
    def title(self) -> str:
        """What people call it."""
        return f"File {self.name} on {self._mount.kind}"

    @property
    def facts(self) -> dict[str, Any]:
        """What results record about it."""
        return {
            "kind": "file",
            "file_system": self._mount.kind,
            "device": self._mount.source,
            "direct": not self._buffered,
            "sector_bytes": self.sector_bytes,
        }

    @property
    def erase_method(self) -> str:
        """How the new state is brought about."""
        return (
            "the file is cut to nothing and made sparse again at full size; the drive below hears "
            "of it only if the file system discards"
        )

    @property
    def smart_device(self) -> str | None:
        """The device that its file system is on."""
        source = Path(self._mount.source)
        return str(source) if source.is_absolute() and source.is_block_device() else None

    def options(self, rw: str) -> dict[str, str]:
        """fio's options; trims punch holes."""
        engine = "falloc" if rw in ("trim", "randtrim") else "libaio"
        return {
            "ioengine": engine,
            "filename": "drive",
            "direct": "0" if self._buffered else "1",
            "fallocate": "none",
            "allow_file_create": "0",
        }

    def linked(self) -> str | None:
        """The path that fio opens."""
        return str(self._path)

    def claim(self) -> None:
        """Opens the file, for this process alone among drivelab's, and gives it its size."""
        flags = os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT | os.O_EXCL if self._made else 0)
        try:
            self._descriptor = os.open(self._path, flags, 0o600)
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(self._descriptor, self.capacity_bytes)
        except BlockingIOError:
            raise RequestError(f"fio:{self.name}: another drivelab is using this file") from None
        except FileExistsError:
            raise RequestError(f"fio:{self.name}: somebody made this file meanwhile") from None
        except OSError as error:
            self.release()
            raise RequestError(f"fio:{self.name}: can't write there ({error.strerror})") from None

    def release(self) -> None:
        """Closes the file, and removes it if drivelab made it."""
        if self._descriptor is None:
            return
        if self._made:
            self._path.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = None

    def is_empty(self) -> bool:
        """Whether it is one hole."""
        return self._descriptor is not None and os.fstat(self._descriptor).st_blocks == 0

    def erase(self, stopped: Stopped) -> bool:
        """Frees all blocks of the file."""
        assert self._descriptor is not None
        try:
            os.ftruncate(self._descriptor, 0)
            os.fsync(self._descriptor)
            os.ftruncate(self._descriptor, self.capacity_bytes)
        except OSError as error:
            raise WorkError(f"fio:{self.name}: can't be emptied ({error.strerror})") from None
        return True

    def flush(self) -> bool:
        """Brings the file to the drive."""
        assert self._descriptor is not None
        os.fsync(self._descriptor)
        return True


def _check_folder(name: str, path: Path) -> None:
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):
        raise RequestError(
            f"fio:{name}: is neither a file nor a block device; allowed: a file (which may not be "
            "there yet), a block device, nbd://HOST:PORT/EXPORT, nbd+unix:///EXPORT?socket=PATH"
        )
    if not path.parent.is_dir():
        raise RequestError(f"fio:{name}: there is no folder {path.parent}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise RequestError(f"fio:{name}: no permission to write there")


def _direct_sector_bytes(name: str, path: Path) -> int:
    """The smallest transfer that goes past the page cache here, by trying it on an unnamed file."""
    try:
        descriptor = os.open(path.parent, os.O_TMPFILE | os.O_RDWR | os.O_DIRECT, 0o600)
    except OSError as error:
        raise RequestError(
            f"fio:{name}: the file system doesn't write past the page cache ({error.strerror}); "
            "choose another place, or measure the cache too with --buffered"
        ) from None
    try:
        with mmap.mmap(-1, LARGE_SECTOR_BYTES) as page:
            for size in (SECTOR_BYTES, LARGE_SECTOR_BYTES):
                try:
                    os.pwrite(descriptor, memoryview(page)[:size], 0)
                except OSError:
                    continue
                return size
    finally:
        os.close(descriptor)
    raise RequestError(
        f"fio:{name}: the file system doesn't write {LARGE_SECTOR_BYTES} bytes past the page "
        "cache; choose another place, or measure the cache too with --buffered"
    )
