"""Options of the sizes of a job's blocks: `bs`, `bssplit`, `bsrange`, `blockalign`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from drivelab.fio import units
from drivelab.fio.buffers import Section
from drivelab.quantities import SECTOR_BYTES
from drivelab.workload import BlockSize

BLOCK_BYTES_MAX = 2**30
"""What the engine takes; it refuses more in words of its own."""


def per_direction(text: str) -> list[str]:
    """The comma-separated values for reads, writes and trims; empty: not given."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > 3:
        raise ValueError("at most three values: reads, writes, trims")
    return parts


_SIZE_KEYS = ("block_sizes", "write_block_sizes", "trim_block_sizes")
DEFAULT_SIZES = (BlockSize(bytes=4096),)
"""What a job has that says nothing of its blocks."""


def _sizes(text: str, read: Callable[[str], tuple[BlockSize, ...]]) -> dict[str, Any]:
    """Block sizes by direction: as fio, a missing last value repeats the one before it, and an
    empty one is the default of 4k."""
    parts = per_direction(text)
    given: list[str | None] = [part or None for part in parts]
    while len(given) < 3:
        given.append(given[-1])
    return {
        key: read(part) if part is not None else DEFAULT_SIZES
        for key, part in zip(_SIZE_KEYS, given, strict=True)
    }


def bs(reader: Section, text: str) -> dict[str, Any]:
    """One size for each direction."""
    return _sizes(text, lambda part: (_block(reader, part, 1.0),))


def _block(reader: Section, text: str, weight: float) -> BlockSize:
    size = reader.size(text)
    if not SECTOR_BYTES <= size <= BLOCK_BYTES_MAX or size % SECTOR_BYTES:
        raise ValueError(f"multiples of {SECTOR_BYTES} bytes up to {BLOCK_BYTES_MAX}")
    return BlockSize(bytes=size, weight=weight)


def bssplit(reader: Section, text: str) -> dict[str, Any]:
    """Several sizes for each direction, with their percentages."""
    return _sizes(text, lambda part: _split_sizes(reader, part))


def blockalign(reader: Section, text: str) -> dict[str, Any]:
    """One alignment for reads, writes and trims; the engine has no other."""
    sizes = {reader.size(part) for part in per_direction(text)}
    if len(sizes) > 1:
        raise ValueError("one alignment, the same for reads, writes and trims")
    [size] = sizes
    if size < SECTOR_BYTES or size % SECTOR_BYTES:
        raise ValueError(f"multiples of {SECTOR_BYTES} bytes")
    return {"align_bytes": size}


RANGE_SIZES_MAX = 4096
"""Sizes that a range of blocks may have."""
_RANGE_ALLOWED = (
    f"SMALLEST-LARGEST, e.g. 4k-64k, the largest up to {RANGE_SIZES_MAX} times the smallest"
)


def bsrange(reader: Section, text: str) -> dict[str, Any]:
    """A range of sizes for each direction."""
    return _sizes(text, lambda part: _range_sizes(reader, part))


def _range_sizes(reader: Section, text: str) -> tuple[BlockSize, ...]:
    """`smallest-largest`."""
    first, dash, last = text.partition("-")
    if dash and not last:
        raise ValueError(_RANGE_ALLOWED)
    smallest, largest = _block(reader, first, 1.0).bytes, _block(reader, last or first, 1.0).bytes
    if not smallest <= largest <= RANGE_SIZES_MAX * smallest:
        raise ValueError(_RANGE_ALLOWED)
    return range_sizes(smallest, largest)


def range_sizes(smallest: int, largest: int) -> tuple[BlockSize, ...]:
    """The sizes of a range of blocks, in bytes, as often as fio draws them.

    fio draws evenly from the smallest up to both together, rounds down to multiples of the
    smallest, and takes the largest for what is more: one that is no multiple is drawn as often as
    what it has beyond one says.
    """
    multiples = range(smallest, largest + 1, smallest)
    sizes = [BlockSize(bytes=size, weight=float(smallest)) for size in multiples]
    if beyond := largest % smallest:
        sizes.append(BlockSize(bytes=largest, weight=float(beyond)))
    return tuple(sizes)


def is_aligned_to_blocks(fields: Mapping[str, Any]) -> bool:
    """Whether a job's random requests begin where one of its smallest blocks does, as they do
    without `blockalign`. fio looks at all directions, those that the job doesn't use included."""
    align = fields.get("align_bytes")
    smallest = {min(size.bytes for size in fields.get(key) or DEFAULT_SIZES) for key in _SIZE_KEYS}
    return align is None or smallest == {align}


def smallest(reader: Section) -> int:
    """Bytes of the smallest block of a job, of any direction."""
    for name, read in (("bssplit", bssplit), ("bsrange", bsrange), ("bs", bs)):
        if reader.has(name):
            found = reader.value(name, partial(read, reader), {})
            return int(min(size.bytes for sizes in found.values() for size in sizes))
    return DEFAULT_SIZES[0].bytes


def _split_sizes(reader: Section, text: str) -> tuple[BlockSize, ...]:
    """`size/percent:size/percent`; what has no percentage shares the rest evenly.

    fio rounds all down to multiples of the smallest.
    """
    pairs = [entry.partition("/") for entry in text.split(":")]
    given = [units.percent(share) if share else None for _, _, share in pairs]
    total = sum(share for share in given if share is not None)
    missing = given.count(None)
    if total > 100 or (not missing and round(total) != 100):
        raise ValueError(f"percentages that add up to 100, not {total:g}")
    rest = (100 - total) / missing if missing else 0.0
    sizes = [
        (size, rest if share is None else share)
        for (size, _, _), share in zip(pairs, given, strict=True)
    ]
    blocks = [_block(reader, size, share) for size, share in sizes if share > 0]
    unit = min(block.bytes for block in blocks)
    return tuple(
        BlockSize(bytes=block.bytes - block.bytes % unit, weight=block.weight) for block in blocks
    )
