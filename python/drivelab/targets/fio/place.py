"""Where fio writes and reads: what every kind of place answers, and what it is told to be."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from drivelab.errors import RequestError
from drivelab.fio.units import size_bytes
from drivelab.quantities import SECTOR_BYTES

PREFIX = "fio:"

Stopped = Callable[[], bool]
"""Whether somebody asked to stop."""


@dataclass(frozen=True)
class Wish:
    """What the command line says about a place."""

    size: str | None = None
    """As typed: 1g. None is all of it."""
    destroy: tuple[str, ...] = ()
    """Names of places once more, for those that hold data."""
    buffered: bool = False
    """Through the page cache."""
    plan_only: bool = False
    """Nothing will be written: nobody has to agree to lose anything."""

    @property
    def size_bytes(self) -> int | None:
        """The wanted size; raises RequestError."""
        if self.size is None:
            return None
        try:
            wanted = size_bytes(self.size)
        except ValueError as error:
            raise RequestError(f'--size "{self.size}": expected {error}') from None
        if wanted <= 0 or wanted % SECTOR_BYTES:
            raise RequestError(f'--size "{self.size}": allowed: multiples of {SECTOR_BYTES} bytes')
        return wanted


class Place(ABC):
    """A file, a block device or an NBD export, checked and not yet touched."""

    def __init__(self, name: str, capacity_bytes: int, sector_bytes: int = SECTOR_BYTES) -> None:
        self.name = name
        """As typed after `fio:`."""
        self.capacity_bytes = capacity_bytes
        self.sector_bytes = sector_bytes
        """Requests are multiples of it."""
        self.loss: str | None = None
        """What is there now and would be overwritten, in words."""
        self.may_be_lost = False
        """Whether its name was given with `--destroy`."""
        self.rotating = False
        """Whether it is a hard disk, as `told_by` says."""
        self.told_by = "the system"
        self.link_bytes_per_s: int | None = None
        """What its link carries at most; None where that isn't known."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What people call it."""

    @property
    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """What results record about it."""

    @property
    @abstractmethod
    def erase_method(self) -> str:
        """How the new state is brought about, in words."""

    @property
    def trim_refusal(self) -> str | None:
        """Why it can't be trimmed; None if it can."""
        return None

    @property
    def smart_device(self) -> str | None:
        """The device at or under it, whose SMART can be asked for; None if there is none here."""
        return None

    @abstractmethod
    def options(self, rw: str) -> dict[str, str]:
        """fio's options for requests to it; `rw` tells trims from the rest."""

    def linked(self) -> str | None:
        """The path that fio opens as `drive` in its folder; None if it opens none."""
        return None

    @abstractmethod
    def claim(self) -> None:
        """Takes it for this process; raises RequestError if somebody else uses it."""

    @abstractmethod
    def release(self) -> None:
        """Lets go of it; what was made for the measurement is removed."""

    @abstractmethod
    def erase(self, stopped: Stopped) -> bool:
        """Brings the new state about, as `erase_method` says; False if fio must trim everything.

        Raises WorkError when `stopped`.
        """

    def is_empty(self) -> bool:
        """Whether nothing is stored there, so that no read reaches a drive; False: nobody knows."""
        return False

    @abstractmethod
    def flush(self) -> bool:
        """Flushes what was written; False if fio must do it."""


def whole_sectors(name: str, wish: Wish, size_bytes: int, sector_bytes: int) -> int:
    """Bytes of a place of this size that are used: those that were asked for, or all whole sectors.

    Raises RequestError for a part of a sector, and for none at all.
    """
    wanted = wish.size_bytes or size_bytes - size_bytes % sector_bytes
    if not wanted or wanted % sector_bytes:
        raise RequestError(
            f"fio:{name}: --size {wanted}: allowed: multiples of its sectors of {sector_bytes} "
            f"bytes; it has {size_bytes} bytes"
        )
    return wanted


def check_destroy(name: str, wish: Wish, what: str) -> None:
    """Raises RequestError unless the name of a place that holds data was repeated literally."""
    if wish.plan_only or name in wish.destroy:
        return
    raise RequestError(
        f"fio:{name}: {what}, which every test overwrites. "
        f"If all of it may be lost, repeat its name: --destroy {name}"
    )
