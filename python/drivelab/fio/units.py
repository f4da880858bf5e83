"""fio's notation for sizes, times and percentages; ValueError says what is allowed."""

from __future__ import annotations

import math
import re
from fractions import Fraction

_NUMBER = re.compile(r"(0x[0-9a-f]+|\d+(?:\.\d+)?)\s*([a-z]*)", re.IGNORECASE)
_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_TIME_NS = {
    "d": 86_400 * 10**9,
    "h": 3_600 * 10**9,
    "m": 60 * 10**9,
    "s": 10**9,
    "ms": 10**6,
    "msec": 10**6,
    "us": 10**3,
    "usec": 10**3,
    "ns": 1,
    "nsec": 1,
}
SIZE_ALLOWED = (
    "a number of bytes with k, m, g, t or p (powers of 1024), whole in bytes, e.g. 4k or 1.5g"
)
TIME_ALLOWED = (
    "a number with d, h, m, s, ms, us or ns, whole in ns, or hh:mm:ss, e.g. 90, 1.5s or 3m"
)
BELOW = "below 2^63"
PERCENT_ALLOWED = "a percentage from 0 to 100"


def size_bytes(text: str, kb_base: int = 1024) -> int:
    """Bytes of a size. With `kb_base` 1024, fio's default, k is 1024 and ki is 1000; with 1000 the
    units mean what the standards say.

    >>> size_bytes("4k"), size_bytes("1MiB"), size_bytes("1m", 1000), size_bytes("0x200")
    (4096, 1000000, 1000000, 512)
    >>> size_bytes("1.1g")
    1181116006
    """
    number, unit = _split(text, SIZE_ALLOWED)
    unit = unit.removesuffix("b")
    iec = unit.endswith("i")
    power = _POWERS.get(unit.removesuffix("i"), None if unit else 0)
    if power is None:
        raise ValueError(SIZE_ALLOWED)
    base = kb_base if not iec else 2024 - kb_base
    size = number * base**power
    # Of mebibytes and more a fraction of a byte is cut off, as fio does: 1.1g is a size.
    return _whole(Fraction(math.floor(size)) if power > 1 else size, SIZE_ALLOWED, "bytes")


def size_or_percent(text: str, whole_bytes: int, kb_base: int = 1024) -> int:
    """Bytes of a size, or of a percentage of a whole (rounded down to sectors of 512 bytes)."""
    if not text.endswith("%"):
        return size_bytes(text, kb_base)
    share = percent(text.removesuffix("%"))
    return math.floor(whole_bytes * share / 100) // 512 * 512


def time_ns(text: str, unit: str = "s") -> int:
    """Nanoseconds of a time; `unit` is what a plain number means.

    >>> time_ns("3m"), time_ns("250", "us"), time_ns("0:01:30")
    (180000000000, 250000, 90000000000)
    """
    if ":" in text:
        fields = text.split(":")
        if len(fields) > 4 or not all(field.isdigit() for field in fields):
            raise ValueError(TIME_ALLOWED)
        scale = (1, 60, 3_600, 86_400)
        seconds = (int(field) * factor for field, factor in zip(fields[::-1], scale, strict=False))
        return sum(seconds) * 10**9
    number, suffix = _split(text, TIME_ALLOWED)
    if suffix and suffix not in _TIME_NS:
        raise ValueError(TIME_ALLOWED)
    return _whole(number * _TIME_NS[suffix or unit], TIME_ALLOWED, "ns")


def percent(text: str) -> float:
    """A percentage, with or without its sign."""
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        raise ValueError(PERCENT_ALLOWED) from None
    if not 0 <= value <= 100:
        raise ValueError(PERCENT_ALLOWED)
    return value


def whole_number(text: str, minimum: int = 0, maximum: int | None = None) -> int:
    """A whole number with fio's suffixes."""
    allowed = f"a whole number from {minimum}" + ("" if maximum is None else f" to {maximum}")
    try:
        value = size_bytes(text)
    except ValueError as error:
        too_large = maximum is None and BELOW in str(error)
        raise ValueError(allowed + (f", {BELOW}" if too_large else "")) from None
    if value < minimum or (maximum is not None and value > maximum):
        raise ValueError(allowed)
    return value


def flag(text: str) -> bool:
    """A switch: alone, 1 or 0."""
    if text.casefold() in ("", "1", "true", "yes"):
        return True
    if text.casefold() in ("0", "false", "no"):
        return False
    raise ValueError("1 or 0")


def _split(text: str, allowed: str) -> tuple[Fraction, str]:
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        raise ValueError(allowed)
    digits, unit = match.groups()
    if digits.casefold().startswith("0x"):
        return Fraction(int(digits, 16)), unit.casefold()
    # Not a float: 2.3ms are 2300000 ns, and a fraction that remains is one that was asked for.
    return Fraction(digits), unit.casefold()


def _whole(value: Fraction, allowed: str, unit: str) -> int:
    if value.denominator != 1:
        raise ValueError(allowed)
    if value >= 2**63:
        raise ValueError(f"{allowed}, {BELOW} {unit}")
    return value.numerator
