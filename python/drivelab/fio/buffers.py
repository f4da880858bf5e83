"""From fio's buffer options to a data pattern, in the order in which fio itself decides.

1. `buffer_compress_percentage` below 100 or `dedupe_percentage`: blocks that are random for the
   rest of the percentage, and so many copies; both refill the buffer for every write.
2. `buffer_pattern`: the pattern over and over.
3. `zero_buffers` (or a compression of 100): zeros.
4. `refill_buffers`, or buffers that are scrambled, which is the default: random.
5. Neither: the buffers of the start, over and over, as many as `iodepth`.

Where fio repeats a whole buffer, here each block of 4096 bytes is a copy or not: the share is the
same. The order is that of `fill_io_buffer` and `get_io_u` in fio's io_u.c, and of init.c [FIO].
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from drivelab.fio import units
from drivelab.quantities import KIB
from drivelab.workload import Compressible, DataPattern, RandomBytes, Repeating, Zeros

OPTIONS = (
    "zero_buffers",
    "refill_buffers",
    "scramble_buffers",
    "buffer_pattern",
    "buffer_compress_percentage",
    "buffer_compress_chunk",
    "dedupe_percentage",
    "dedupe_mode",
    "dedupe_working_set_percentage",
)
BLOCK_BYTES = 4 * KIB
"""A block of the model: what compresses and repeats as one, the usual map unit."""

POOL_MAX = 65_535
SCRAMBLED_PERCENT = 100 * 24 / 512
"""Scrambling stamps 24 of 512 bytes with offset and time; the rest of a zeroed buffer stays."""

CHUNK_BYTES = 512
"""fio's default of `buffer_compress_chunk`."""

WORKING_SET_PERCENT = 5
"""fio's default of `dedupe_working_set_percentage`."""

_HEX = r"0[xX][0-9a-fA-F]+"
_PATTERN = re.compile(rf'(?:{_HEX}|-?\d+|"[^"]+")+')
_ZERO_PATTERN = re.compile(r"(?:0[xX]0+|-?0+)+")


class Section(Protocol):
    """What is needed of a job's options."""

    ignored: dict[str, str]
    """Those without effect, each with the reason."""

    def has(self, name: str) -> bool:
        """Whether the option is given."""

    def value(self, name: str, read: Callable[[str], Any], default: Any) -> Any:
        """The value of an option, or the default."""

    def wrong(self, name: str, allowed: str) -> Exception:
        """The error for a value that is not allowed."""

    def size(self, text: str) -> int:
        """A size in bytes, in this job's notation."""


@dataclass(frozen=True)
class Buffers:
    """The buffers of a job's writes: smallest and largest in bytes, and how many there are."""

    smallest: int
    largest: int
    count: int

    @property
    def blocks(self) -> int:
        """Blocks of the largest."""
        return min(max(self.largest // BLOCK_BYTES, 1), POOL_MAX)


def is_said(section: Section) -> bool:
    """Whether a job says anything about what it writes."""
    return any(section.has(name) for name in OPTIONS)


def data_pattern(section: Section, buffers: Buffers, span_bytes: int) -> DataPattern:
    """What a job writes to a region of `span_bytes`; raises RequestError for what a model can't."""
    compressible: int = section.value("buffer_compress_percentage", _percent, 0)
    duplicates: int = section.value("dedupe_percentage", _percent, 0)
    _check_chunk(section, buffers.smallest, compressible)
    pool = _pool(section, buffers, span_bytes, duplicates)
    zeroed = section.value("zero_buffers", units.flag, False)
    refilled = section.value("refill_buffers", units.flag, 0 < compressible < 100)
    scrambled = section.value("scramble_buffers", units.flag, True)
    patterned: DataPattern | None = section.value("buffer_pattern", _pattern, None)
    if duplicates:
        return Compressible(
            compressed_percent=100 - compressible, duplicate_percent=duplicates, duplicate_pool=pool
        )
    if 0 < compressible < 100:
        reused = _reused(100 - compressible, buffers)
        return Compressible(compressed_percent=100 - compressible) if refilled else reused
    if patterned is not None:
        return patterned
    if zeroed and scrambled and section.has("scramble_buffers") and not (refilled or compressible):
        return Compressible(compressed_percent=SCRAMBLED_PERCENT)
    if zeroed or compressible == 100:
        return Zeros()
    return RandomBytes() if refilled or scrambled else _reused(100, buffers)


def _reused(compressed_percent: float, buffers: Buffers) -> DataPattern:
    """The same buffers for ever."""
    return Compressible(
        compressed_percent=compressed_percent, duplicate_percent=100, duplicate_pool=buffers.count
    )


def _check_chunk(section: Section, write_bytes: int, compressible: int) -> None:
    """Refuses chunks so large that one block of a buffer compresses and the next doesn't."""
    chunk = section.value("buffer_compress_chunk", section.size, CHUNK_BYTES)
    if 0 < compressible < 100 and min(chunk or write_bytes, write_bytes) > BLOCK_BYTES:
        allowed = (
            f"1 to {BLOCK_BYTES} bytes, so that all blocks of {BLOCK_BYTES} bytes compress alike "
            "(0 means the whole buffer)"
        )
        raise section.wrong("buffer_compress_chunk", allowed)


def _pool(section: Section, buffers: Buffers, span_bytes: int, duplicates: int) -> int:
    """How many contents the copies have."""
    modes = ("repeat", "working_set")
    mode = section.value("dedupe_mode", lambda text: _one_of(text, modes), "repeat")
    share: int = section.value("dedupe_working_set_percentage", _percent, WORKING_SET_PERCENT)
    if mode == "repeat" or not duplicates:
        # A write of nothing but copies is one content throughout.
        return buffers.blocks if duplicates < 100 else 1
    if share + duplicates > 100:
        allowed = f"0 to {100 - duplicates} with dedupe_percentage={duplicates}"
        named = section.has("dedupe_working_set_percentage")
        raise section.wrong(
            "dedupe_working_set_percentage" if named else "dedupe_percentage",
            allowed if named else f"0 to {100 - share} with a working set of {share} percent",
        )
    return min(max(span_bytes * share // 100 // BLOCK_BYTES, 1), POOL_MAX)


def _percent(text: str) -> int:
    value = units.percent(text)
    if value != int(value):
        raise ValueError("a whole percentage from 0 to 100")
    return int(value)


def _one_of(text: str, choices: tuple[str, ...]) -> str:
    if text not in choices:
        raise ValueError(", ".join(choices))
    return text


def _pattern(text: str) -> DataPattern:
    if not _PATTERN.fullmatch(text):
        raise ValueError(
            'bytes such as 0xdeadface, -12 or "abcd"; files have no meaning in a model'
        )
    return Zeros() if _ZERO_PATTERN.fullmatch(text) else Repeating()
