"""Values in the notations that jobs take: whether two of them are one."""

from __future__ import annotations

import contextlib
from typing import Any

from drivelab.fio import units


def equal(one: Any, other: Any) -> bool:
    """Whether two values are one number, size or time: 4096 and "4k", 30 and "30s".

    >>> equal(4096, "4k"), equal("1m", "1024k"), equal("90", "1.5m"), equal("fifo", "lifo")
    (True, True, True, False)
    """
    return str(one) == str(other) or bool(_meanings(one) & _meanings(other))


def _meanings(value: Any) -> set[tuple[str, float]]:
    """What a value may be, by kind."""
    text = str(value).strip().lower()
    found: set[tuple[str, float]] = set()
    if isinstance(value, bool):
        return found
    with contextlib.suppress(ValueError):
        found.add(("number", float(text)))
    with contextlib.suppress(ValueError):
        found.add(("size", float(units.size_bytes(text))))
    with contextlib.suppress(ValueError):
        found.add(("time", float(units.time_ns(text))))
    return found
