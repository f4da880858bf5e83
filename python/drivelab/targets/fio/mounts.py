"""What the kernel says about who uses a file or a device: mounts, swap, holders, loops."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from drivelab.errors import RequestError

_OCTAL = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True)
class Mount:
    """A line of /proc/self/mountinfo."""

    device: str
    """Major and minor number, 8:1."""
    point: str
    kind: str
    source: str


def mounts(text: str | None = None) -> list[Mount]:
    """All mounts that this process sees."""
    if text is None:
        text = _read(Path("/proc/self/mountinfo"))
    return list(_parsed(text))


def _parsed(text: str) -> Iterator[Mount]:
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        fields, rest = before.split(), after.split()
        if len(fields) >= 5 and len(rest) >= 2:
            yield Mount(fields[2], _unescaped(fields[4]), rest[0], _unescaped(rest[1]))


def _unescaped(text: str) -> str:
    return _OCTAL.sub(lambda match: chr(int(match[1], 8)), text)


def mount_of(folder: Path) -> Mount:
    """The mount that holds a folder; "unknown" where the kernel doesn't say."""
    found = Mount("", "/", "unknown file system", "unknown device")
    resolved = folder.resolve()
    for mount in mounts():
        longer = len(mount.point) >= len(found.point)
        if longer and resolved.is_relative_to(mount.point):
            found = mount
    return found


def swaps(text: str | None = None) -> set[str]:
    """Files and devices that the kernel swaps to."""
    if text is None:
        text = _read(Path("/proc/swaps"))
    return {_unescaped(line.split()[0]) for line in text.splitlines()[1:] if line.split()}


def check_file_unused(name: str, path: Path) -> None:
    """Raises RequestError if a file is swapped to or stands behind a loop device."""
    resolved = str(path.resolve())
    if resolved in swaps():
        raise RequestError(f"fio:{name}: the system swaps to this file; it is never written to")
    for backing in Path("/sys/block").glob("loop*/loop/backing_file"):
        if _read(backing).strip() == resolved:
            raise RequestError(
                f"fio:{name}: {backing.parts[3]} stands on this file; it is never written to"
            )


def device_folders(number: str, system: Path = Path("/sys/dev/block")) -> list[Path]:
    """sysfs folders of a block device (major:minor) and of its partitions."""
    own = (system / number).resolve()
    if not own.exists():
        return []
    return [own, *sorted(path.parent for path in own.glob("*/partition"))]


def is_on_ata(number: str, system: Path = Path("/sys/dev/block")) -> bool:
    """Whether a block device (major:minor) hangs on a port of ATA, as SATA drives do."""
    parts = (system / number).resolve().parts
    return any(part.startswith("ata") and part[3:].isdigit() for part in parts)


def check_device_unused(name: str, number: str) -> None:
    """Raises RequestError if a block device, or a part of it, is mounted, held or swapped to."""
    mounted = {mount.device: mount.point for mount in mounts()}
    swapped = {number_of(path) for path in swaps()}
    # A device that sysfs doesn't know can still be mounted.
    folders = device_folders(number)
    numbers = {_read(folder / "dev").strip(): folder.name for folder in folders} or {number: name}
    for part, part_name in numbers.items():
        if part in mounted:
            use = f"{part_name} is mounted at {mounted[part]}"
        elif part in swapped:
            use = f"the system swaps to {part_name}"
        else:
            continue
        raise RequestError(f"fio:{name}: {use}; it is never written to")
    for folder in folders:
        holders = sorted(path.name for path in (folder / "holders").glob("*"))
        if holders:
            raise RequestError(
                f"fio:{name}: {folder.name} is held by {', '.join(holders)}; it is never written to"
            )


def number_of(path: str) -> str:
    """Major and minor number of a block device; empty for anything that is none."""
    try:
        number = Path(path).stat().st_rdev
    except OSError:
        return ""
    return f"{os.major(number)}:{os.minor(number)}"


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
