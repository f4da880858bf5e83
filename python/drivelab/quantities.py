"""Conversions between the units that results are stated in."""

from __future__ import annotations

import hashlib

SECTOR_BYTES = 512
KIB, MIB, GIB = 2**10, 2**20, 2**30
MB, GB = 10**6, 10**9
NS_PER_S = 1_000_000_000
NS_PER_MS = 1_000_000
NS_PER_US = 1_000


def derive_seed(seed: int, *labels: str) -> int:
    """A seed below 2^63 for one part of the work, independent of the order in which parts run."""
    text = "\0".join((str(seed), *labels))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") >> 1


def repeat_seeds(seed: int, count: int) -> list[int]:
    """A seed for each repeat: the given one first."""
    return [seed, *(derive_seed(seed, "repeat", str(index)) for index in range(1, count))]


def mib(byte_count: float | None) -> float | None:
    """Bytes, or bytes a second, in MiB; None of None.

    >>> mib(2**21), mib(None)
    (2.0, None)
    """
    return None if byte_count is None else byte_count / MIB


def bytes_text(byte_count: int) -> str:
    """A byte count in the largest fitting decimal unit: 80.0 GB.

    >>> bytes_text(80_026_361_856)
    '80.0 GB'
    """
    for unit, size in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if byte_count >= size:
            return f"{byte_count / size:.1f} {unit}"
    return f"{byte_count} B"


def number(value: float | None, digits: int = 4) -> str:
    """A number in so many significant digits, without exponent; a dash for None.

    >>> number(1234567.0), number(0.29613), number(None)
    ('1234567', '0.2961', '-')
    """
    if value is None:
        return "-"
    if value == 0 or abs(value) >= 10 ** (digits - 1):
        return f"{value:.0f}"
    return f"{value:.{digits}g}" if abs(value) >= 1e-4 else f"{value:.2e}"


def counted(count: int, noun: str) -> str:
    """So many of something.

    >>> counted(1, "request"), counted(20, "request")
    ('1 request', '20 requests')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"


def time_text(seconds: float) -> str:
    """A duration as people read it: about 5 s, about 12 min, about 3.5 h.

    >>> time_text(90.0), time_text(12600.0)
    ('about 2 min', 'about 3.5 h')
    """
    if seconds < 60:
        return f"about {seconds:.0f} s"
    if seconds < 90 * 60:
        return f"about {seconds / 60:.0f} min"
    return f"about {seconds / 3600:.1f} h"
