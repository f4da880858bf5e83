"""Values of parameters as people write them, and what only people get wrong.

What a value may be is the engine's to say; here is what it can't know: units, and percentages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from drivelab.errors import RequestError
from drivelab.fio import units

_WITH_UNIT = re.compile(r"(?!0[xob])[0-9.]+\s*[A-Za-z]+")
"""Plain numbers are the engine's, as TOML has them: also 50_000 and 0xff."""
SPARE_RATIO_MAX = 3
"""The engine would take any; nobody builds a drive of less than a quarter of its flash, and who
writes 7 or 28 means percent."""


def plain(key: str, value: str) -> str:
    """The number of a time or size that is given with its unit: 50us of a key in ns; raises
    RequestError."""
    if _is_ratio(key) and value.strip().endswith("%"):
        raise _percentage(key, f'{key} = "{value}"')
    unit = key.rpartition("_")[2]
    if unit not in ("ns", "bytes") or _WITH_UNIT.fullmatch(value) is None:
        return value
    try:
        return str(units.time_ns(value) if unit == "ns" else units.size_bytes(value))
    except ValueError as error:
        raise RequestError(f'{key} = "{value}": allowed: {error}', key) from None


def allowed(parameter: Mapping[str, Any]) -> str:
    """What is allowed of a parameter, stated or left out, as people write it."""
    if _is_ratio(parameter["key"]):
        return f"a number from 0 to {SPARE_RATIO_MAX}"
    return str(parameter["allowed"])


def check_ratio(request: str, parameter: Mapping[str, Any]) -> None:
    """Raises RequestError for a spare area that is most likely a percentage."""
    key, value = parameter["key"], parameter["value"]
    if _is_ratio(key) and value > SPARE_RATIO_MAX:
        raise _percentage(key, f"{request}: {key} = {value:g}")


def _is_ratio(key: str) -> bool:
    return key.rpartition(".")[2] == "spare_ratio"


def _percentage(key: str, given: str) -> RequestError:
    message = (
        f"{given}: must be a number from 0 to {SPARE_RATIO_MAX}: spare area over user capacity, "
        "0.28 for 28 %"
    )
    return RequestError(message, key)
