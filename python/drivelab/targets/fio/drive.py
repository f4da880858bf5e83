"""A real drive, a file or a served drive, as reviews see it: a model without parameters."""

from __future__ import annotations

import hashlib
import json
import platform
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from drivelab import paths
from drivelab.errors import RequestError
from drivelab.progress import TaskProgress
from drivelab.targets.fio import program
from drivelab.targets.fio.block_device import BlockDevice
from drivelab.targets.fio.lineage import Lineage
from drivelab.targets.fio.nbd_export import SCHEMES, NbdExport
from drivelab.targets.fio.place import PREFIX, Place, Wish
from drivelab.targets.fio.regular_file import RegularFile
from drivelab.targets.fio.rehearsal import Rehearsal
from drivelab.targets.fio.smartctl import SmartLog
from drivelab.targets.fio.target import (
    QUEUE_DEPTH,
    FioTarget,
    check_jobs,
    check_requests,
)

FAMILY = "real"


def is_real(request: str) -> bool:
    """Whether a name means a real drive and not a model."""
    return request.startswith(PREFIX)


def find_place(request: str, wish: Wish) -> Place:
    """The place of `fio:PATH` or `fio:URI`, checked; raises RequestError, or WorkError."""
    name = request.removeprefix(PREFIX)
    if not name:
        raise RequestError(f'MODEL "{request}": which file, device or nbd://... ?')
    if name.startswith(SCHEMES):
        return NbdExport(name, wish)
    if "://" in name:
        raise RequestError(f'MODEL "{request}": allowed: a path, {", ".join(SCHEMES)}')
    path = paths.expanded(paths.checked("MODEL", name))
    try:
        is_device = stat.S_ISBLK(path.stat().st_mode)
    except OSError:
        is_device = False
    return BlockDevice(name, wish) if is_device else RegularFile(name, wish)


class RealDrive:
    """What results say about a real drive, in the words of a model."""

    def __init__(self, request: str, wish: Wish) -> None:
        self.program = program.find()
        self.place = find_place(request, wish)
        self.place.may_be_lost = self.place.name in wish.destroy
        self.name = request
        self.title = self.place.title
        self.family = FAMILY
        self.user_capacity_bytes = self.place.capacity_bytes
        self.raw_capacity_bytes: int | None = None
        self.queue_depth = QUEUE_DEPTH
        self.is_disk = self.place.rotating
        self.takes_trim = self.place.trim_refusal is None
        self.memory_bytes = 0
        self.parameters: list[dict[str, Any]] = []
        self.smart = SmartLog(self.place.smart_device)
        self.real = {
            "target": request,
            "fio_version": self.program.version,
            "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
            "new_state": self.place.erase_method,
            **self.place.facts,
        }

    @property
    def identity(self) -> dict[str, Any]:
        """The keys of a model's identity; what nobody knows of a real drive is null."""
        return {
            "family": self.family,
            **dict.fromkeys(("released", "controller_name")),
            "firmware": self.place.facts.get("firmware"),
            **dict.fromkeys(("price_usd", "price_usd_per_gib_flash", "price_usd_per_gib_user")),
        }

    @property
    def hash(self) -> str:
        """64 hexadecimal digits over what is known of it."""
        known = json.dumps([self.real, self.user_capacity_bytes], sort_keys=True)
        return hashlib.sha256(known.encode()).hexdigest()

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Holds the place while it is measured, and lets go of it whatever happens.

        SMART is read when it begins and, unless it fails, when it ends.
        """
        self.place.claim()
        try:
            self.smart.begin()
            yield
            self.smart.end()
        finally:
            self.place.release()

    def target(self, progress: TaskProgress) -> Lineage:
        """The drive to be measured; it must be claimed."""
        return Lineage(FioTarget(self.place, self.program, progress), self.name)

    def rehearsal(self) -> Rehearsal:
        """A stand-in that counts bytes and time, and refuses what the drive would refuse."""
        return Rehearsal(
            self.user_capacity_bytes,
            QUEUE_DEPTH,
            self.place.rotating,
            partial(check_jobs, self.place),
            partial(check_requests, self.place),
            self.place.link_bytes_per_s,
        )
