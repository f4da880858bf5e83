"""How a number is written: the only place where the report turns values into text.

Every function takes a value that may be missing (None, NaN, not a number) and then returns an em
dash. Binary units are written KiB, MiB, GiB (2^10, 2^20, 2^30), decimal ones MB, GB (10^6, 10^9).
"""

from __future__ import annotations

import math
from typing import Any

DASH = "—"
NBSP = "\u00a0"
MINUS = "\u2212"
MIB = 2**20
GIB = 2**30


def number(value: Any) -> float | None:
    """The value as a finite float, or None for whatever is missing or no number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        result = float(value)
    except OverflowError:
        return None
    return result if math.isfinite(result) else None


def _fixed(value: float, decimals: int) -> str:
    text = f"{value:,.{decimals}f}"
    if text.startswith("-"):
        text = text[1:] if not text.strip("-0.,") else MINUS + text[1:]
    return text


def significant(value: Any, digits: int = 3) -> str:
    """A bare number with so many significant digits; whole numbers are never rounded to zeros."""
    amount = number(value)
    if amount is None:
        return DASH
    if amount == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(float(f"{amount:.{digits - 1}e}"))))
    return _fixed(amount, max(0, digits - 1 - magnitude))


def with_unit(value: Any, unit: str, digits: int = 3) -> str:
    """A number with so many significant digits and its unit."""
    text = significant(value, digits)
    return text if text == DASH or not unit else f"{text}{NBSP}{unit}"


def exact(value: Any, unit: str = "") -> str:
    """A number as it stands (parameters, published figures), with its unit if it has one."""
    amount = number(value)
    if amount is None:
        return DASH
    whole = amount == int(amount) and abs(amount) < 1e15
    text = _fixed(amount, 0) if whole else f"{amount:,.12g}".replace("-", MINUS)
    return f"{text}{NBSP}{unit}" if unit else text


def throughput(value: Any, plus_minus: Any = None) -> str:
    """MiB/s with the digits the reviews print: one decimal from 10 on, two below.

    `plus_minus`: half the width of its 95 % interval, where it is the mean of repeats.
    """
    amount = number(value)
    if amount is None:
        return DASH
    size, spread = abs(amount), _plus_minus(plus_minus)
    if 0 < size < 0.1:
        return f"{significant(amount, 2)}{spread}{NBSP}MiB/s"
    return f"{_fixed(amount, 1 if size >= 9.995 else 2)}{spread}{NBSP}MiB/s"


def _plus_minus(value: Any) -> str:
    """What follows a mean of repeats: " ± 0.31"; nothing for what doesn't vary."""
    amount = number(value)
    return f"{NBSP}±{NBSP}{significant(amount, 2)}" if amount else ""


def iops(value: Any, plus_minus: Any = None) -> str:
    """Requests per second: whole from 100 on; `plus_minus` as of `throughput`."""
    amount = number(value)
    if amount is None:
        return DASH
    spread = _plus_minus(plus_minus)
    if abs(amount) >= 99.95:
        return f"{_fixed(amount, 0)}{spread}{NBSP}IOPS"
    return f"{significant(amount)}{spread}{NBSP}IOPS"


def latency(microseconds: Any, digits: int = 3) -> str:
    """A time given in us, written in ns, us, ms or s."""
    amount = number(microseconds)
    if amount is None:
        return DASH
    rounded = abs(float(f"{amount:.2e}"))
    if rounded == 0:
        return f"0{NBSP}µs"
    if rounded < 1:
        return with_unit(amount * 1e3, "ns", digits)
    if rounded < 1e3:
        return with_unit(amount, "µs", digits)
    if rounded < 1e6:
        return with_unit(amount / 1e3, "ms", digits)
    return with_unit(amount / 1e6, "s", digits)


def latency_of(microseconds: Any, plus_minus: Any = None) -> str:
    """A time given in us with half the width of its 95 % interval, if it has one."""
    text, spread = latency(microseconds), number(plus_minus)
    amount, _, unit = text.partition(NBSP)
    if not spread or not unit:
        return text
    scaled = 1e3 * spread if unit == "ns" else spread / _UNITS_US[unit]
    return f"{amount}{_plus_minus(scaled)}{NBSP}{unit}"


def latency_in(microseconds: Any, unit: str) -> str:
    """A time given in us, written in one given unit (that of a published figure beside it)."""
    amount, factor = number(microseconds), _UNITS_US.get(unit)
    return DASH if amount is None or factor is None else with_unit(amount / factor, unit)


def duration(seconds: Any) -> str:
    """A length of time given in s; whole minutes as minutes."""
    amount = number(seconds)
    if amount is None:
        return DASH
    if amount >= 60 and amount % 60 == 0:
        return f"{_fixed(amount / 60, 0)}{NBSP}min"
    if amount >= 100:
        return f"{_fixed(amount, 0)}{NBSP}s"
    return with_unit(amount, "s")


def size(count_bytes: Any) -> str:
    """A block size, exactly: 512 B, 4 KiB, 2 MiB, 8 GiB."""
    amount = number(count_bytes)
    if amount is None:
        return DASH
    for unit, factor in (("GiB", GIB), ("MiB", MIB), ("KiB", 1024)):
        # 234,431,040 KiB is exact, but says nothing.
        if factor <= amount < 10_000 * factor and amount % factor == 0:
            return f"{_fixed(amount / factor, 0)}{NBSP}{unit}"
    if amount >= MIB:
        return data(amount)
    return f"{_fixed(amount, 0)}{NBSP}B"


def data(count_bytes: Any) -> str:
    """An amount of data to three digits, in binary units."""
    amount = number(count_bytes)
    if amount is None:
        return DASH
    for unit, factor in (("GiB", GIB), ("MiB", MIB), ("KiB", 1024)):
        if abs(amount) >= factor * 0.9995:
            return with_unit(amount / factor, unit)
    return f"{_fixed(amount, 0)}{NBSP}B"


def capacity(count_bytes: Any) -> str:
    """A drive's capacity, decimal as on its label and binary."""
    amount = number(count_bytes)
    if amount is None:
        return DASH
    if amount < 1e9:
        return f"{exact(amount, 'B')}"
    return f"{with_unit(amount / 1e9, 'GB')} ({with_unit(amount / GIB, 'GiB')})"


def percent(ratio: Any, *, signed: bool = False) -> str:
    """A ratio as percent: 0.412 is 41 %, with a decimal below 10 %."""
    amount = number(ratio)
    if amount is None:
        return DASH
    hundredths = amount * 100
    text = _fixed(hundredths, 1 if 0 < abs(hundredths) < 9.95 else 0)
    if signed and not text.startswith(MINUS) and text.strip("0.,"):
        text = "+" + text
    return f"{text}{NBSP}%"


def times(ratio: Any) -> str:
    """A factor: 1.43x."""
    amount = number(ratio)
    if amount is None:
        return DASH
    return f"{_fixed(amount, 2) if abs(amount) < 9.995 else significant(amount)}{NBSP}×"


def count(value: Any, noun: str) -> str:
    """A whole number of things, named: 12,345 erases."""
    amount = number(value)
    if amount is None:
        return DASH
    return f"{_fixed(amount, 0)}{NBSP}{_noun(amount, noun)}"


def _noun(amount: float, noun: str) -> str:
    """The plural or, of one, its singular; a unit such as "blocks/die" has none."""
    return noun.removesuffix("s") if amount == 1 and noun.isalpha() else noun


def power(watts: Any) -> str:
    """Watts; below 1 W in mW."""
    amount = number(watts)
    if amount is None:
        return DASH
    if 0 < abs(amount) < 0.0995:
        return with_unit(amount * 1e3, "mW")
    return with_unit(amount, "W")


def energy(joules: Any) -> str:
    """Joules; from 10 kJ on in kJ."""
    amount = number(joules)
    if amount is None:
        return DASH
    return with_unit(amount / 1e3, "kJ") if abs(amount) >= 1e4 else with_unit(amount, "J")


def dollars(value: Any, decimals: int = 2) -> str:
    """US dollars."""
    amount = number(value)
    return DASH if amount is None else f"${_fixed(amount, decimals)}"


_UNITS_US = {"ns": 1e-3, "us": 1.0, "µs": 1.0, "ms": 1e3, "s": 1e6}


def microseconds(value: Any, unit: str) -> float | None:
    """A time of any unit in us; None if the unit is no time."""
    amount = number(value)
    factor = _UNITS_US.get(unit)
    return None if amount is None or factor is None else amount * factor


def parameter(value: Any, unit: str) -> str:
    """A model parameter: as written in the model file, times and sizes in a readable unit."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(parameter(item, unit) for item in value) or DASH
    amount = number(value)
    if amount is None:
        return DASH if value is None or isinstance(value, float) else str(value)
    if unit in _UNITS_US:
        return latency(microseconds(amount, unit)) if amount else f"0{NBSP}{unit}"
    if unit in ("bytes", "B", "byte"):
        return size(amount)
    if unit in ("bytes/s", "B/s", "byte/s"):
        return exact(amount / 1e6, "MB/s") if amount else "no limit"
    return exact(amount, _noun(amount, unit))
