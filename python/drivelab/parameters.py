"""Values of parameters as people write them.

What a value may be is the engine's to say; here is what it can't know: units.
"""

from __future__ import annotations

import re

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
