"""Options that say where a job goes, and how far: `offset`, `size`, `filesize`, `io_size`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from drivelab.fio import block_sizes, buffers, units

SIZES, OFFSETS = ("size", "filesize"), ("offset", "offset_increment")
"""Options that make a region."""
IO_BYTES_MAX = 2**63 - 1


class Section(buffers.Section, Protocol):
    """What is needed of a job's options."""

    capacity_bytes: int
    kb_base: int
    clone: int
    """Which of the jobs that `numjobs` makes of it, from 0 on."""


def size(reader: Section, text: str) -> int:
    """Bytes of a size, or of a percentage of the drive."""
    return units.size_or_percent(text, reader.capacity_bytes, reader.kb_base)


def offset_bytes(reader: Section) -> int:
    """Where the job's region begins: further on for every clone of it.

    Where a percentage makes it, on the next of the smallest blocks, as in fio.
    """
    offset, increment = (int(reader.value(name, lambda t: size(reader, t), 0)) for name in OFFSETS)
    begin = offset + reader.clone * increment
    if not any(reader.value(name, lambda t: t.endswith("%"), False) for name in OFFSETS):
        return begin
    block = block_sizes.smallest(reader)
    return -(-begin // block) * block


def asked_bytes(reader: Section) -> int:
    """Bytes that the job's region is to have: without a size, all that is behind its offset."""
    begin = offset_bytes(reader)
    rest = max(reader.capacity_bytes - begin, 0)
    whole = reader.value("filesize", lambda t: size(reader, t), None)
    if whole is not None:
        return max(int(whole) - begin, 0)
    found = int(reader.value("size", lambda t: size(reader, t), rest))
    # An offset in percent may begin a little later than its share: both together are too much.
    is_share = reader.value("size", lambda t: t.endswith("%"), False)
    return min(found, rest) if is_share and rest else found


def span_bytes(reader: Section) -> int:
    """Bytes of the job's region: as in fio whole ones of its smallest blocks of what is asked for;
    of less than one, what there is."""
    found = asked_bytes(reader)
    beyond = found % block_sizes.smallest(reader)
    return found - beyond if beyond < found else found


def _offset(reader: Section, text: str) -> dict[str, Any]:
    return {"offset_bytes": offset_bytes(reader)}


def _size(reader: Section, text: str) -> dict[str, Any]:
    return {"span_bytes": span_bytes(reader)}


def _filesize(reader: Section, text: str) -> dict[str, Any]:
    """A job has one file, which begins where the drive does: its region is what of it is behind
    the offset."""
    whole = size(reader, text)
    if reader.value("size", lambda t: size(reader, t), whole) != whole:
        raise ValueError("the same as size, or alone: a job has one file, its region")
    begin = offset_bytes(reader)
    if whole <= begin:
        raise ValueError(f"more than the job's offset of {begin} bytes")
    return {"span_bytes": span_bytes(reader)}


def _io_size(reader: Section, text: str) -> dict[str, Any]:
    said = any(map(reader.has, SIZES))
    span = span_bytes(reader) if said else reader.capacity_bytes
    found = units.size_or_percent(text, span, reader.kb_base)
    if found < 1:
        raise ValueError("one byte or more" + (", of the job's size" if "%" in text else ""))
    # Of every loop, as in fio.
    loops = int(reader.value("loops", lambda t: units.whole_number(t, 1), 1))
    return {"io_bytes": min(found * loops, IO_BYTES_MAX)}


READERS: dict[str, Callable[[Section, str], dict[str, Any]]] = {
    "size": _size,
    "filesize": _filesize,
    "offset": _offset,
    "offset_increment": _offset,
    "io_size": _io_size,
}
"""These options, each with the function that turns its text into fields of a job."""
