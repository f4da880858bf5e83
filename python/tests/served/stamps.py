"""Sectors that say what they are, and a book of what a drive promised about each of them.

A sector is a head (magic, seed of the run, sector, sequence number of the command, checksum of
these) and a body that follows from the head. So whatever is read says whether it is whole, where it
belongs, and which command wrote it; and the book says which commands' data may be there after a
power cut:

- what was acknowledged before a flush that was acknowledged, or with FUA, is the floor: nothing
  older may be there;
- everything later, acknowledged or under way, may be there or not, sector by sector;
- on a drive with a capacitor, whatever was acknowledged is the floor.

A trim and a write of zeros are commands whose data is zeros.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from dataclasses import dataclass

SECTOR = 512
MAGIC = 0x6472697665_6C6162
HEAD = struct.Struct("<QQQQI")
ZEROS = bytes(SECTOR)


def sector(seed: int, lba: int, sequence: int) -> bytes:
    """What command number `sequence` writes to this sector."""
    facts = struct.pack("<QQQQ", MAGIC, seed, lba, sequence)
    head = facts + struct.pack("<I", zlib.crc32(facts))
    return head + hashlib.shake_128(head).digest(SECTOR - len(head))


@dataclass
class Command:
    """A write (or what makes zeros) and when it was acknowledged, counted in acknowledgements."""

    first: int
    count: int
    zeros: bool
    acknowledged: int | None = None


class Book:
    """What the drive has promised about every sector."""

    def __init__(self, seed: int, *, capacitor: bool = False) -> None:
        self.seed = seed
        self.capacitor = capacitor
        self._commands: dict[int, Command] = {0: Command(0, 0, zeros=True, acknowledged=0)}
        self._versions: dict[int, list[int]] = {}
        self._unsettled: set[int] = set()
        self._acknowledgements = 0
        self._next = 1

    def begin(self, first: int, count: int, *, zeros: bool = False) -> int:
        """A write is handed over; returns its sequence number. None other is under way there."""
        sequence, self._next = self._next, self._next + 1
        self._commands[sequence] = Command(first, count, zeros)
        for lba in range(first, first + count):
            self._versions.setdefault(lba, [0]).append(sequence)
            self._unsettled.add(lba)
        return sequence

    def data(self, sequence: int) -> bytes:
        """The bytes of a write."""
        command = self._commands[sequence]
        lbas = range(command.first, command.first + command.count)
        return b"".join(sector(self.seed, lba, sequence) for lba in lbas)

    def acknowledge(self, sequence: int, *, fua: bool = False) -> None:
        """The drive says that a write is done."""
        self._acknowledgements += 1
        command = self._commands[sequence]
        command.acknowledged = self._acknowledgements
        if fua or self.capacitor:
            for lba in range(command.first, command.first + command.count):
                self._floor(lba, self._versions[lba].index(sequence))

    def moment(self) -> int:
        """When a flush is handed over: what is acknowledged by now, it covers."""
        return self._acknowledgements

    def flushed(self, moment: int) -> None:
        """A flush that was handed over at `moment` is acknowledged."""
        for lba in list(self._unsettled):
            versions = self._versions[lba]
            for place in reversed(range(len(versions))):
                acknowledged = self._commands[versions[place]].acknowledged
                if acknowledged is not None and acknowledged <= moment:
                    self._floor(lba, place)
                    break

    def latest(self, first: int, count: int) -> bytes:
        """What a read returns while the power stays on."""
        return b"".join(
            self._content(lba, self._versions.get(lba, [0])[-1])
            for lba in range(first, first + count)
        )

    def after_cut(self, first: int, found: bytes) -> list[str]:
        """What is wrong with sectors read after a power cut; what was found is the floor now."""
        wrong = []
        for index in range(len(found) // SECTOR):
            lba, content = first + index, found[index * SECTOR : (index + 1) * SECTOR]
            allowed = self._versions.get(lba, [0])
            there = next((v for v in reversed(allowed) if self._content(lba, v) == content), None)
            if there is None:
                wrong.append(f"sector {lba}: {self._failure(lba, content, allowed)}")
            elif lba in self._versions:
                self._versions[lba] = [there]
                self._unsettled.discard(lba)
        return wrong

    @property
    def lbas(self) -> list[int]:
        """Every sector that was ever written to."""
        return sorted(self._versions)

    def _floor(self, lba: int, place: int) -> None:
        del self._versions[lba][:place]
        if len(self._versions[lba]) == 1:
            self._unsettled.discard(lba)

    def _content(self, lba: int, sequence: int) -> bytes:
        zeros = self._commands[sequence].zeros
        return ZEROS if zeros else sector(self.seed, lba, sequence)

    def _failure(self, lba: int, content: bytes, allowed: list[int]) -> str:
        """The name of the failure, as reviews of real drives name them."""
        wanted = f"allowed: {', '.join(map(str, allowed))}"
        if content == ZEROS:
            return f"lost: zeros; {wanted}"
        magic, seed, place, sequence, _ = HEAD.unpack_from(content)
        if magic != MAGIC:
            return f"corrupt: no stamp; {wanted}"
        if sector(seed, place, sequence) != content:
            return f"torn: its head is of command {sequence}; {wanted}"
        if seed != self.seed:
            return f"foreign: data of run {seed}; {wanted}"
        if place != lba:
            return f"misdirected: data of sector {place}, command {sequence}; {wanted}"
        zeroed = any(self._commands[version].zeros for version in allowed)
        kind = "back after a trim" if zeroed and sequence < allowed[0] else "stale"
        return f"{kind}: data of command {sequence}; {wanted}"
