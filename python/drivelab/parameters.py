"""Values of parameters as people write them.

What a value may be is the engine's to say; here is what it can't know: units.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from drivelab.errors import RequestError
from drivelab.fio import units

_WITH_UNIT = re.compile(r"(?!0[xob])[0-9.]+\s*[A-Za-z]+")
"""Plain numbers are the engine's, as TOML has them: also 50_000 and 0xff."""


def plain(key: str, value: str) -> str:
    """The number of a time or size that is given with its unit: 50us of a key in ns; raises
    RequestError."""
    unit = key.rpartition("_")[2]
    if unit not in ("ns", "bytes") or _WITH_UNIT.fullmatch(value) is None:
        return value
    try:
        return str(units.time_ns(value) if unit == "ns" else units.size_bytes(value))
    except ValueError as error:
        raise RequestError(f'{key} = "{value}": allowed: {error}', key) from None


def are_of_disks(family: str | None, keys: Iterable[str]) -> bool:
    """Whether a model of this family that states these keys is a hard disk, or an array of nothing
    else: such a drive has no flash, and one state whatever was written before."""
    if family == "raid-0":
        return not any("flash" in key.split(".") for key in keys)
    return family == "hard-disk"
